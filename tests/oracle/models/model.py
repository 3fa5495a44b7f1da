"""A model with its train ops, as TensorFlow builds, exports and runs it."""

import dataclasses
import itertools
import os

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # for tf.layers and the RNN cells

import numpy
import tensorflow

from tests.oracle import tensorflow_side

tf = tensorflow.compat.v1
STEPS = 100


@dataclasses.dataclass
class Model:
    """`inputs`: what is fed; `losses`: fetched in every step."""
    graph: tf.Graph
    inputs: list
    losses: list
    train: str
    init: str

    def meta_graph(self):
        return tf.train.export_meta_graph(graph=self.graph)

    def run(self, feeds):
        """TensorFlow's losses: name -> one number per step. `feeds`: tensor name -> array with one
        row per step."""
        found = {name: [] for name in self.losses}
        with tf.Session(graph=self.graph, config=tensorflow_side.config()) as session:
            session.run(self.graph.get_operation_by_name(self.init))
            train = self.graph.get_operation_by_name(self.train)
            for step in range(STEPS):
                feed = {name: rows[step] for name, rows in feeds.items()}
                values, _ = session.run([self.losses, train], feed_dict=feed)
                for name, value in zip(self.losses, values):
                    found[name].append(value)
        return {name: numpy.array(values) for name, values in found.items()}

    def ops(self):
        return sorted({n.op for n in self.graph.as_graph_def().node})


def finish(losses, train, inputs):
    """The model in the default graph; `losses`: one or several."""
    init = tf.global_variables_initializer()
    losses = losses if isinstance(losses, (list, tuple)) else [losses]
    return Model(tf.get_default_graph(), [t.name for t in inputs], [t.name for t in losses], train.name, init.name)


class Seeds:
    """Seeds 1, 2, 3, …: each initializer and random op of a model has its own."""

    def __init__(self):
        self._count = itertools.count(1)

    def next(self):
        return next(self._count)

    def glorot(self):
        return tf.glorot_uniform_initializer(seed=self.next())

    def he(self):
        return tf.variance_scaling_initializer(2.0, "fan_in", "truncated_normal", seed=self.next())

    def normal(self, stddev):
        return tf.random_normal_initializer(stddev=stddev, seed=self.next())

    def uniform(self, limit):
        return tf.random_uniform_initializer(-limit, limit, seed=self.next())


def build(function):
    """Builds the model of `function` in a new graph."""
    tf.disable_v2_behavior()
    with tf.Graph().as_default():
        return function()
