"""Programs train equally on TensorFlow's server and on `sluice server`, with the installed client."""

import importlib
import tempfile
import unittest

import tensorflow

from tests.oracle.client import servers
from tests.programs import compare
from tests.programs.run import Run

tf = tensorflow.compat.v1
tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.FATAL)

# Those that need no Estimator, which TensorFlow has no longer.
PROGRAMS = ["mnist_replicas", "word2vec", "char_rnn", "gcn", "a2c", "lstm_resume"]


def train(program, target):
    tf.reset_default_graph()
    with tempfile.TemporaryDirectory() as folder:
        run = Run(target, folder, compare.STEPS)
        importlib.import_module("tests.programs." + program).train(run)
    tf.Session.reset(target)
    return run.report()


class ProgramsTest(unittest.TestCase):

    def test_losses_are_equal(self):
        control, server = servers.TensorFlowServer(), servers.SluiceServer()
        self.addCleanup(server.kill)
        for program in PROGRAMS:
            with self.subTest(program):
                theirs, ours = train(program, control.target), train(program, server.target)
                self.assertEqual(len(ours["losses"]), compare.STEPS)
                self.assertEqual(compare.differences(theirs, ours), [])


if __name__ == "__main__":
    unittest.main()
