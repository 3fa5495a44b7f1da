"""Optimizers: TensorFlow's nodes, slots and values where it has the class; else the paper's formula in NumPy."""

import math
import unittest

import numpy

from tests.oracle.training import compare
from tests.oracle.training.compare import tf

# (step variable) -> tf.compat.v1.train's optimizer.
CLASSES = {
    "sgd": lambda step: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda step: tf.train.MomentumOptimizer(0.1, 0.7),
    "nesterov": lambda step: tf.train.MomentumOptimizer(0.1, 0.7, use_nesterov=True),
    "adagrad": lambda step: tf.train.AdagradOptimizer(0.3),
    "adagradda": lambda step: tf.train.AdagradDAOptimizer(0.3, step, l1_regularization_strength=0.01,
                                                          l2_regularization_strength=0.02),
    "adadelta": lambda step: tf.train.AdadeltaOptimizer(1.0, epsilon=1e-4),
    "adam": lambda step: tf.train.AdamOptimizer(0.1, beta2=0.99),
    "rmsprop": lambda step: tf.train.RMSPropOptimizer(0.05, momentum=0.5, epsilon=1e-3),
    "centered": lambda step: tf.train.RMSPropOptimizer(0.05, momentum=0.5, epsilon=1e-3, centered=True),
    "ftrl": lambda step: tf.train.FtrlOptimizer(0.5, l1_regularization_strength=0.01,
                                                l2_regularization_strength=0.02, beta=0.1),
    "ftrl2": lambda step: tf.train.FtrlOptimizer(0.5, l1_regularization_strength=0.01,
                                                 l2_shrinkage_regularization_strength=0.05),
    "proximal": lambda step: tf.train.ProximalGradientDescentOptimizer(
        0.1, l1_regularization_strength=0.1, l2_regularization_strength=0.2),
    "proximaladagrad": lambda step: tf.train.ProximalAdagradOptimizer(
        0.3, l1_regularization_strength=0.1, l2_regularization_strength=0.2),
}


def build(optimizer, sparse, resource, dtype):
    get = lambda name, value: tf.get_variable(name, initializer=numpy.array(value, dtype), use_resource=resource)
    if sparse:
        table = get("deep/table", [[1, -2], [3, -4], [5, -6], [7, -8], [9, -10]])
        ids = tf.constant([3, 1, 3, 0], name="ids")
        target = tf.constant([[1, 2], [3, 4], [2, 1], [0, 1]], dtype, name="target")
        loss = tf.reduce_sum(tf.square(tf.gather(table, ids) - target))
    else:
        w, bias = get("w", [1, -2, 3]), get("deep/bias", [[0.5, 0.25], [-0.5, 4]])
        x = tf.constant([0.5, 1, -1], dtype, name="x")
        loss = tf.reduce_sum(tf.square(w - x)) + tf.reduce_sum(tf.square(bias.value() if resource else bias))
    step = tf.get_variable("global_step", shape=[], dtype=tf.int64, initializer=tf.zeros_initializer(),
                           trainable=False, use_resource=resource,
                           collections=[tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.GLOBAL_STEP])
    made = CLASSES[optimizer](step)
    made.minimize(loss, global_step=step)
    facts = ["slot %s %s %s" % (slot, v.op.name, made.get_slot(v, slot).op.name)
             for slot in made.get_slot_names() for v in tf.trainable_variables()]
    tf.global_variables_initializer()
    return facts


# Formulas. Each takes (var, grad, state, t, touched) and returns the new var; `state` keeps its arrays, t counts from
# 1, `touched` are the rows that a sparse gradient has (all, of a dense one).


def single(number):
    """As the hyper-parameters have it."""
    return float(numpy.float32(number))


def power(beta, t):
    """beta ** t, as the variables beta1_power and beta2_power have it: rounded in each step."""
    result = numpy.float32(beta)
    for _ in range(t - 1):
        result = numpy.float32(result * numpy.float32(beta))
    return float(result)


def adam_moments(g, s, t, beta1, beta2):
    s["m"] = single(beta1) * s.get("m", 0) + (1 - single(beta1)) * g
    s["v"] = single(beta2) * s.get("v", 0) + (1 - single(beta2)) * g * g
    return s["m"], s["v"], math.sqrt(1 - power(beta2, t)) / (1 - power(beta1, t))


def amsgrad(x, g, s, t, touched):
    m, v, correction = adam_moments(g, s, t, 0.9, 0.9)
    s["vhat"] = numpy.maximum(s.get("vhat", 0), v)
    return x - 0.1 * correction * m / (numpy.sqrt(s["vhat"]) + 1e-8)


def adamax(x, g, s, t, touched):
    m, v = s.setdefault("m", numpy.zeros_like(x)), s.setdefault("v", numpy.zeros_like(x))
    m[touched] = 0.9 * m[touched] + 0.1 * g[touched]
    v[touched] = numpy.maximum(single(0.999) * v[touched], abs(g[touched]))
    x = x.copy()
    x[touched] -= 0.1 / (1 - power(0.9, t)) * m[touched] / (v[touched] + 1e-8)
    return x


def adamw(x, g, s, t, touched, decays=True):
    m, v, correction = adam_moments(g, s, t, 0.9, 0.999)
    x = x - 0.1 * 0.1 * x if decays else x
    return x - 0.1 * correction * m / (numpy.sqrt(v) + 1e-8)


def lamb(x, g, s, t, touched, decays=True):
    m, v, _ = adam_moments(g, s, t, 0.9, 0.999)
    u = m / (1 - power(0.9, t)) / (numpy.sqrt(v / (1 - power(0.999, t))) + 1e-6) + (0.1 * x if decays else 0)
    norms = [numpy.sqrt((a * a).sum()) for a in (x, u)]
    return x - 0.1 * (norms[0] / norms[1] if all(norms) else 1) * u


def signs(x, g, s, touched, factor):
    m = s.setdefault("m", numpy.zeros_like(x))
    m[touched] = 0.9 * m[touched] + 0.1 * g[touched]
    x = x.copy()
    x[touched] -= 0.02 * factor(0.75 * numpy.sign(g) * numpy.sign(m))[touched] * g[touched]
    return x


def shrink(p, rate, l1, l2):
    return numpy.sign(p) * numpy.maximum(abs(p) - rate * l1, 0) / (1 + rate * l2)


def proximal(x, g, s, t, touched):
    x = x.copy()
    x[touched] = shrink(x - 0.1 * g, 0.1, 0.1, 0.2)[touched]
    return x


def proximal_adagrad(x, g, s, t, touched):
    n = s["n"] = s.get("n", 0.1) + g * g
    x = x.copy()
    x[touched] = shrink(x - 0.3 / numpy.sqrt(n) * g, 0.3 / numpy.sqrt(n), 0.1, 0.2)[touched]
    return x


FORMULAS = {
    "amsgrad": amsgrad,
    "adamax": adamax,
    "adamw": adamw,
    "lamb": lamb,
    "powersign": lambda x, g, s, t, touched: signs(x, g, s, touched, numpy.exp),
    "addsign": lambda x, g, s, t, touched: signs(x, g, s, touched, lambda a: 1 + a),
    "proximal": proximal,
    "proximaladagrad": proximal_adagrad,
}
EXCLUDED = {"adamw", "lamb"}


def trajectory(optimizer, sparse, steps):
    """Variable name -> values after each step, by the formula in double."""
    formula = FORMULAS[optimizer]
    if sparse:
        variables = {"deep/table": numpy.array([[1, -2], [3, -4], [5, -6], [7, -8], [9, -10]], float)}
        ids, target = numpy.array([3, 1, 3, 0]), numpy.array([[1, 2], [3, 4], [2, 1], [0, 1]], float)
        touched = numpy.array([0, 1, 3])
    else:
        variables = {"w": numpy.array([1, -2, 3], float), "deep/bias": numpy.array([[0.5, 0.25], [-0.5, 4]])}
        touched = slice(None)

    def gradient(name, value):
        if name == "deep/table":
            result = numpy.zeros_like(value)
            numpy.add.at(result, ids, 2 * (value[ids] - target))
            return result
        return 2 * (value - numpy.array([0.5, 1, -1])) if name == "w" else 2 * value

    rows, states = {name: [] for name in variables}, {name: {} for name in variables}
    for t in range(1, steps + 1):
        for name in variables:
            more = {"decays": "bias" not in name} if optimizer in EXCLUDED else {}
            variables[name] = formula(variables[name], gradient(name, variables[name]), states[name], t, touched, **more)
            rows[name].append(variables[name].reshape(-1))
    return rows


class Optimizers(unittest.TestCase):

    def test_equal_tensorflows(self):
        for name in compare.dumped("optimizers"):
            optimizer, form, kind, dtype = name.split("_")
            sparse, resource = form == "sparse", kind == "resource"
            # TensorFlow's own proximal ones take float only, unless sparse and resource.
            float_only = optimizer.startswith("proximal") and dtype == "double" and not (sparse and resource)
            if optimizer not in CLASSES or float_only:
                continue
            with self.subTest(name):
                numpy_type = {"float": numpy.float32, "double": numpy.float64}[dtype]
                compare.check(self, "optimizers", name, lambda: build(optimizer, sparse, resource, numpy_type))

    def test_follow_the_formula(self):
        for name, ours in compare.dumped("optimizers").items():
            optimizer, form, kind, dtype = name.split("_")
            if optimizer not in FORMULAS:
                continue
            with self.subTest(name):
                tail = "/Read/ReadVariableOp:0" if kind == "resource" else "/read:0"
                tolerance = 2e-5 if dtype == "float" else 1e-6  # hyper-parameters are float
                for variable, rows in trajectory(optimizer, form == "sparse", ours.steps).items():
                    for step, row in enumerate(rows):
                        found = ours.values[variable + tail, step]
                        numpy.testing.assert_allclose(found, row, rtol=tolerance, atol=tolerance,
                                                      err_msg="%s in step %d" % (variable, step))

    def test_slots_are_named_after_the_optimizer(self):
        expected = {
            "amsgrad": ["m w w/AMSGrad", "v w w/AMSGrad_1", "vhat w w/AMSGrad_2"],
            "adamax": ["m w w/AdaMax", "v w w/AdaMax_1"],
            "adamw": ["m w w/AdamW", "v w w/AdamW_1"],
            "lamb": ["m w w/LAMB", "v w w/LAMB_1"],
            "powersign": ["m w w/PowerSign"],
            "addsign": ["m w w/AddSign"],
        }
        for optimizer, slots in expected.items():
            facts = compare.dumped("optimizers")[optimizer + "_dense_resource_float"].facts
            self.assertEqual([f for f in facts if " w " in f], ["slot " + s for s in slots])
