"""docs/from_tensorflow1.md: its commands run with TensorFlow's Python, and the names in its tables exist."""

import os
import re
import subprocess
import sys
import unittest

import tensorflow.compat.v1 as tf

PAGE = "docs/from_tensorflow1.md"
NAMES = "docs/samples/from_tensorflow1_names.cc"
# TensorFlow 1.15 has these, and the TensorFlow of the tests does not.
REMOVED = {"tf.layers.dense", "tf.layers.conv2d", "tf.layers.batch_normalization", "tf.nn.rnn_cell.LSTMCell", "tf.estimator.Estimator"}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def rows():
    """The cells of the tables that compare names."""
    return re.findall(r"(?m)^\| (`tf\..*?) \| (.*) \|$", read(PAGE))


class FromTensorFlow1Test(unittest.TestCase):

    def test_commands(self):
        # `python` on the page is the one with TensorFlow.
        path = os.path.dirname(sys.executable) + ":" + os.environ["PATH"]
        run = subprocess.run(["/usr/bin/python3", "docs/run_commands.py", PAGE], env=dict(os.environ, PATH=path),
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stdout)

    def test_names_of_tensorflow(self):
        names = {name for left, _ in rows() for name in re.findall(r"`(tf\.[\w.]+)`", left)}
        self.assertGreater(len(names), 60)
        for name in sorted(names - REMOVED):
            at = tf
            for part in name.split(".")[1:]:
                self.assertTrue(hasattr(at, part), name)
                at = getattr(at, part)

    def test_names_of_sluice_are_compiled(self):
        names = {name for _, right in rows() for name in re.findall(r"`([A-Za-z0-9_:]+)`", right)}
        members = {"%s::%s" % pair for pair in re.findall(r"(?m)^MEMBER\((\w+), (\w+)\)", read(NAMES))}
        self.assertEqual(names, set(re.findall(r"(?m)^NAME\(([\w:]+)\)", read(NAMES))) | members)


if __name__ == "__main__":
    unittest.main()
