"""Programs train alike on TensorFlow's server and on `sluice server`: those of which TensorFlow's newest client runs all parts.

tools/check_clients runs all programs, with the last client that has Estimator.
"""

import importlib
import tempfile
import unittest

import tensorflow

from tests.oracle.client import servers
from tests.programs.run import Run

tf = tensorflow.compat.v1
tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.FATAL)

PROGRAMS = ["mnist_replicas", "word2vec", "gcn"]
TOLERANCE = 1e-4


def report(program, target):
    with tf.Graph().as_default(), tempfile.TemporaryDirectory() as folder:
        run = Run(target, folder, job="localhost")
        importlib.import_module("tests.programs." + program).train(run)
        return run.report()


class ProgramsTest(unittest.TestCase):

    def test_losses_are_equal(self):
        theirs = servers.TensorFlowServer()
        for program in PROGRAMS:
            with self.subTest(program):
                ours = servers.SluiceServer()
                self.addCleanup(ours.kill)
                expected, got = report(program, theirs.target), report(program, ours.target)
                self.assertEqual(len(got["losses"]), 20)
                for a, b in zip(expected["losses"], got["losses"]):
                    self.assertAlmostEqual(a, b, delta=TOLERANCE * max(1, abs(a)))
                self.assertLess(got["losses"][-1], got["losses"][0])
                self.assertEqual(expected["results"].get("nearest words"), got["results"].get("nearest words"))


if __name__ == "__main__":
    unittest.main()
