"""The gradients of a recommender are as accurate on `sluice server` as on TensorFlow's.

A network with masked attention and batch normalization (DIN). The gradients of biases before a batch normalization are zero in exact
arithmetic. What a program computes for them is rounding error, which Adam scales up to whole steps. The reference is the same network in
float64.
"""

import unittest

import numpy as np
import tensorflow

from tests.oracle.client import servers

tf = tensorflow.compat.v1
tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.FATAL)

BATCH, HISTORY, ITEMS, SIZE = 256, 20, 500, 16
DRAWS = 100  # of parameters and batches: single rounding errors may be small by chance


def dense(x, name, units, dtype, values):
    w = values.random(name + "/w", [int(x.shape[-1]), units], 1 / np.sqrt(int(x.shape[-1])), dtype)
    b = values.random(name + "/b", [units], 0.1, dtype)
    flat = tf.matmul(tf.reshape(x, [-1, int(x.shape[-1])]), w) + b
    return tf.reshape(flat, [-1 if d is None else d for d in x.shape.as_list()[:-1]] + [units])


def normalized(x, name, dtype, values):
    mean, variance = tf.nn.moments(x, [0])
    units = int(x.shape[-1])
    scale, offset = values.random(name + "/gamma", [units], 1, dtype), values.random(name + "/beta", [units], 0.1, dtype)
    return tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-3)


class Values:
    """Placeholders of a network's parameters, and values for them. Both types get the same values."""

    def __init__(self):
        self.placeholders, self._scales = {}, {}

    def random(self, name, shape, scale, dtype):
        self.placeholders[name], self._scales[name] = tf.placeholder(dtype, shape, name), scale
        return self.placeholders[name]

    def draw(self, rng):
        return {p: (rng.randn(*p.shape.as_list()) * self._scales[name]).astype(np.float32) for name, p in self.placeholders.items()}


def loss_of(dtype, values):
    table = values.random("table", [ITEMS, SIZE], 0.3, dtype)
    past, item, lengths = (tf.placeholder(tf.int32, shape, name) for shape, name in (([BATCH, HISTORY], "past"), ([BATCH], "item"), ([BATCH], "lengths")))
    clicks = tf.placeholder(dtype, [BATCH, 1], "clicks")
    keys, query = tf.nn.embedding_lookup(table, past), tf.nn.embedding_lookup(table, item)
    queries = tf.tile(query[:, None], [1, HISTORY, 1])
    net = tf.concat([queries, keys, queries - keys, queries * keys], -1)
    for i, units in enumerate((40, 20)):
        net = dense(net, "attention%d" % i, units, dtype, values)
        net = tf.nn.sigmoid(net)
    scores = tf.transpose(dense(net, "score", 1, dtype, values), [0, 2, 1]) / np.sqrt(SIZE).astype(dtype)
    mask = tf.sequence_mask(lengths, HISTORY)[:, None]
    weights = tf.nn.softmax(tf.where(mask, scores, tf.fill(tf.shape(scores), tf.constant(-2.0**32 + 1, dtype))))
    interest = tf.matmul(weights, keys)[:, 0]
    net = tf.concat([query, interest, query * interest], 1)
    for i, units in enumerate((64, 32)):
        net = tf.nn.relu(normalized(dense(net, "layer%d" % i, units, dtype, values), "norm%d" % i, dtype, values))
    logits = dense(net, "logits", 1, dtype, values)
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=clicks, logits=logits))


def gradients(dtype, target):
    """Lists of gradients with respect to each parameter, in float64, one for each draw."""
    computed = {}
    with tf.Graph().as_default() as graph:
        values = Values()
        loss = loss_of(dtype, values)
        fetches = [tf.convert_to_tensor(g) for g in tf.gradients(loss, list(values.placeholders.values()))]
        with tf.Session(target) as session:
            for seed in range(DRAWS):
                rng = np.random.RandomState(seed)
                feed = values.draw(rng)
                feed.update({graph.get_tensor_by_name(name + ":0"): value for name, value in (
                    ("lengths", rng.randint(1, HISTORY + 1, BATCH)), ("past", rng.randint(0, ITEMS, [BATCH, HISTORY])),
                    ("item", rng.randint(0, ITEMS, BATCH)), ("clicks", rng.randint(0, 2, [BATCH, 1])))})
                for name, g in zip(values.placeholders, session.run(fetches, feed)):
                    computed.setdefault(name, []).append(g.astype(np.float64))
    return computed


class NumericsTest(unittest.TestCase):

    def test_gradients_are_as_accurate_as_tensorflows(self):
        server = servers.SluiceServer()
        self.addCleanup(server.kill)
        reference, theirs, ours = gradients(np.float64, ""), gradients(np.float32, ""), gradients(np.float32, server.target)
        for name, exact in reference.items():
            with self.subTest(name):
                error = lambda g: np.sqrt(np.mean((np.array(g[name]) - exact)**2))
                print("%-14s %.1e, TensorFlow's error %.1e, ours %.1e" % (name, np.sqrt(np.mean(np.square(exact))), error(theirs), error(ours)))
                self.assertLessEqual(error(ours), 2 * error(theirs))


if __name__ == "__main__":
    unittest.main()
