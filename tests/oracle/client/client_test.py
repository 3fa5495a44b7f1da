"""TensorFlow's Python client, unmodified, sees on `sluice server` what it sees on TensorFlow's own server."""

import signal
import tempfile
import threading
import unittest

import tensorflow

from tests.oracle.client import branches
from tests.oracle.client import functions
from tests.oracle.client import lists
from tests.oracle.client import metadata
from tests.oracle.client import paths
from tests.oracle.client import scripts
from tests.oracle.client import servers
from tests.oracle.client import stored_datasets
from tests.oracle.client import stories
from tests.oracle.client import unknown_shapes

tf = tensorflow.compat.v1
tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.FATAL)

MODULES = [scripts, functions, lists, metadata, paths, stored_datasets, unknown_shapes]
SCRIPTS = [script for module in MODULES for script in module.SCRIPTS]
SCRIPTS_WITH_FILES = [script for module in MODULES for script in module.SCRIPTS_WITH_FILES]


def tell(script, target):
    """The story of a script on a server."""
    tf.reset_default_graph()
    tf.set_random_seed(1)
    story = stories.Story()
    if script in SCRIPTS_WITH_FILES:
        with tempfile.TemporaryDirectory() as folder:
            script(target, story, folder)
    else:
        script(target, story)
    return story


class ClientTest(stories.StoryTestCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.control = servers.TensorFlowServer()
        cls.server = servers.SluiceServer("--port=0", "--mapped_files")

    @classmethod
    def tearDownClass(cls):
        cls.server.kill()
        super().tearDownClass()

    def test_scripts(self):
        for script in SCRIPTS + SCRIPTS_WITH_FILES:
            with self.subTest(script.__name__):
                ours = tell(script, self.server.target)
                theirs = tell(script, self.control.target)
                self.assert_same_stories(theirs, ours, script.__name__)

    def test_scripts_of_two_devices(self):
        control, server = servers.TensorFlowServer(cpus=2), servers.SluiceServer("--port=0", "--cpus=2")
        self.addCleanup(server.kill)
        for script in scripts.SCRIPTS_OF_TWO_DEVICES + branches.SCRIPTS_OF_TWO_DEVICES:
            with self.subTest(script.__name__):
                self.assert_same_stories(tell(script, control.target), tell(script, server.target), script.__name__)

    def test_watches_of_the_debugger_are_rejected(self):
        tf.reset_default_graph()
        x = tf.constant(1.0) + tf.placeholder_with_default(1.0, [], name="p")
        options = tf.RunOptions()
        options.debug_options.debug_tensor_watch_opts.add(node_name="p", output_slot=0, debug_ops=["DebugIdentity"], debug_urls=["file:///nowhere"])
        with tf.Session(self.server.target) as session:
            with self.assertRaisesRegex(tf.errors.UnimplementedError, "RunOptions.debug_options"):
                session.run(x, options=options)
            self.assertEqual(session.run(x), 2)

    def test_a_watch_may_check_all_numbers(self):
        tf.reset_default_graph()
        p = tf.placeholder(tf.float32, [], name="p")
        x = tf.add(p, 1.0, name="x")
        options = tf.RunOptions()
        options.debug_options.debug_tensor_watch_opts.add(node_name="*", output_slot=-1, debug_ops=["CheckNumerics"])
        with tf.Session(self.server.target) as session:
            self.assertEqual(session.run(x, {p: 1}, options=options), 2)
            self.assertEqual(session.run(x, {p: float("inf")}), float("inf"))
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "node 'x': expected finite numbers"):
                session.run(x, {p: float("inf")}, options=options)

    def test_a_step_that_needs_an_op_of_another_program_fails_and_names_the_node(self):
        tf.reset_default_graph()
        called = tf.py_func(lambda: np.float32(1), [], tf.float32, name="called")
        other = tf.constant(2.0)
        with tf.Session(self.server.target) as session:
            for needs in (called, called.op, called + 1.0):
                with self.assertRaisesRegex(tf.errors.NotFoundError, "Op type not registered 'PyFunc'") as raised:
                    session.run(needs)
                self.assertEqual(raised.exception.op.name, "called")
            self.assertEqual(session.run(other), 2)

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
