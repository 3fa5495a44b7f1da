"""Cases in Sluice: requests to case_runner, which is restarted after a crash."""

import os
import select
import struct
import subprocess

import numpy
from google.protobuf import descriptor_pb2
from google.protobuf import descriptor_pool
from google.protobuf import message_factory
from tensorflow.core.framework import tensor_pb2
from tensorflow.core.framework import tensor_shape_pb2

from tests.oracle import outcome
from tests.oracle import program
from tests.oracle import tensorflow_side

ROOT = os.environ.get("SLUICE_ORACLE_ROOT", "")  # folder of the built files; "" in a test: the runfiles
TIMEOUT_S = 60
TIMEOUT_AFTER_HANG_S = 5  # after one hang, more are likely


def messages():
    pool = descriptor_pool.DescriptorPool()
    with open(os.path.join(ROOT, "tests/oracle/case.pb"), "rb") as data:
        for file in descriptor_pb2.FileDescriptorSet.FromString(data.read()).file:
            pool.Add(file)
    make = lambda name: message_factory.GetMessageClass(pool.FindMessageTypeByName("sluice.oracle." + name))
    return make("Request"), make("Answer")


class Died(Exception):
    """The runner crashed or did not answer in time."""


class Runner:
    """A case_runner process, whose sessions have as many threads as they want, or one."""

    def __init__(self, one_thread=False):
        self.environment = dict(os.environ, SLUICE_ORACLE_THREADS="1") if one_thread else None
        self.request_class, self.answer_class = messages()
        self.process = None
        self.timeout_s = TIMEOUT_S

    def _start(self):
        self.process = subprocess.Popen([os.path.join(ROOT, "tests/oracle/case_runner")], env=self.environment,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.stderr_tail = b""

    def _read(self, size):
        data = b""
        out, err = self.process.stdout.fileno(), self.process.stderr.fileno()
        while len(data) < size:
            ready, _, _ = select.select([out, err], [], [], self.timeout_s)
            if not ready:
                waited, self.timeout_s = self.timeout_s, TIMEOUT_AFTER_HANG_S
                raise Died("no answer within %d s" % waited)
            if err in ready:
                self.stderr_tail = (self.stderr_tail + os.read(err, 65536))[-2000:]
            if out in ready:
                part = os.read(out, min(size - len(data), 1 << 20))
                if not part:
                    raise Died("case_runner died")
                data += part
        return data

    def ask(self, request):
        if self.process is None or self.process.poll() is not None:
            self._start()
        data = request.SerializeToString()
        try:
            self.process.stdin.write(struct.pack("<I", len(data)) + data)
            self.process.stdin.flush()
            size = struct.unpack("<I", self._read(4))[0]
            return self.answer_class.FromString(self._read(size))
        except (Died, BrokenPipeError) as died:
            self.stop()
            raise Died("%s: %s" % (died, self.stderr_tail.decode(errors="replace")[-1500:])) from None

    def stop(self):
        if self.process is not None:
            self.process.kill()
            _, rest = self.process.communicate()
            self.stderr_tail += rest or b""
            self.process = None


def status_failure(status):
    return outcome.Failure(outcome.CODES[status.code], status.message) if status.code else None


def read_tensor(data):
    proto = tensor_pb2.TensorProto.FromString(data)
    name = program.type_name(proto.dtype)
    shape = [d.size for d in proto.tensor_shape.dim]
    if name == "string":
        array = numpy.empty(len(proto.string_val), object)
        array[:] = list(proto.string_val)
        return array.reshape(shape)
    dtype = program.numpy_type(name)
    if dtype.names:  # quantized: a record of one integer, as returned by a session
        dtype = dtype[0]
    return numpy.frombuffer(proto.tensor_content, dtype).reshape(shape)


def add_run(request, run, feed_types, feeds=None):
    message = request.run.add(timeout_ms=run.timeout_ms, fetch=[t.name for t in run.fetches],
                              target=[t.node.name if isinstance(t, program.Tensor) else t.name for t in run.targets])
    add_feeds(message, run.feeds if feeds is None else feeds, feed_types)


def add_feeds(message, feeds, feed_types):
    for name, array in feeds.items():
        dtype = feed_types.get(name) or program.literal_type(array)
        message.feed.add(name=name, tensor=program.tensor_proto(array, dtype).SerializeToString())


def shifted_feeds(case, wanted, sign):
    """Feeds with every x moved by `sign` * h * direction."""
    feeds = dict(case.builder.feeds)
    for x, direction in zip(wanted.xs, directions(case, wanted)):
        feeds[x.name] = (feeds[x.name] + sign * step(x.dtype) * direction).astype(feeds[x.name].dtype)
    return feeds


def step(dtype):
    return 1e-5 if dtype in ("double", "complex128") else 1e-2


def directions(case, wanted):
    random = numpy.random.default_rng(len(case.id))
    found = []
    for x in wanted.xs:
        shape = case.builder.feeds[x.name].shape
        direction = random.uniform(0.3, 1, shape) * random.choice([-1, 1], shape)
        if x.dtype.startswith("complex"):
            direction = direction + 1j * random.uniform(-1, 1, shape)
        found.append(numpy.asarray(direction))
    return found


class Request:
    """The request for some cases together, and the reading of its answer."""

    def __init__(self, runner, cases, theirs, numeric):
        self.cases = cases
        self.request = runner.request_class(graph_def=tensorflow_side.graph_def(cases).SerializeToString())
        self.feed_types = {}
        self.wanted = []   # (case index, gradient) that TensorFlow computed
        for i, case in enumerate(cases):
            self.feed_types.update(case.builder.feed_types)
            if case.op_node is not None:
                self.request.describe.extend(t.name for t in case.op_node.outputs)
            if len(theirs[i].gradients) == len(case.builder.gradients_wanted):
                self.wanted += [(i, g) for g in case.builder.gradients_wanted]
        for k, (_, g) in enumerate(self.wanted):
            self.request.gradient.add(name="gradient%d" % k, y=[y.name for y in g.ys], x=[x.name for x in g.xs],
                                      grad_y=[t.name for t in g.grad_ys or []])
        self.numeric = [(i, g) for i, g in self.wanted if g.numeric and numeric(cases[i], g)]

    def add_joint_runs(self):
        """All first runs as one step, all gradients as one, and the two for the numeric check."""
        message = self.request.run.add(timeout_ms=60000)
        for case in self.cases:
            run = case.builder.runs[0]
            message.fetch.extend(t.name for t in run.fetches)
            message.target.extend(t.node.name if isinstance(t, program.Tensor) else t.name for t in run.targets)
            add_feeds(message, run.feeds, case.builder.feed_types)
        self._add_gradient_run()
        for sign in (1, -1) if self.numeric else ():
            message = self.request.run.add(timeout_ms=60000)
            for i, g in self.numeric:
                message.fetch.extend(y.name for y in g.ys)
                add_feeds(message, shifted_feeds(self.cases[i], g, sign), self.feed_types)

    def _add_gradient_run(self):
        if not self.wanted:
            return
        message = self.request.run.add(timeout_ms=60000)
        for k, (i, g) in enumerate(self.wanted):
            message.fetch.extend("gradient%d/%d" % (k, j) for j in range(len(g.xs)))
        for i in sorted({i for i, _ in self.wanted}):
            add_feeds(message, self.cases[i].builder.feeds, self.feed_types)

    def add_separate_runs(self):
        for case in self.cases:
            for run in case.builder.runs:
                add_run(self.request, run, case.builder.feed_types)
        self._add_gradient_run()

    def shapes(self, answer):
        """Static shapes, one list per case."""
        found, described = [], iter(answer.described)
        for case in self.cases:
            found.append([])
            for _ in case.op_node.outputs if case.op_node is not None else []:
                proto = tensor_shape_pb2.TensorShapeProto.FromString(next(described).shape)
                found[-1].append(None if proto.unknown_rank else [None if d.size < 0 else d.size for d in proto.dim])
        return found

    def read_gradients(self, answer, run, outcomes):
        values = iter(run.tensor)
        for (i, g), one in zip(self.wanted, answer.gradient):
            problem = status_failure(one.status) or status_failure(run.status)
            outcomes[i].gradients.append(problem or [read_tensor(next(values)) if e else None for e in one.exists])


def failed(answer):
    """The first error of a joint answer."""
    statuses = [getattr(answer, "import")] + [g.status for g in answer.gradient] + [r.status for r in answer.run]
    return next((s for s in statuses if s.code), None)


def evaluate_together(runner, cases, theirs, numeric):
    """Outcomes of cases with one run each; None when something of them failed."""
    request = Request(runner, cases, theirs, numeric)
    request.add_joint_runs()
    answer = runner.ask(request.request)
    if failed(answer) is not None:
        return None
    outcomes = [outcome.Outcome(shapes=s) for s in request.shapes(answer)]
    values = [read_tensor(t) for t in answer.run[0].tensor]
    for result, part in zip(outcomes, tensorflow_side.split(values, [len(c.builder.runs[0].fetches) for c in cases])):
        result.runs = [part]
    if request.wanted:
        request.read_gradients(answer, answer.run[1], outcomes)
    for result in outcomes:
        result.shifted = [None] * len(result.gradients)
    if request.numeric:
        lengths = [len(g.ys) for _, g in request.numeric]
        plus, minus = [tensorflow_side.split([read_tensor(t) for t in run.tensor], lengths) for run in answer.run[2:4]]
        for k, (i, _) in enumerate(request.numeric):
            outcomes[i].shifted = [(plus[k], minus[k])]
    return outcomes


def evaluate_apart(runner, case, theirs):
    """The outcome of one case, each run with its own status; no numeric check."""
    request = Request(runner, [case], [theirs], lambda c, g: False)
    request.add_separate_runs()
    try:
        answer = runner.ask(request.request)
    except Died as died:
        return outcome.Outcome(built=outcome.Failure("DIED", str(died)))
    refused = status_failure(getattr(answer, "import"))
    if refused:
        return outcome.Outcome(built=refused)
    result = outcome.Outcome(shapes=request.shapes(answer)[0])
    for run in answer.run[:len(case.builder.runs)]:
        result.runs.append(status_failure(run.status) or [read_tensor(t) for t in run.tensor])
    if request.wanted:
        request.read_gradients(answer, answer.run[len(case.builder.runs)], [result])
    return result


def evaluate(runner, cases, theirs, numeric):
    """Outcomes of cases: together if each has one run, one by one if something fails."""
    if all(len(c.builder.runs) == 1 for c in cases):
        try:
            together = evaluate_together(runner, cases, theirs, numeric)
        except Died:
            together = None
        if together is not None:
            return together
        if len(cases) > 1:
            return [evaluate(runner, [c], [t], numeric)[0] for c, t in zip(cases, theirs)]
    return [evaluate_apart(runner, c, t) for c, t in zip(cases, theirs)]
