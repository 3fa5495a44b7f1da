"""Optimizers: TensorFlow's nodes, slots and values if it has the class; otherwise the values of its
fused op, or of the paper's formula."""

import unittest

import numpy

from tests.oracle import tensorflow_side
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
    "lockedsgd": lambda step: tf.train.GradientDescentOptimizer(0.1, use_locking=True),
    "lockedmomentum": lambda step: tf.train.MomentumOptimizer(0.1, 0.7, use_locking=True),
    "lockedadam": lambda step: tf.train.AdamOptimizer(0.1, beta2=0.99, use_locking=True),
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


def power(beta, t):
    """beta ** t, as the variables beta1_power and beta2_power have it: rounded in each step."""
    result = numpy.float32(beta)
    for _ in range(t - 1):
        result = numpy.float32(result * numpy.float32(beta))
    return result


# TensorFlow's fused ops. Each function takes the variable, its slots, the gradient and the powers
# of beta as placeholders, and a function that creates hyper-parameters. It returns the update.


def amsgrad(x, s, g, powers, n):
    return tf.raw_ops.ResourceApplyAdamWithAmsgrad(
        var=x.handle, m=s["m"], v=s["v"], vhat=s["vhat"], beta1_power=powers[0.9], beta2_power=powers[0.9], lr=n(0.1),
        beta1=n(0.9), beta2=n(0.9), epsilon=n(1e-8), grad=g)


def adamax(x, s, g, powers, n):
    return tf.raw_ops.ResourceApplyAdaMax(var=x.handle, m=s["m"], v=s["v"], beta1_power=powers[0.9], lr=n(0.1), beta1=n(0.9),
                                          beta2=n(0.999), epsilon=n(1e-8), grad=g)


def adamw(x, s, g, powers, n):
    """Adam after the decay; "Decoupled weight decay regularization", algorithm 2, with the gradient of before."""
    decay = x.assign_sub(x * (n(0.1) * n(0.1))) if "bias" not in x.op.name else tf.no_op()
    with tf.control_dependencies([decay]):
        return tf.raw_ops.ResourceApplyAdam(
            var=x.handle, m=s["m"], v=s["v"], beta1_power=powers[0.9], beta2_power=powers[0.999], lr=n(0.1), beta1=n(0.9),
            beta2=n(0.999), epsilon=n(1e-8), grad=g)


def adam_of_tensors(x, s, g, powers, n):
    return tf.raw_ops.ResourceApplyAdam(
        var=x.handle, m=s["m"], v=s["v"], beta1_power=powers[0.8], beta2_power=powers[0.95], lr=n(0.1), beta1=n(0.8),
        beta2=n(0.95), epsilon=n(1e-3), grad=g)


def powersign(x, s, g, powers, n):
    return tf.raw_ops.ResourceApplyPowerSign(var=x.handle, m=s["m"], lr=n(0.02), logbase=n(1), sign_decay=n(0.75), beta=n(0.9),
                                             grad=g)


def addsign(x, s, g, powers, n):
    return tf.raw_ops.ResourceApplyAddSign(var=x.handle, m=s["m"], lr=n(0.02), alpha=n(1), sign_decay=n(0.75), beta=n(0.9),
                                           grad=g)


# Name -> the op; the slots, with TensorFlow's names of their variables; whether a sparse gradient
# changes only its own rows.
FUSED = {
    "amsgrad": (amsgrad, {"m": "AMSGrad", "v": "AMSGrad_1", "vhat": "AMSGrad_2"}, False),
    "adamax": (adamax, {"m": "AdaMax", "v": "AdaMax_1"}, True),
    "adamw": (adamw, {"m": "AdamW", "v": "AdamW_1"}, False),
    "powersign": (powersign, {"m": "PowerSign"}, True),
    "addsign": (addsign, {"m": "AddSign"}, True),
    # Their hyper-parameters are functions and tensors.
    "adamtensors": (adam_of_tensors, {"m": "Adam", "v": "Adam_1"}, False),
    "powersigntensors": (powersign, {"m": "PowerSign"}, True),
    "addsigntensors": (addsign, {"m": "AddSign"}, True),
}


def model(sparse, dtype):
    """Variable name -> its first value, its gradient as a function of its value, and the rows that have one."""
    if sparse:
        ids, target = [3, 1, 3, 0], numpy.array([[1, 2], [3, 4], [2, 1], [0, 1]], dtype)

        def of_rows(value):
            result = numpy.zeros_like(value)
            numpy.add.at(result, ids, 2 * (value[ids] - target))
            return result

        table = numpy.array([[1, -2], [3, -4], [5, -6], [7, -8], [9, -10]], dtype)
        return {"deep/table": (table, of_rows, [0, 1, 3])}
    x = numpy.array([0.5, 1, -1], dtype)
    return {"w": (numpy.array([1, -2, 3], dtype), lambda value: 2 * (value - x), slice(None)),
            "deep/bias": (numpy.array([[0.5, 0.25], [-0.5, 4]], dtype), lambda value: 2 * value, slice(None))}


def values_of_op(optimizer, name, parts, dtype, steps):
    """(name or name/Slot, step) -> the result of TensorFlow's op for the variable `name` and its
    slots."""
    op, slot_names, rows_only = FUSED[optimizer]
    value, gradient, rows = parts
    rows = rows if rows_only else slice(None)
    values = {}
    with tf.Graph().as_default() as graph:
        x = tf.get_variable(name, initializer=value[rows], use_resource=True)
        slots = {s: tf.get_variable(name + "/" + n, initializer=numpy.zeros_like(value[rows]), use_resource=True)
                 for s, n in slot_names.items()}
        g, powers = tf.placeholder(dtype, value[rows].shape), {b: tf.placeholder(dtype, []) for b in (0.8, 0.9, 0.95, 0.999)}
        update = op(x, {s: v.handle for s, v in slots.items()}, g, powers, lambda n: tf.constant(numpy.float32(n), dtype))
        with tf.Session(graph=graph, config=tensorflow_side.config()) as session:
            session.run(tf.global_variables_initializer())
            for step in range(steps):
                feeds = {p: power(b, step + 1) for b, p in powers.items()}
                session.run(update, {g: gradient(value)[rows], **feeds})
                found = session.run({name: x.value(), **{v.op.name: v.value() for v in slots.values()}})
                value = value.copy()
                value[rows] = found[name]
                for key, part in found.items():
                    whole = value if key == name else numpy.zeros_like(value)
                    whole[rows] = part
                    values[key, step] = whole.reshape(-1)
    return values


# Formulas. Each takes (var, grad, state, t, touched) and returns the new var. `state` keeps its
# arrays, t counts from 1, and `touched` are the rows of a sparse gradient (all rows for a dense
# one).


def single(number):
    """Rounds to float, like the hyper-parameters."""
    return float(numpy.float32(number))


def lamb(x, g, s, t, touched, decays=True):
    beta1, beta2 = single(0.9), single(0.999)
    m = s["m"] = beta1 * s.get("m", 0) + (1 - beta1) * g
    v = s["v"] = beta2 * s.get("v", 0) + (1 - beta2) * g * g
    u = m / (1 - float(power(0.9, t))) / (numpy.sqrt(v / (1 - float(power(0.999, t)))) + single(1e-6))
    u += single(0.1) * x if decays else 0
    norms = [numpy.sqrt((a * a).sum()) for a in (x, u)]
    return x - single(0.1) * (norms[0] / norms[1] if all(norms) else 1) * u


def shrink(p, rate, l1, l2):
    return numpy.sign(p) * numpy.maximum(abs(p) - rate * l1, 0) / (1 + rate * l2)


def proximal(x, g, s, t, touched):
    x = x.copy()
    rate = single(0.1)
    x[touched] = shrink(x - rate * g, rate, single(0.1), single(0.2))[touched]
    return x


def proximal_adagrad(x, g, s, t, touched):
    n = s["n"] = s.get("n", 0.1) + g * g
    x = x.copy()
    rate = single(0.3) / numpy.sqrt(n)
    x[touched] = shrink(x - rate * g, rate, single(0.1), single(0.2))[touched]
    return x


def moments(g, s, touched, beta1, beta2):
    """The moments of Adam, which change in the touched rows only."""
    m, v = s.get("m", numpy.zeros_like(g)).copy(), s.get("v", numpy.zeros_like(g)).copy()
    m[touched] = (beta1 * m + (1 - beta1) * g)[touched]
    v[touched] = (beta2 * v + (1 - beta2) * g * g)[touched]
    s["m"], s["v"] = m, v
    return m, v


def corrected_rate(t):
    return single(0.1) * numpy.sqrt(1 - float(power(0.999, t))) / (1 - float(power(0.9, t)))


def adam_async(x, g, s, t, touched):
    """DeepRec's SparseApplyAdamAsync."""
    m, v = moments(g, s, touched, single(0.9), single(0.999))
    x = x.copy()
    x[touched] -= (corrected_rate(t) * m / (numpy.sqrt(v) + single(1e-8)))[touched]
    return x


def adam_async_rms(x, g, s, t, touched):
    """The same with apply_sparse_rmsprop, which dense gradients ignore."""
    if isinstance(touched, slice):
        m, v = moments(g, s, touched, single(0.9), single(0.999))
        return x - corrected_rate(t) * m / (numpy.sqrt(v) + single(1e-3))
    v, m = s.get("v", numpy.zeros_like(x)).copy(), s.get("m", numpy.zeros_like(x)).copy()
    v[touched] = (single(0.999) * v + (1 - single(0.999)) * g * g)[touched]
    m[touched] = (single(0.9) * m + single(0.1) * g / numpy.sqrt(v + single(1e-3)))[touched]
    s["v"], s["m"] = v, m
    x = x.copy()
    x[touched] -= m[touched]
    return x


def adagrad_decay(x, g, s, t, touched):
    """DeepRec's SparseApplyAdagradDecay; t - 1 is the global step."""
    n = s.get("n", numpy.full_like(x, 0.1)).copy()
    decays = s.get("decays", 0)
    if (t - 1) // 2 > decays:
        n[touched] = numpy.maximum(n * single(0.5), single(0.1))[touched]
        s["decays"] = decays + 1
    n[touched] += (g * g)[touched]
    s["n"] = n
    x = x.copy()
    x[touched] -= (single(0.3) * g / numpy.sqrt(n))[touched]
    return x


def shrink_rows(z, quotient, l1, l21):
    """The weights of a sparse group lasso, whose groups are the rows (arXiv:2107.14432, algorithm 1)."""
    shrunk = numpy.clip(z, -l1, l1) - z
    rows = shrunk.reshape(len(shrunk), -1)
    norms = numpy.sqrt((rows * rows).sum(axis=1))
    bound = l21 * numpy.sqrt(rows.shape[1])
    factors = numpy.array([1 - bound / norm if norm > bound else 0 for norm in norms])
    return (rows * factors[:, None]).reshape(z.shape) / quotient


def group_ftrl(x, g, s, t, touched):
    """TFPlus's SparseGroupSparseApplyFtrl."""
    n, z = s.get("n", numpy.full_like(x, 0.1)), s.get("z", numpy.zeros_like(x))
    more, z_more = n.copy(), z.copy()
    more[touched] += (g * g)[touched]
    z_more[touched] += (g - (numpy.sqrt(more) - numpy.sqrt(n)) / single(0.5) * x)[touched]
    s["n"], s["z"] = more, z_more
    x = x.copy()
    x[touched] = shrink_rows(z_more, numpy.sqrt(more) / single(0.5) + 2 * single(0.02), single(0.1), single(2))[touched]
    return x


def group_adam(x, g, s, t, touched):
    """Algorithm 2 of arXiv:2107.14432 with its learning rate multiplied through: z is lr * z there."""
    lr, epsilon = single(0.1), single(1e-3)
    before, z = s.get("v", numpy.zeros_like(x)), s.get("z", numpy.zeros_like(x)).copy()
    seen = s.get("seen", numpy.zeros(len(x), bool)).copy()
    m, v = moments(g, s, touched, single(0.9), single(0.999))
    # The first difference is that to 0, so it has epsilon.
    first = (epsilon * ~seen).reshape((-1,) + (1,) * (x.ndim - 1))
    z[touched] += (corrected_rate(t) * m - (numpy.sqrt(v) - numpy.sqrt(before) + first) * x)[touched]
    seen[touched] = True
    s["z"], s["seen"] = z, seen
    x = x.copy()
    quotient = numpy.sqrt(v) + epsilon + 2 * lr * single(0.2)
    x[touched] = shrink_rows(z, quotient, lr * single(0.1), lr * single(3))[touched]
    return x


FORMULAS = {
    "lamb": lamb, "proximal": proximal, "proximaladagrad": proximal_adagrad, "adamasync": adam_async,
    "adamasyncrms": adam_async_rms, "adagraddecay": adagrad_decay, "groupftrl": group_ftrl, "groupadam": group_adam,
}


def values_of_formula(optimizer, name, parts, steps):
    """(name, step) -> the variable's values."""
    value, gradient, touched = parts
    state, values = {}, {}
    more = {"decays": "bias" not in name} if optimizer == "lamb" else {}
    for step in range(steps):
        value = FORMULAS[optimizer](value, gradient(value), state, step + 1, touched, **more)
        values[name, step] = value.reshape(-1)
    return values


class Optimizers(unittest.TestCase):

    def test_equal_tensorflows(self):
        for name in compare.dumped("optimizers"):
            optimizer, form, kind, dtype = name.split("_")
            sparse, resource = form == "sparse", kind == "resource"
            # TensorFlow's proximal ops support only float, except the sparse ones for resources.
            float_only = optimizer.startswith("proximal") and dtype == "double" and not (sparse and resource)
            if optimizer not in CLASSES or float_only:
                continue
            with self.subTest(name):
                numpy_type = {"float": numpy.float32, "double": numpy.float64}[dtype]
                compare.check(self, "optimizers", name, lambda: build(optimizer, sparse, resource, numpy_type))

    def check_all(self, optimizers, values_of):
        """`values_of` returns the values of one variable (and its slots) for its name, the model's
        part and the dump's name."""
        examples = {name: ours for name, ours in compare.dumped("optimizers").items() if name.split("_")[0] in optimizers}
        self.assertEqual(len(examples), 8 * len(optimizers))
        for name, ours in examples.items():
            _, form, kind, dtype = name.split("_")
            with self.subTest(name):
                tail = "/Read/ReadVariableOp:0" if kind == "resource" else "/read:0"
                for variable, parts in model(form == "sparse", numpy.float64).items():
                    expected = values_of(name, variable, parts, ours.steps)
                    expected = {(v + tail, step): row for (v, step), row in expected.items()}
                    compare.check_close(self, expected, ours, rtol={"float": 1e-5, "double": 1e-10}[dtype])

    def test_equal_tensorflows_fused_ops(self):

        def values_of(name, variable, _, steps):
            optimizer, form, _, dtype = name.split("_")
            dtype = {"float": numpy.float32, "double": numpy.float64}[dtype]
            return values_of_op(optimizer, variable, model(form == "sparse", dtype)[variable], dtype, steps)

        self.check_all(FUSED, values_of)

    def test_follow_the_formula(self):
        self.check_all(FORMULAS, lambda name, *rest: values_of_formula(name.split("_")[0], *rest))

    def test_slots_are_named_after_the_optimizer(self):
        expected = {
            "amsgrad": ["m w w/AMSGrad", "v w w/AMSGrad_1", "vhat w w/AMSGrad_2"],
            "adamax": ["m w w/AdaMax", "v w w/AdaMax_1"],
            "adamw": ["m w w/AdamW", "v w w/AdamW_1"],
            "lamb": ["m w w/LAMB", "v w w/LAMB_1"],
            "adamasync": ["beta1_power w w/AdamAsync/beta1_power", "beta2_power w w/AdamAsync/beta2_power", "m w w/AdamAsync",
                          "v w w/AdamAsync_1"],
            "adagraddecay": ["accumulator w w/AdagradDecay", "accumulator_decay_power w w/AdagradDecay_1"],
            "groupftrl": ["accum w w/GroupFtrl", "linear w w/GroupFtrl_1"],
            "groupadam": ["linear w w/GroupAdam_2", "m w w/GroupAdam", "v w w/GroupAdam_1"],
            "powersign": ["m w w/PowerSign"],
            "addsign": ["m w w/AddSign"],
        }
        for optimizer, slots in expected.items():
            facts = compare.dumped("optimizers")[optimizer + "_dense_resource_float"].facts
            self.assertEqual([f for f in facts if " w " in f], ["slot " + s for s in slots])
