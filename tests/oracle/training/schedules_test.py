"""Learning-rate decays and clipping: TensorFlow's nodes and values."""

import unittest

from tests.oracle.training import compare
from tests.oracle.training.compare import tf

t = tf.train
DECAYS = {
    "exponential": lambda s: t.exponential_decay(0.5, s, 10, 0.9),
    "exponential_stairs": lambda s: t.exponential_decay(0.5, s, 10, 0.9, staircase=True),
    "natural_exp": lambda s: t.natural_exp_decay(0.5, s, 10, 0.9),
    "natural_exp_stairs": lambda s: t.natural_exp_decay(0.5, s, 10, 0.9, staircase=True),
    "inverse_time": lambda s: t.inverse_time_decay(0.5, s, 10, 0.3),
    "inverse_time_stairs": lambda s: t.inverse_time_decay(0.5, s, 10, 0.3, staircase=True),
    "polynomial": lambda s: t.polynomial_decay(0.5, s, 10),
    "polynomial_cycle": lambda s: t.polynomial_decay(0.5, s, 10, power=2.0, cycle=True, name="Cycle"),
    "cosine": lambda s: t.cosine_decay(0.5, s, 20, alpha=0.1),
    "cosine_restarts": lambda s: t.cosine_decay_restarts(0.5, s, 5),
    "cosine_restarts_even": lambda s: t.cosine_decay_restarts(0.5, s, 5, t_mul=1.0, m_mul=0.9, alpha=0.05),
    "linear_cosine": lambda s: t.linear_cosine_decay(0.5, s, 20),
    "noisy_linear_cosine": lambda s: t.noisy_linear_cosine_decay(0.5, s, 20),
    "piecewise": lambda s: t.piecewise_constant(s, [5, 10], [0.5, 0.3, 0.1]),
}


def schedule(decay):
    """(the rate, the op `count` that counts a step)"""
    tf.set_random_seed(7)
    step = tf.get_variable("global_step", shape=[], dtype=tf.int64, initializer=tf.zeros_initializer(),
                           trainable=False, use_resource=True,
                           collections=[tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.GLOBAL_STEP])
    rate = decay(step)
    step.assign_add(tf.constant(1, tf.int64), name="count", read_value=False)
    tf.global_variables_initializer()
    return rate


def clip():
    a = tf.constant([[1, -2, 3], [-4, 5, -6]], tf.float32, name="a")
    b = tf.constant([1, 2, 3, 4], tf.float32, name="b")
    zeros = tf.constant([0, 0], tf.float32, name="nothing")
    rows = tf.IndexedSlices(a, tf.constant([3, 0], name="rows"))
    tf.clip_by_value(a, -1.5, 2.0)
    tf.clip_by_value(rows, -1.0, 1.0)
    tf.clip_by_norm(a, 2.0)
    tf.clip_by_norm(a, 2.0, axes=[1])
    tf.clip_by_norm(zeros, 2.0)
    tf.global_norm([a, None, b])
    tf.clip_by_global_norm([a, None, b, rows], 3.0)
    tf.clip_by_average_norm(a, 0.5)
    tf.no_op()


class Schedules(unittest.TestCase):

    def test_all_of_tensorflows_decays_are_here(self):
        decays = {n for n in dir(tf.train) if n.endswith("_decay") or n.startswith(("cosine_decay", "piecewise"))}
        ours = {"natural_exp_decay", "exponential_decay", "inverse_time_decay", "polynomial_decay", "cosine_decay",
                "cosine_decay_restarts", "linear_cosine_decay", "noisy_linear_cosine_decay", "piecewise_constant",
                "piecewise_constant_decay"}
        self.assertEqual(decays, ours)

    def test_decays_equal_tensorflows(self):
        for name, decay in DECAYS.items():
            if name == "piecewise":
                continue
            with self.subTest(name):
                compare.check(self, "schedules", name, lambda: self.assertIsNotNone(schedule(decay)))

    def test_piecewise_constant_has_tensorflows_values(self):
        """Sluice uses a lookup, TensorFlow nests conditionals."""
        ours = compare.dumped("schedules")["piecewise"]
        with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
            rate = schedule(DECAYS["piecewise"])
            session.run("init")
            for step in range(ours.steps):
                session.run("count")
                self.assertAlmostEqual(ours.values[ours.fetches[0], step][0], session.run(rate), places=7)

    def test_clipping_equals_tensorflows(self):
        compare.check(self, "schedules", "clip", clip)
