"""TensorFlow's Python client on a cluster of `sluice server`s: steps over several tasks, and what happens when one goes away."""

import threading
import unittest

import numpy as np
import tensorflow

from tests.oracle.client import clusters

tf = tensorflow.compat.v1
tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.FATAL)


class ClusterTest(unittest.TestCase):

    def setUp(self):
        super().setUp()
        tf.reset_default_graph()
        self.cluster = clusters.SluiceCluster(ps=1, worker=3)

    def tearDown(self):
        self.cluster.stop()
        super().tearDown()

    def test_devices_of_all_tasks_are_listed(self):
        with tf.Session(self.cluster.targets()[1]) as session:
            names = [d.name for d in session.list_devices()]
        self.assertEqual(sorted(names), ["/job:%s/replica:0/task:%d/device:CPU:0" % task
                                         for task in [("ps", 0), ("worker", 0), ("worker", 1), ("worker", 2)]])

    def test_a_step_runs_where_its_nodes_are(self):
        with tf.device("/job:ps/task:0"):
            v = tf.get_variable("v", initializer=[1.0, 2.0])
            add = v.assign_add([1.0, 1.0])
        with tf.device("/job:worker/task:1"):
            doubled = v * 2
        with tf.device("/job:worker/task:2"):
            total = tf.reduce_sum(doubled)
        with tf.Session(self.cluster.targets()[0]) as session:
            session.run(v.initializer)
            self.assertEqual(session.run(total), 6)
            session.run(add)
            metadata = tf.RunMetadata()
            options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)
            self.assertEqual(session.run(total, options=options, run_metadata=metadata), 10)
            self.assertEqual(len(metadata.partition_graphs), 3)
            where = {node.node_name: device.device for device in metadata.step_stats.dev_stats for node in device.node_stats}
            self.assertEqual(where["mul"], "/job:worker/replica:0/task:1/device:CPU:0")
            self.assertEqual(where["Sum"], "/job:worker/replica:0/task:2/device:CPU:0")
        with tf.Session(self.cluster.targets()[2]) as another:
            np.testing.assert_array_equal(another.run(v), [2, 3])

    def test_a_loop_over_two_tasks(self):
        def body(i, total):
            with tf.device("/job:ps/task:0"):
                total = total + tf.cast(i, tf.float32)
            with tf.device("/job:worker/task:0"):
                return i + 1, total
        with tf.device("/job:worker/task:0"):
            _, total = tf.while_loop(lambda i, t: i < 20, body, [tf.constant(0), tf.constant(0.0)])
        with tf.Session(self.cluster.targets()[0]) as session:
            self.assertEqual(session.run(total), 190)

    def test_a_fetched_variable_shows_the_updates_of_other_tasks(self):
        flag = tf.placeholder(tf.bool, [])
        for resource in (False, True):
            with tf.device("/job:ps/task:0"):
                v = tf.get_variable("v%d" % resource, initializer=0.0, use_resource=resource)
            with tf.device("/job:worker/task:1"):
                rows = tf.random_uniform([500, 500])
                slow = 1.0 + 0.0 * tf.reduce_sum(tf.matmul(rows, rows))
                add = tf.assign_add(v, slow)
                branch = tf.cond(flag, lambda: tf.identity(tf.assign_add(v, slow)), lambda: tf.constant(0.0))

            def body(i):
                with tf.device("/job:worker/task:2"), tf.control_dependencies([tf.assign_add(v, slow)]):
                    return i + 1

            loop = tf.while_loop(lambda i: i < 3, body, [0])
            with tf.device("/job:worker/task:0"):
                read = tf.identity(v)
            with tf.Session(self.cluster.targets()[0]) as session:
                session.run(v.initializer)
                for i in range(1, 6):
                    self.assertEqual(session.run([v, read, add])[:2], [i, i])
                self.assertEqual(session.run([v, loop])[0], 8)
                self.assertEqual(session.run([v, branch], {flag: True})[0], 9)
                self.assertEqual(session.run([v, branch], {flag: False})[0], 9)

    def test_what_waits_for_a_fed_placeholder_of_another_task(self):
        with tf.device("/job:ps/task:0"):
            x = tf.placeholder(tf.float32, [], name="x")
        with tf.device("/job:worker/task:1"), tf.control_dependencies([x]):
            five = tf.constant(5.0)
            loop = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
        with tf.Session(self.cluster.targets()[0]) as session:
            self.assertEqual(session.run([five, loop], {x: 1.0}), [5, 3])
            piece = session.partial_run_setup([five, loop], [x])
            self.assertEqual(session.partial_run(piece, [five, loop], {x: 1.0}), [5, 3])

    def test_errors_name_the_task(self):
        with tf.device("/job:ps/task:0"):
            bad = tf.gather(tf.constant([1, 2]), tf.placeholder(tf.int32, [], name="i"), name="bad")
        with tf.device("/job:worker/task:1"):
            after = bad + 1
        with tf.Session(self.cluster.targets()[0]) as session:
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "From /job:ps/replica:0/task:0") as raised:
                session.run(after, {"i:0": 7})
            self.assertEqual(raised.exception.op.name, "bad")
            self.assertEqual(session.run(after, {"i:0": 1}), 3)

    def test_a_step_ends_when_a_task_dies_and_a_new_session_works_when_it_is_back(self):
        with tf.device("/job:ps/task:0"):
            q = tf.FIFOQueue(1, tf.int32, shapes=[[]], shared_name="q")
            started = tf.FIFOQueue(1, tf.int32, shapes=[[]], shared_name="started")
            tell = started.enqueue(1)
            with tf.control_dependencies([tell]):
                waits = q.dequeue()
            told = started.dequeue()
            size = q.size()
        session, other = tf.Session(self.cluster.targets()[0]), tf.Session(self.cluster.targets()[1])
        ended = []

        def run():
            try:
                session.run(waits)
            except tf.errors.OpError as e:
                ended.append(e)

        thread = threading.Thread(target=run)
        thread.start()
        other.run(told)
        self.cluster.servers["ps", 0].kill()
        thread.join(60)
        self.assertEqual(len(ended), 1)
        self.assertIsInstance(ended[0], tf.errors.UnavailableError)
        self.assertIn("/job:ps/replica:0/task:0", str(ended[0]))
        self.cluster.start("ps", 0)
        with self.assertRaises((tf.errors.AbortedError, tf.errors.UnavailableError)):
            session.run(size)
        with tf.Session(self.cluster.targets()[0]) as fresh:
            self.assertEqual(fresh.run(size), 0)
        # Before their masters end, because a client's close waits for its master.
        session.close()
        other.close()


if __name__ == "__main__":
    unittest.main()
