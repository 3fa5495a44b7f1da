"""Layers, recurrent networks, losses, initialisers: the nodes, names and values of TensorFlow's, or its variables and values."""

import os
import unittest

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # for tf.layers and the RNN cells

import numpy

from tests.oracle.training import compare
from tests.oracle.training.compare import tf

cells = tf.nn.rnn_cell


def numbers(*shape, name="x"):
    count = int(numpy.prod(shape))
    return tf.constant(((numpy.arange(count) * 7 % 11 - 5) / 5).astype(numpy.float32).reshape(shape), name=name)


def glorot(seed):
    return tf.glorot_uniform_initializer(seed=seed)


def square_sum(y):
    return tf.reduce_sum(tf.square(y))


def l2(variable):
    return 0.1 * tf.nn.l2_loss(variable)


def stackeddense():
    y = tf.layers.dense(numbers(2, 5, 3), 4, kernel_initializer=glorot(1))
    y = tf.layers.dense(y, 2, tf.tanh, use_bias=False, kernel_initializer=glorot(2), name="out")
    y = tf.layers.dense(y, 2, kernel_initializer=glorot(3))
    cost = tf.losses.get_regularization_loss()
    return square_sum(y) + cost


def shareddense():
    x = numbers(2, 3)
    shared = tf.layers.Dense(3, tf.nn.relu, kernel_initializer=glorot(1), kernel_regularizer=l2)
    twice = shared(shared(x))
    cost = tf.losses.get_regularization_loss()
    return square_sum(twice) + cost


def images():
    y = numbers(2, 8, 8, 2)
    y = tf.layers.conv2d(y, 3, 3, 2, "same", activation=tf.nn.relu, kernel_initializer=glorot(1))
    y = tf.layers.max_pooling2d(y, 2, 1)
    y = tf.layers.conv2d_transpose(y, 2, (3, 2), 2, kernel_initializer=glorot(2))
    y = tf.layers.average_pooling2d(y, 2, 2, "same")
    y = tf.layers.conv2d(y, 2, 1, use_bias=False, kernel_initializer=glorot(3))
    y = tf.layers.flatten(y)
    return square_sum(tf.layers.dropout(y, 0.25, seed=4, training=True))


def normal(x):
    y = tf.layers.batch_normalization(x, training=True)
    y = tf.layers.batch_normalization(tf.square(y), momentum=0.9, center=False, scale=False, training=True)
    return square_sum(tf.tanh(tf.layers.batch_normalization(y)))


def normalimages():
    return normal(numbers(3, 2, 2, 2))


def normalrows():
    return normal(numbers(5, 3))


def staticrnns():
    inputs, state = [numbers(2, 3), numbers(2, 3, name="x2")], numbers(2, 4, name="state")
    lstm = cells.LSTMStateTuple(state, state)
    sums = []
    tf.get_variable_scope().set_initializer(glorot(4))  # the basic cell uses this initializer
    for name, cell, start in [("peepholes", cells.LSTMCell(4, use_peepholes=True, initializer=glorot(1)), lstm),
                              ("plain_rnn", cells.LSTMCell(4, initializer=glorot(2), name="plain"), lstm),
                              ("gated", cells.GRUCell(4, kernel_initializer=glorot(3)), state),
                              ("basic", cells.BasicRNNCell(4), state)]:
        sums.append(square_sum(tf.nn.static_rnn(cell, inputs, initial_state=start, scope=name)[0][1]))
    return tf.add_n(sums)


def dynamicrnns():
    x, lengths = numbers(3, 4, 2), tf.constant([4, 0, 2], name="lengths")
    both = cells.MultiRNNCell([cells.LSTMCell(4, use_peepholes=True, initializer=glorot(1)),
                               cells.GRUCell(3, kernel_initializer=glorot(2))])
    outputs, ((c, _), h) = tf.nn.dynamic_rnn(both, x, lengths, dtype=tf.float32)
    tf.get_variable_scope().set_initializer(glorot(3))
    of_all, state = tf.nn.dynamic_rnn(cells.BasicRNNCell(3), tf.transpose(x, [1, 0, 2]), dtype=tf.float32,
                                      time_major=True, scope="all")
    pair = [cells.GRUCell(2, kernel_initializer=glorot(seed)) for seed in (4, 5)]
    (forth, back), (_, last) = tf.nn.bidirectional_dynamic_rnn(*pair, x, lengths, dtype=tf.float32)
    return tf.add_n([square_sum(y) for y in (outputs, c, h, of_all, state, forth, back, last)])


def losses():
    made = tf.losses
    y = tf.layers.dense(numbers(4, 3), 3, kernel_initializer=glorot(1))
    is_class = tf.constant([[1, 0, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0]])
    each = tf.constant([1, 0, 2, 0.5])
    column, p = tf.reshape(each, [4, 1]), tf.nn.softmax(y)
    made.sparse_softmax_cross_entropy([2, 0, 1, 1], y, each)
    made.softmax_cross_entropy(is_class, y, each, 0.1, reduction=made.Reduction.MEAN)
    made.sigmoid_cross_entropy(is_class, y, column, 0.2)
    made.mean_squared_error(is_class, y, reduction=made.Reduction.SUM_OVER_BATCH_SIZE)
    made.absolute_difference(is_class, y, column, reduction=made.Reduction.SUM)
    made.huber_loss(is_class, y, delta=0.5)
    made.hinge_loss(is_class, y)
    made.log_loss(is_class, p, column)
    made.cosine_distance(tf.cast(is_class, tf.float32), p, 1)
    none = made.mean_squared_error(is_class, y, reduction=made.Reduction.NONE)
    made.compute_weighted_loss(tf.reduce_sum(none, 1), each)
    return tf.add_n([loss for loss in made.get_losses() if loss is not none], name="total")


def scaled_firsts():
    """Each way of scaling, for a filter, a matrix, a vector and a scalar."""
    shapes = ([2, 3, 4, 5], [4, 3], [5], [])
    kinds = [(mode, distribution, shape) for mode in ("fan_in", "fan_out", "fan_avg")
             for distribution in ("truncated_normal", "untruncated_normal", "uniform") for shape in shapes]
    return [("scaled%d" % n, tf.initializers.variance_scaling(1.5 + n, mode, distribution, 20 + n), shape)
            for n, (mode, distribution, shape) in enumerate(kinds)]


def initializers():
    made = tf.initializers
    firsts = [
        ("lecun_uniform", made.lecun_uniform(1), [3, 4]), ("lecun_normal", made.lecun_normal(2), [3, 4]),
        ("unit_scaling", made.uniform_unit_scaling(1.5, 3), [2, 3, 4]), ("identity", made.identity(2.0), [3, 4]),
        ("glorot_normal", made.glorot_normal(4), [3, 4]), ("he_uniform", made.he_uniform(5), [3, 4]),
        ("glorot_uniform", made.glorot_uniform(6), [3, 4]), ("he_normal", made.he_normal(7), [3, 4]),
        ("uniform", made.random_uniform(-2, 3, 8), [3, 4]), ("normal", made.random_normal(1, 2, 9), [3, 4]),
        ("truncated", made.truncated_normal(1, 2, 10), [3, 4]), ("zeros", made.zeros(), [3]), ("ones", made.ones(), [3]),
        ("half", made.constant(0.5), [3]), ("wide", made.random_uniform(-2, 3, 11), [3, 4], tf.float64),
        ("whole", made.random_uniform(-20, 30, 12), [3, 4], tf.int32),
        ("whole_wide", made.random_uniform(0, 10**12, 13), [3, 4], tf.int64)] + scaled_firsts()
    sums = []
    for name, initializer, shape, dtype in [(first + (tf.float32,))[:4] for first in firsts]:
        value = snapshot(tf.get_variable(name, shape, dtype, initializer, trainable=not dtype.is_integer))
        value = value if dtype == tf.float32 else tf.cast(value, tf.float32)
        sums.append(square_sum(value) if shape else tf.square(value))
    return tf.add_n(sums)


def snapshot(variable):
    """The read that is created with the variable."""
    suffix = "/read:0" if variable.op.type == "VariableV2" else "/Read/ReadVariableOp:0"
    return tf.get_default_graph().get_tensor_by_name(variable.op.name + suffix)


def forward(graph_def, names=None):
    """The nodes of the layers, without gradients and updates. With `names`, also without nodes that
    are not used: sizes that turn out to be known, a moving average that is read back."""
    nodes = [n for n in graph_def.node if not n.name.startswith(("gradients/", "GradientDescent"))]
    while True:
        used = {i.lstrip("^").split(":")[0] for n in graph_def.node for i in n.input} | (names or {n.name for n in nodes})
        kept = [n for n in nodes if n.name in used or n.op not in ("Const", "Shape", "StridedSlice", "ReadVariableOp")]
        graph_def = tf.GraphDef(node=kept)
        if len(kept) == len(nodes):
            return renamed(graph_def)
        nodes = kept


def renamed(graph_def):
    """Recurrent networks read their variables at their use, without colocation. Another initializer
    creates the initial values of a GRU's gates."""
    for node in graph_def.node:
        if node.op == "Identity" and node.name.endswith("/read") and "_class" in node.attr:
            del node.attr["_class"]
        ones = ("gates/bias/Initializer/Const", "gates/bias/Initializer/ones")
        node.name = node.name.replace(*ones)
        for i, name in enumerate(node.input):
            node.input[i] = name.replace(*ones)
    return graph_def


# Layers with exactly TensorFlow's nodes. The others have the same variables and values. With
# resource variables, rows, normalization and recurrent networks name the reads of variables
# differently.
EXACT = [stackeddense, shareddense, images, normalimages, normalrows, staticrnns, initializers]
OTHERS = [dynamicrnns, losses]


class Layers(unittest.TestCase):

    def build(self, function, resource):
        tf.get_variable_scope().set_use_resource(resource)
        loss = function()
        tf.train.GradientDescentOptimizer(0.01).minimize(loss)
        tf.global_variables_initializer()

    def check(self, function, resource):
        name = function.__name__ + ("_resource" if resource else "_ref")
        ours = compare.dumped("layers")[name]
        with tf.Graph().as_default() as graph:
            self.build(function, resource)
        if function in EXACT and not (resource and function in (normalrows, staticrnns)):
            expected = forward(graph.as_graph_def(), {n.name for n in ours.graph.node})
            text = compare.difference(expected, forward(ours.graph))
            self.assertEqual(text, "", "nodes of %s, '-' TensorFlow's:%s" % (name, text))
        for key, names in compare.variables_by_collection(graph).items():
            self.assertEqual(sorted(names), sorted(ours.collections.get(key)), "collection '%s'" % key)
        compare.check_values(self, compare.reference_values(graph, ours), ours)


def add_tests():
    for function in EXACT + OTHERS:
        for resource in (False, True):
            setattr(Layers, "test_%s_%s" % (function.__name__, "resource" if resource else "ref"),
                    lambda self, f=function, r=resource: self.check(f, r))


add_tests()
