"""TensorFlow's Python client, unmodified, sees on `sluice server` what it sees on TensorFlow's own server."""

import signal
import tempfile
import threading
import unittest

import numpy as np
import tensorflow

from tests.oracle.client import scripts
from tests.oracle.client import servers

tf = tensorflow.compat.v1
tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.FATAL)


def tell(script, target):
    """The story of a script on a server."""
    tf.reset_default_graph()
    tf.set_random_seed(1)
    story = scripts.Story()
    if script in scripts.SCRIPTS_WITH_FILES:
        with tempfile.TemporaryDirectory() as folder:
            script(target, story, folder)
    else:
        script(target, story)
    return story


class ClientTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.control = servers.TensorFlowServer()
        cls.server = servers.SluiceServer()

    @classmethod
    def tearDownClass(cls):
        cls.server.kill()
        super().tearDownClass()

    def assert_same(self, theirs, ours, where):
        self.assertEqual(type(theirs), type(ours), where)
        if isinstance(theirs, (list, tuple)):
            self.assertEqual(len(theirs), len(ours), where)
            for i, (a, b) in enumerate(zip(theirs, ours)):
                self.assert_same(a, b, "%s[%d]" % (where, i))
        elif isinstance(theirs, (np.ndarray, np.generic)) and theirs.dtype.kind in "fc":
            self.assertEqual((theirs.dtype, theirs.shape), (ours.dtype, ours.shape), where)
            np.testing.assert_allclose(theirs, ours, rtol=1e-5, atol=1e-5, err_msg=where)
        elif isinstance(theirs, (np.ndarray, np.generic)):
            self.assertEqual((theirs.dtype, theirs.shape), (ours.dtype, ours.shape), where)
            np.testing.assert_array_equal(theirs, ours, err_msg=where)
        else:
            self.assertEqual(theirs, ours, where)

    def test_scripts(self):
        for script in scripts.SCRIPTS + scripts.SCRIPTS_WITH_FILES:
            with self.subTest(script.__name__):
                ours = tell(script, self.server.target)
                theirs = tell(script, self.control.target)
                self.assertEqual([label for label, _ in theirs], [label for label, _ in ours])
                for (label, their_value), (_, our_value) in zip(theirs, ours):
                    self.assert_same(their_value, our_value, "%s: %s" % (script.__name__, label))

    def test_a_server_that_is_told_to_stop_ends_the_steps_that_wait(self):
        server = servers.SluiceServer()
        tf.reset_default_graph()
        q = tf.FIFOQueue(1, tf.int32, shapes=[[]])
        started = tf.FIFOQueue(1, tf.int32, shapes=[[]])
        with tf.control_dependencies([started.enqueue(1)]):
            item = q.dequeue()
        told = started.dequeue()
        ended = []

        def run():
            try:
                session.run(item)
            except tf.errors.OpError as e:
                ended.append(type(e))

        # With a timeout, because a client's calls wait for a server that has ended.
        session = tf.Session(server.target, config=tf.ConfigProto(operation_timeout_in_ms=10000))
        thread = threading.Thread(target=run)
        thread.start()
        session.run(told)
        server.process.send_signal(signal.SIGTERM)
        self.assertEqual(server.process.wait(60), 0)
        thread.join(60)
        self.assertEqual(len(ended), 1)
        self.assertIn(ended[0], (tf.errors.UnavailableError, tf.errors.CancelledError, tf.errors.AbortedError))
        try:
            session.close()
        except tf.errors.OpError:
            pass

    def test_an_address_that_others_reach_needs_the_flag(self):
        with self.assertRaises(RuntimeError):
            servers.SluiceServer("--port=0", "--bind=0.0.0.0")
        server = servers.SluiceServer("--port=0", "--bind=0.0.0.0", "--insecure")
        self.assertEqual(server.stop(), 0)


if __name__ == "__main__":
    unittest.main()
