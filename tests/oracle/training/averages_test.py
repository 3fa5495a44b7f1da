"""ExponentialMovingAverage: the nodes, names and values of TensorFlow's."""

import unittest

import numpy

from tests.oracle.training import compare
from tests.oracle.training.compare import tf


def add(variable, values, name):
    dtype = variable.dtype.base_dtype
    variable.assign_add(tf.constant(values, dtype), name=name, read_value=False)


def of_variables(use_resource, count):
    get = lambda *args, **kwargs: tf.get_variable(*args, use_resource=use_resource, **kwargs)
    w = get("w", initializer=numpy.float32([1, 2]))
    d = get("deep/d", initializer=numpy.float64(3))
    step = get("step", initializer=numpy.int64(0), trainable=False)
    average = tf.train.ExponentialMovingAverage(0.9, num_updates=step if count else None)
    facts = ["before " + average.average_name(w)]
    average.apply([w, d])
    facts.append("after %s %s" % (average.average_name(w), average.average_name(step)))
    facts += ["restore %s %s" % (name, v.op.name) for name, v in average.variables_to_restore().items()]
    add(w, [0.5, -0.25], "more_w")
    add(d, 0.125, "more_d")
    add(step, 1, "count")
    tf.global_variables_initializer()
    return facts


def of_tensors(use_resource, zero_debias):
    tf.enable_resource_variables() if use_resource else tf.disable_resource_variables()
    w = tf.get_variable("w", initializer=numpy.float32([1, 2]))
    read = tf.get_default_graph().get_tensor_by_name("w/Read/ReadVariableOp:0" if use_resource else "w/read:0")
    x = tf.identity(read * 2, name="x")
    y = tf.cast(read, tf.float64, name="y")
    tf.train.ExponentialMovingAverage(0.75, zero_debias=zero_debias, name="Mean").apply([x, y])
    add(w, [0.5, -0.25], "more_w")
    tf.global_variables_initializer()


class Averages(unittest.TestCase):

    def test_equal_tensorflows(self):
        for name in compare.dumped("averages"):
            subject, kind, flag = name.split("_")
            build = of_variables if subject == "variables" else of_tensors
            with self.subTest(name):
                compare.check(self, "averages", name, lambda: build(kind == "resource", flag == "on"))
