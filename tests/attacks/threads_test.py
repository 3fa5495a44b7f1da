"""Clients that want more threads than the server has."""

import collections
import os
import threading
import unittest

from tests.attacks import attack


class ThreadsTest(attack.AttackTest):

    def test_many_threads_of_sessions(self):
        self.attack(make_sessions, 1_000_000, 2)
        self.attack(make_sessions, 64, 5)

    def test_blocked_steps(self):
        self.attack(block_steps, 1000)

    def test_sessions_of_a_client_that_block(self):
        """Five sessions, each with as many blocked steps as a session may have, took all threads for steps."""
        self.attack(block_sessions, 5, 25)

    def test_prefetching_datasets(self):
        self.attack(prefetch, 500)

    def test_partial_runs(self):
        self.attack(run_partially, 400)


def tensorflow():
    import tensorflow  # after the fork
    tensorflow.compat.v1.disable_eager_execution()
    return tensorflow.compat.v1


def make_sessions(server, threads, sessions):
    tf = tensorflow()
    before = server.usage()["threads"]
    opened = []
    for _ in range(sessions):
        config = tf.ConfigProto(intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads)
        session = tf.Session(server.target, config=config)
        assert session.run(tf.constant(2) + 3) == 5
        opened.append(session)
    growth = server.usage()["threads"] - before
    assert growth <= 2 * os.cpu_count() + 8, growth
    for session in opened:
        session.close()


def block_steps(server, steps):
    """All steps wait or are refused. Those that wait end when their session is closed."""
    tf = tensorflow()
    element = tf.FIFOQueue(1, tf.float32).dequeue()
    session = tf.Session(server.target)
    ends = collections.Counter()
    has_changed = threading.Condition()

    def step():
        try:
            session.run(element)
            end = "OK"
        except tf.errors.OpError as error:
            end = type(error).__name__
        with has_changed:
            ends[end] += 1
            has_changed.notify_all()

    callers = [threading.Thread(target=step) for _ in range(steps)]
    for caller in callers:
        caller.start()
    running = 400 // 4 // 4  # of the threads for calls, a session may take a quarter
    with has_changed:
        assert has_changed.wait_for(lambda: ends["ResourceExhaustedError"] >= steps - running, 60), ends
    assert server.usage()["threads"] < 200, server.usage()
    session.close()
    for caller in callers:
        caller.join()
    assert ends["ResourceExhaustedError"] + ends["CancelledError"] == steps, ends


def block_sessions(server, sessions, steps):
    tf = tensorflow()
    element = tf.FIFOQueue(1, tf.float32).dequeue()
    opened = [tf.Session(server.target) for _ in range(sessions)]
    for session in opened:
        session.run(tf.constant(1) + 1)
    ends = collections.Counter()
    has_changed = threading.Condition()

    def step(session):
        try:
            session.run(element)
            end = "OK"
        except tf.errors.ResourceExhaustedError as error:
            end = "of client" if "of client" in str(error) else "other"
        except tf.errors.OpError as error:
            end = type(error).__name__
        with has_changed:
            ends[end] += 1
            has_changed.notify_all()

    callers = [threading.Thread(target=step, args=(session,)) for session in opened for _ in range(steps)]
    for caller in callers:
        caller.start()
    most = 400 // 4 // 8 * 5  # of a host, if the sessions have connections of their own; otherwise fewer
    with has_changed:
        assert has_changed.wait_for(lambda: ends["of client"] >= len(callers) - most, 60), ends
    for session in opened:
        session.close()
    for caller in callers:
        caller.join()
    assert ends["of client"] + ends["CancelledError"] == len(callers), ends


def prefetch(server, datasets):
    """Each dataset gives its elements or is refused by name."""
    tf = tensorflow()
    iterators = [tf.data.make_initializable_iterator(tf.data.Dataset.range(5).prefetch(2)) for _ in range(datasets)]
    nexts = [iterator.get_next() for iterator in iterators]
    ends = collections.Counter()
    with tf.Session(server.target) as session:
        for iterator, element in zip(iterators, nexts):
            try:
                session.run(iterator.initializer)
                assert [session.run(element) for _ in range(5)] == list(range(5))
                ends["OK"] += 1
            except tf.errors.ResourceExhaustedError as error:
                assert "MakeIterator" in str(error) and "thread" in str(error), error
                ends["refused"] += 1
    assert ends["OK"] >= 40, ends


def run_partially(server, runs):
    tf = tensorflow()
    x = tf.placeholder(tf.float32, [])
    y = x + 1
    z = y * 2
    ends = collections.Counter()
    with tf.Session(server.target) as session:
        handles = []
        for _ in range(runs):
            try:
                handles.append(session.partial_run_setup([y, z], [x]))
            except tf.errors.ResourceExhaustedError as error:
                assert "partial run" in str(error), error
                ends["refused"] += 1
        for handle in handles:
            assert session.partial_run(handle, y, {x: 1}) == 2
            assert session.partial_run(handle, z) == 4
    assert len(handles) >= 40 and len(handles) + ends["refused"] == runs, ends


if __name__ == "__main__":
    unittest.main()
