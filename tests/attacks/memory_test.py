"""Clients that want more memory than a server gives, and the memory that they leave behind."""

import re
import unittest

import numpy

from tests.attacks import attack

MB = 1 << 20


class MemoryTest(attack.AttackTest):

    def resident(self):
        return self.server.usage()["memory"]


class TotalLimitTest(MemoryTest):
    flags = ["--memory_mb=300"]

    def test_a_step_that_needs_more_is_rejected(self):
        self.attack(make_large_tensor, 400)
        self.assertLess(self.resident() - self.before["memory"], 64 * MB)

    def test_variables_that_grow_are_rejected_and_leave_with_their_session(self):
        self.attack(grow_variables, 40, 4, 8)
        self.attack(grow_variables, 40, 4, 8)  # the memory of the first session is free again

    def test_values_that_are_fed_to_variables_count(self):
        self.attack(feed_variables, 40, 4, 8)

    def test_constants_count(self):
        self.attack(make_constant, 200, 150)

    def test_a_constant_that_needs_more_is_rejected(self):
        self.attack(make_constant_that_is_too_large, 400)

    def test_many_small_constants_are_rejected(self):
        self.attack(make_small_constants, 60_000, 8000)

    def test_constants_in_functions_are_rejected(self):
        self.attack(make_constants_in_functions, 36, 12)

    def test_folded_constants_count(self):
        self.attack(fold_constants, 8, 60)

    def test_strings_count(self):
        self.attack(keep_strings, 40, 10)

    def test_tables_count(self):
        self.attack(fill_tables, 400)


class SessionLimitTest(MemoryTest):
    flags = ["--session_memory_mb=100"]

    def test_each_session_has_its_own_limit(self):
        self.attack(use_sessions, 80, 3)

    def test_constants_count(self):
        self.attack(make_constant_that_is_too_large, 120)

    def test_feeds_count(self):
        self.attack(feed, 60, 120)


class ReturnedMemoryTest(MemoryTest):
    """The frame checks that the memory returns."""

    def test_after_a_large_graph(self):
        self.attack(use_memory, 400)

    def test_after_large_strings(self):
        self.attack(use_strings, 100_000, 1000)


def tensorflow():
    import tensorflow  # after the fork
    tensorflow.compat.v1.disable_eager_execution()
    return tensorflow.compat.v1


def isolated(tf):
    """Variables that end with their session."""
    return tf.ConfigProto(isolate_session_state=True)


def check_rejection(error, node):
    """The error names the node and the limit, and has the table of the step's tensors."""
    text = str(error)
    assert node in text, text
    assert re.search(r"(All sessions use|The session uses) [\d.]+ MB of at most [\d.]+ MB", text), text
    assert "bytes" in text and "peak" in text, text


def make_large_tensor(server, megabytes):
    tf = tensorflow()
    with tf.Session(server.target) as session:
        length = tf.placeholder(tf.int32, [])
        large = tf.fill([length, MB // 4], 1.0, name="large")
        total = tf.reduce_sum(tf.sort(large), name="total")
        assert session.run(total, {length: 1}) == MB // 4
        try:
            session.run(total, {length: megabytes})
            raise AssertionError("the step was not rejected")
        except tf.errors.ResourceExhaustedError as error:
            check_rejection(error, "large")
        assert session.run(total, {length: 1}) == MB // 4


def grow_variables(server, megabytes, least, most):
    """Assigns variables until one is rejected."""
    tf = tensorflow()
    with tf.Session(server.target, config=isolated(tf)) as session:
        for i in range(most):
            variable = tf.get_variable("grown_%d" % i, [megabytes, MB // 4], initializer=tf.ones_initializer())
            try:
                session.run(variable.initializer)
            except tf.errors.ResourceExhaustedError as error:
                check_rejection(error, "grown_%d" % i)
                assert i >= least, "only %d variables" % i
                return
    raise AssertionError("all variables were accepted")


def feed_variables(server, megabytes, least, most):
    tf = tensorflow()
    value = numpy.ones([megabytes, MB // 4], numpy.float32)
    fed = tf.placeholder(tf.float32, value.shape)
    with tf.Session(server.target, config=isolated(tf)) as session:
        for i in range(most):
            variable = tf.Variable(fed, name="fed_%d" % i)
            try:
                session.run(variable.initializer, {fed: value})
            except tf.errors.ResourceExhaustedError:
                assert i >= least, "only %d variables" % i
                return
    raise AssertionError("all variables were accepted")


def make_constant(server, megabytes, more):
    """A constant of one element that is repeated needs few bytes in the graph."""
    tf = tensorflow()
    with tf.Session(server.target) as session:
        kept = tf.constant(1.0, shape=[megabytes, MB // 4], name="repeated")
        large = tf.fill([tf.placeholder_with_default(more, []), MB // 4], 1.0, name="large")
        try:
            session.run([kept[0, 0], tf.reduce_sum(tf.sort(large))])
            raise AssertionError("the step was not rejected")
        except tf.errors.ResourceExhaustedError as error:
            check_rejection(error, "large")


def make_constant_that_is_too_large(server, megabytes):
    tf = tensorflow()
    with tf.Session(server.target) as session:
        one = tf.constant(1.0) + 1
        assert session.run(one) == 2
        first = tf.constant(1.0, shape=[megabytes, MB // 4], name="repeated")[0, 0]
        try:
            session.run(first)
            raise AssertionError("the constant was not rejected")
        except tf.errors.ResourceExhaustedError as error:
            check_rejection(error, "repeated")


def make_small_constants(server, size, count):
    """Each is smaller than the blocks that are always looked at."""
    tf = tensorflow()
    for i in range(count):
        last = tf.constant(float(i), shape=[size // 4], name="small_%d" % i)
    with tf.Session(server.target) as session:
        try:
            session.run(last[0])
            raise AssertionError("the constants were not rejected")
        except tf.errors.ResourceExhaustedError as error:
            check_rejection(error, "small_")


def make_constants_in_functions(server, megabytes, count):
    """Each call of a function has constants of its own."""
    tf = tensorflow()

    @tf.function
    def f(x):
        return x + tf.constant(1.0, shape=[megabytes, MB // 4], name="repeated")[0, 0]

    values = [f(tf.placeholder_with_default(float(i), [])) for i in range(count)]
    with tf.Session(server.target) as session:
        assert session.run(values[:1]) == [1.0]
        try:
            session.run(values)
            raise AssertionError("the constants were not rejected")
        except tf.errors.ResourceExhaustedError as error:
            assert "repeated" in str(error) and " MB of at most 300.0 MB" in str(error), error


def fold_constants(server, megabytes, count):
    """Values that are folded stay as long as the session."""
    tf = tensorflow()
    before = server.usage()["memory"]
    sums = [tf.reduce_sum(tf.fill([megabytes, MB // 4], float(i)) * tf.placeholder_with_default(1.0, [])) for i in range(count)]
    with tf.Session(server.target) as session:
        for i, total in enumerate(sums):
            try:
                assert session.run(total) == i * megabytes * MB // 4
            except tf.errors.ResourceExhaustedError as error:
                assert " MB of at most 300.0 MB" in str(error), error
                assert i >= 16, "only %d steps" % i
                break
        assert server.usage()["memory"] - before < 350 * MB, server.usage()


def keep_strings(server, megabytes, most):
    """Variables of strings grow until one is rejected. Their characters are no memory of tensors."""
    tf = tensorflow()
    count = megabytes * MB // 1000
    with tf.Session(server.target, config=isolated(tf)) as session:
        for i in range(most):
            text = tf.fill([count], tf.strings.as_string(tf.random.uniform([], maxval=1 << 30, dtype=tf.int32)))
            variable = tf.get_variable("strings_%d" % i, initializer=tf.strings.join([text, tf.constant("x" * 1000)]))
            try:
                session.run(variable.initializer)
            except tf.errors.ResourceExhaustedError as error:
                assert "All sessions use" in str(error), error
                assert i >= 4, "only %d variables" % i
                return
    raise AssertionError("all variables were accepted")


def feed(server, accepted, rejected):
    tf = tensorflow()
    fed = tf.placeholder(tf.float32, [None, MB // 4], name="fed")
    first = fed[0, 0]
    with tf.Session(server.target) as session:
        assert session.run(first, {fed: numpy.ones([accepted, MB // 4], numpy.float32)}) == 1
        try:
            session.run(first, {fed: numpy.ones([rejected, MB // 4], numpy.float32)})
            raise AssertionError("the feed was not rejected")
        except tf.errors.ResourceExhaustedError as error:
            check_rejection(error, "fed")


def fill_tables(server, megabytes):
    tf = tensorflow()
    with tf.Session(server.target, config=isolated(tf)) as session:
        table = tf.raw_ops.MutableHashTableOfTensorsV2(key_dtype=tf.int64, value_dtype=tf.float32, value_shape=[MB // 4])
        keys = tf.placeholder(tf.int64, [8])
        insert = tf.raw_ops.LookupTableInsertV2(table_handle=table, keys=keys, values=tf.ones([8, MB // 4]))
        try:
            for first in range(0, megabytes, 8):
                session.run(insert, {keys: numpy.arange(first, first + 8)})
            raise AssertionError("the table was not rejected")
        except tf.errors.ResourceExhaustedError as error:
            assert first >= 64, error


def use_sessions(server, megabytes, sessions):
    tf = tensorflow()
    length = tf.placeholder(tf.int32, [])
    large = tf.fill([length, MB // 4], 1.0, name="large")
    kept = tf.get_variable("kept", [megabytes, MB // 4], initializer=tf.ones_initializer())
    opened = [tf.Session(server.target, config=isolated(tf)) for _ in range(sessions)]
    for session in opened:
        session.run(kept.initializer)
        assert session.run(large[0, 0], {length: 10}) == 1
        try:
            session.run(large[0, 0], {length: 50})
            raise AssertionError("the step was not rejected")
        except tf.errors.ResourceExhaustedError as error:
            check_rejection(error, "large")
    for session in opened:
        session.close()


def use_memory(server, megabytes):
    """Leaves the session open."""
    tf = tensorflow()
    before = server.usage()["memory"]
    values = [tf.fill([10 + i % 2, MB // 4], tf.random.uniform([])) for i in range(megabytes // 10)]
    session = tf.Session(server.target)
    assert len(session.run([value[3, 4] for value in values] + [tf.add_n([v[0] for v in values])[0]])) == len(values) + 1
    session.run(tf.constant(1) + 1)
    grown = server.usage()["memory"] - before
    print("grown by %d MB" % (grown // MB))
    session.close()


def use_strings(server, count, length):
    tf = tensorflow()
    with tf.Session(server.target) as session:
        text = tf.constant("x" * length)
        strings = tf.strings.join([tf.fill([count], text), tf.as_string(tf.range(count))])
        assert session.run(tf.reduce_sum(tf.strings.length(strings))) > count * length


if __name__ == "__main__":
    unittest.main()
