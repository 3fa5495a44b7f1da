"""Several tasks fail in one step: the error is that of TensorFlow's master, on TensorFlow's servers and on ours.

Whether the error of one task cancels the other one in time is a race on both. So steps are repeated until both tasks have failed by themselves.
TensorFlow needs two steps at the most in nine of ten cases.
"""

import re
import threading
import unittest

import tensorflow

from tests.oracle.client import clusters

tf = tensorflow.compat.v1
tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.FATAL)

STEPS = 200
TASKS = "From /job:worker/replica:0/task:0:", "From /job:worker/replica:0/task:1:"


def error_of_closed_queues(target, name):
    """The error of a step that waits at a queue on each of two tasks, when both queues are closed."""
    takes, closes, begun = [], [], []
    with tf.Graph().as_default():
        for task in (0, 1):
            with tf.device("/job:worker/task:%d" % task):
                queue = tf.FIFOQueue(1, tf.int32, [[]], shared_name="%s%d" % (name, task), name="queue%d" % task)
                signal = tf.FIFOQueue(1, tf.int32, [[]], shared_name="%s_begun%d" % (name, task))
                with tf.control_dependencies([signal.enqueue(1)]):
                    takes.append(queue.dequeue(name="take%d" % task).op)
                closes.append(queue.close())
                begun.append(signal.dequeue())
        raised = []

        def run(session):
            try:
                session.run(takes)
            except tf.errors.OpError as e:
                raised.append(e)

        with tf.Session(target) as waiting, tf.Session(target) as closing:
            thread = threading.Thread(target=run, args=(waiting,))
            thread.start()
            closing.run(begun)
            closing.run(closes)
            thread.join()
    return raised[0]


class GroupedErrorsTest(unittest.TestCase):

    def check(self, cluster):
        for i in range(STEPS):
            error = error_of_closed_queues(cluster.target("ps", 0), "q%d_" % i)
            self.assertIsInstance(error, tf.errors.OutOfRangeError)
            names = re.findall(r"From /job:.*", error.message)
            if len(names) == 1:
                self.assertIn(names[0], TASKS)
                self.assertNotIn("====", error.message)
                continue
            listed = re.search(r"\n=====================\n(.*)\n=====================\s*$", error.message, re.S)
            self.assertTrue(listed, error.message)
            first, second = listed[1].split("OUT_OF_RANGE: ")[1:]
            for task, text in ((1, first), (0, second)):  # in descending order
                self.assertTrue(text.startswith(TASKS[task] + "\n"), error.message)
                self.assertIn("is closed and has insufficient elements (requested 1, current size 0)", text)
                self.assertIn("[[{{node take%d}}]]" % task, text)
            return
        self.fail("both tasks failed in none of %d steps" % STEPS)

    def test_tensorflow_lists_the_errors_of_both_tasks(self):
        self.check(clusters.TensorFlowCluster(ps=1, worker=2))

    def test_sluice_lists_the_errors_of_both_tasks(self):
        cluster = clusters.SluiceCluster(ps=1, worker=2)
        self.addCleanup(cluster.stop)
        self.check(cluster)


if __name__ == "__main__":
    unittest.main()
