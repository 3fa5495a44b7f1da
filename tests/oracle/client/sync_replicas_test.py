"""TensorFlow's SyncReplicasOptimizer and MonitoredTrainingSession, unmodified, on a cluster of
`sluice server`s.

One parameter server and three workers. An update needs the gradients of two of them.
"""

import unittest

import numpy as np
import tensorflow

from tests.oracle.client import clusters

tf = tensorflow.compat.v1
tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.FATAL)

WORKERS, AGGREGATE = 3, 2


class Images:
    """Two dense layers over Fashion-MNIST. Each replica uses its own batches."""

    BATCH = 100
    TRAIN = clusters.fashion_mnist("train")

    def __init__(self, index):
        self.rng = np.random.RandomState(index)
        self.x, self.y = tf.placeholder(tf.float32, [None, 784]), tf.placeholder(tf.int32, [None])
        hidden = self.dense(self.x, "hidden", 784, 128)
        logits = self.dense(tf.nn.relu(hidden), "logits", 128, 10)
        self.loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=self.y, logits=logits))
        self.accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1, output_type=tf.int32), self.y), tf.float32))

    @staticmethod
    def dense(x, name, inputs, outputs):
        w = tf.get_variable(name + "/w", [inputs, outputs], initializer=tf.random_uniform_initializer(-0.1, 0.1, seed=7))
        return tf.matmul(x, w) + tf.get_variable(name + "/b", [outputs], initializer=tf.zeros_initializer())

    def batch(self):
        rows = self.rng.randint(0, len(self.TRAIN[1]), self.BATCH)
        return {self.x: self.TRAIN[0][rows], self.y: self.TRAIN[1][rows]}


class Words:
    """Tells the sum of the values of three words: an embedding, whose gradient is sparse."""

    WORDS = 200

    def __init__(self, index):
        self.rng = np.random.RandomState(100 + index)
        self.values = np.random.RandomState(1).randn(self.WORDS).astype(np.float32)
        self.ids, self.y = tf.placeholder(tf.int32, [None, 3]), tf.placeholder(tf.float32, [None])
        table = tf.get_variable("table", [self.WORDS, 4], initializer=tf.random_uniform_initializer(-0.1, 0.1, seed=3))
        w = tf.get_variable("w", [4, 1], initializer=tf.ones_initializer())
        total = tf.reduce_sum(tf.nn.embedding_lookup(table, self.ids), axis=1)
        self.loss = tf.reduce_mean(tf.square(tf.squeeze(tf.matmul(total, w), axis=1) - self.y))

    def batch(self):
        ids = self.rng.randint(0, self.WORDS, [64, 3])
        return {self.ids: ids, self.y: self.values[ids].sum(axis=1)}


class SyncReplicasTest(unittest.TestCase):

    def setUp(self):
        super().setUp()
        self.cluster = clusters.SluiceCluster(ps=1, worker=WORKERS)

    def tearDown(self):
        self.cluster.stop()
        super().tearDown()

    def train(self, build, make_optimizer, steps):
        replicas = clusters.train(self.cluster, build, make_optimizer, AGGREGATE, steps)
        self.assertGreaterEqual(max(step for replica in replicas for step in replica.steps), steps - 1)
        for replica in replicas:
            self.assertEqual(replica.steps, sorted(replica.steps))
        return replicas

    def test_fashion_mnist_by_momentum(self):
        steps = 4500
        rate = lambda: tf.train.polynomial_decay(0.1, tf.train.get_global_step(), steps, 0.001)
        replicas = self.train(Images, lambda: tf.train.MomentumOptimizer(rate(), 0.9), steps)
        images, labels = clusters.fashion_mnist("t10k")
        model = replicas[0].model
        accuracy = clusters.evaluate(self.cluster, replicas[0], model.accuracy, {model.x: images, model.y: labels})
        print("accuracy %.4f" % accuracy)
        self.assertGreaterEqual(accuracy, 0.88)

    def test_fashion_mnist_by_adam(self):
        replicas = self.train(Images, lambda: tf.train.AdamOptimizer(0.002), 600)
        images, labels = clusters.fashion_mnist("t10k")
        model = replicas[0].model
        accuracy = clusters.evaluate(self.cluster, replicas[0], model.accuracy, {model.x: images, model.y: labels})
        print("accuracy %.4f" % accuracy)
        self.assertGreaterEqual(accuracy, 0.84)

    def test_an_embedding_with_sparse_gradients(self):
        for make_optimizer in (lambda: tf.train.AdagradOptimizer(0.5), lambda: tf.train.AdamOptimizer(0.02)):
            with self.subTest(make_optimizer().get_name()):
                replicas = self.train(Words, make_optimizer, 400)
                self.assertGreater(replicas[0].losses[0], 1)
                self.assertLess(np.mean(replicas[0].losses[-10:]), 0.05)
                tf.Session.reset(self.cluster.targets()[0])


if __name__ == "__main__":
    unittest.main()
