"""Metrics give TensorFlow's values over several batches; variables are cut into as many parts."""

import unittest

import numpy

from tests.oracle.training import compare
from tests.oracle.training.compare import tf

ELEMENTS = 40


def moved(tick, factor, rate, modulus):
    numbers = (numpy.arange(ELEMENTS).astype(numpy.float32) * numpy.float32(factor)).astype(numpy.float32)
    return tf.math.floormod(tf.constant(numbers) + tick * tf.constant(rate, tf.float32), tf.constant(modulus, tf.float32))


def areas(labels, predictions, weights):
    for curve in ("ROC", "PR"):
        for method in ("trapezoidal", "minoring", "majoring", "careful_interpolation"):
            for more in ({}, {"num_thresholds": 7}, {"weights": weights}, {"thresholds": [0.8, 0.25, 0.5]}):
                yield tf.metrics.auc(labels, predictions, curve=curve, summation_method=method, **more)


def all_metrics(tick):
    classes, said = tf.cast(moved(tick, 7, 3, 5), tf.int32), tf.cast(moved(tick, 3, 1, 5), tf.int32)
    labels, predictions = classes < 2, moved(tick, 0.37, 0.21, 1)
    values, weighing = moved(tick, 1.5, 0.25, 11), moved(tick, 0.75, 0.5, 3)
    right, was = tf.cast(labels, tf.float32), tf.cast(predictions > 0.5, tf.float32)
    made = tf.metrics
    for weights in (None, tf.constant(0.5), weighing):
        yield made.mean(values, weights)
        yield made.accuracy(classes, said, weights)
        for error in (made.mean_squared_error, made.root_mean_squared_error, made.mean_absolute_error):
            yield error(values, predictions, weights)
        for count in (made.true_positives, made.false_positives, made.true_negatives, made.false_negatives):
            yield count(right, was, weights)
        yield made.precision(classes, said, weights)
        yield made.recall(classes, said, weights)
    yield from areas(labels, predictions, weighing)


def build():
    tick = tf.get_variable("tick", initializer=0.0, use_resource=True)
    for n, (value, update) in enumerate(all_metrics(tick)):
        tf.identity(update, "update%d" % n)
        tf.identity(value, "value%d" % n)
    with tf.name_scope(""):
        tf.group(tf.assign_add(tick, 1.0), name="count")
    tf.global_variables_initializer()
    tf.local_variables_initializer()


SHAPES = [[1], [7], [1000], [3, 5], [64, 64], [5, 3, 2], [1024, 300], [2, 100000], [100000, 16]]


def partitioners():
    """(kind, number, axis) -> TensorFlow's, for an axis."""
    fixed, by_size, least = (tf.fixed_size_partitioner, tf.variable_axis_size_partitioner, tf.min_max_variable_partitioner)
    for n in (1, 2, 5, 64):
        yield "fixed", n, lambda axis, n=n: fixed(n, axis)
        yield "minmax", n, lambda axis, n=n: least(n, axis)
        yield "minmax32", n, lambda axis, n=n: least(n, axis, 32, 3)
    for n in (1, 100, 4096, 1 << 20):
        yield "axis", n, lambda axis, n=n: by_size(n, axis)
        yield "axis3", n, lambda axis, n=n: by_size(n, axis, 7, 3)


class Metrics(unittest.TestCase):

    def test_values(self):
        ours = compare.dumped("metrics")["metrics"]
        with tf.Graph().as_default() as graph:
            build()
        ours.after = ["count"]
        compare.check_values(self, compare.reference_values(graph, ours), ours)
        self.assertEqual(len(ours.fetches), 3 * 11 + 2 * 4 * 4)
        last = [float(ours.values[name, ours.steps - 1][0]) for name in ours.fetches]
        self.assertGreater(len({round(v, 4) for v in last}), 40)  # otherwise something is not computed at all

    def test_variables(self):
        graph = tf.Graph()
        with graph.as_default():
            build()
        names = [v.name for v in graph.get_collection("metric_variables")]
        self.assertEqual(names, compare.dumped("metrics")["metrics"].collections["metric_variables"])

    def test_partitions(self):
        expected = []
        for shape in SHAPES:
            for axis in range(len(shape)):
                for dtype in (tf.float32, tf.float64, tf.float16, tf.int64, tf.string):
                    name = {"float32": "float", "float64": "double", "float16": "half"}.get(dtype.name, dtype.name)
                    for kind, number, make in partitioners():
                        found = make(axis)(shape=tf.TensorShape(shape), dtype=dtype)
                        expected.append("%s %d %d [%s] %s: %s" % (kind, number, axis, ",".join(map(str, shape)), name,
                                                                  " ".join(map(str, found))))
        self.assertEqual(sorted(compare.dumped("metrics")["partitions"].facts), sorted(expected))
