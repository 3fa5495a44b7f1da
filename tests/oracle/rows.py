"""Runs rows in a pool of processes, each with TensorFlow and its own case_runner."""

import glob
import multiprocessing
import multiprocessing.connection
import os
import runpy
import time
import traceback

import numpy
from tensorflow.python.eager import context

from tests.oracle import compare
from tests.oracle import datasets
from tests.oracle import expand
from tests.oracle import sluice_side
from tests.oracle import tensorflow_side


def family(file):
    """Files are called <family>_<group>; the group is one word."""
    return file.rpartition("_")[0]


def load(wanted):
    """Rows of a family (or of all: "*"), in order of file and place."""
    rows = []
    for path in sorted(glob.glob("tests/oracle/cases/*.py")):
        file = os.path.basename(path)[:-3]
        if wanted in ("*", family(file)):
            datasets.use_folder(file)
            rows += [(file, row) for row in runpy.run_path(path)["ROWS"]]
            check_nothing_ran(path)
    return rows


def check_nothing_ran(path):
    """TensorFlow's threads do not survive the fork of the workers, so an op that uses them would
    never end."""
    if context.context()._context_handle is not None:  # pylint: disable=protected-access
        raise ValueError("%s runs TensorFlow while it is loaded" % path)


def numeric_for(cases):
    """The gradients that get a numeric check: those of the most precise types of the row."""
    types = {x.dtype for case in cases for g in case.builder.gradients_wanted for x in g.xs + g.ys}
    best = {"double", "complex128"} & types or {"float"}
    return lambda case, wanted: all(t.dtype in best for t in wanted.xs + wanted.ys)


def drop_gradients_without_reference(row, cases):
    if row.build is None and not tensorflow_side.has_gradient(row.op):
        for case in cases:
            case.builder.gradients_wanted = []


def check(row, runner):
    """[(case id, [complaint])] of a row."""
    if runner:
        runner.timeout_s = sluice_side.TIMEOUT_S
    cases = expand.expand(row)
    drop_gradients_without_reference(row, cases)
    random = numpy.random.default_rng(expand.seed(row))
    joint = [c for c in cases if c.op_node is not None and not c.is_error]
    apart = [c for c in cases if c.op_node is None or c.is_error]
    groups = ([joint] if joint else []) + [[c] for c in apart]
    found = {}
    for group in groups:
        theirs = tensorflow_side.evaluate(group, random)
        ours = sluice_side.evaluate(runner, group, theirs, numeric_for(group)) if runner else theirs
        for case, our, their in zip(group, ours, theirs):
            found[id(case)] = compare.complaints(case, our, their)
    return [(case.id, found[id(case)]) for case in cases]


def work(connection):
    """A worker: takes rows, sends back results."""
    # Without Sluice, TensorFlow is compared with itself, which finds mistakes in rows.
    runners = {}
    if not os.environ.get("SLUICE_ORACLE_WITHOUT_SLUICE"):
        runners = {one_thread: sluice_side.Runner(one_thread) for one_thread in (False, True)}
    while True:
        index = connection.recv()
        if index is None:
            for runner in runners.values():
                runner.stop()
            return
        row = work.rows[index]
        started = time.monotonic()
        try:
            result = check(row, runners.get(index in work.one_thread))
        except Exception:  # pylint: disable=broad-except  # a mistake in a row must not hide the other rows
            result = [("row", [traceback.format_exc()])]
        connection.send((index, result, time.monotonic() - started))


class Worker:
    """A forked process with a pipe; `row` is the index that it works on."""

    def __init__(self, context):
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        self.row = None

    def give(self, row):
        self.row = row
        self.connection.send(row)


def check_all(rows, jobs=2, report=lambda index, result, seconds: None, one_thread=()):
    """Calls `report` for each row when it ends. If TensorFlow crashes a worker, only its current
    row fails.

    Rows whose indices are in `one_thread` run in sessions with one thread, in which no op may need
    a second thread.
    """
    work.rows, work.one_thread = rows, one_thread
    fork = multiprocessing.get_context("fork")
    pending = list(range(len(rows)))
    workers = [Worker(fork) for _ in range(min(jobs, len(rows)))]
    for worker in workers:
        worker.give(pending.pop(0))
    while any(w.row is not None for w in workers):
        busy = {w.connection: w for w in workers if w.row is not None}
        for connection in multiprocessing.connection.wait(list(busy)):
            worker = busy[connection]
            try:
                report(*connection.recv())
            except EOFError:
                worker.process.join()
                report(worker.row, [("row", ["the process of TensorFlow died: exit code %s" % worker.process.exitcode])], 0)
                workers.remove(worker)
                worker = Worker(fork)
                workers.append(worker)
            worker.row = None
            if pending:
                worker.give(pending.pop(0))
    for worker in workers:
        worker.connection.send(None)
        worker.process.join()
