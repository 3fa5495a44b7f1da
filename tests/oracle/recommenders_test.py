"""The recommenders of demos/recommenders, exported with their training ops, give TensorFlow's loss and gradients in the first step."""

import os
import re
import subprocess
import tempfile
import unittest

import numpy
from tensorflow.core.framework import graph_pb2

from tests.oracle import compare
from tests.oracle import export_graphs_test
from tests.oracle import sluice_side

BATCH = 32


def feed_value(random, spec):
    """(type name, value) of a feed of the manifest: f32:32x13:normal, i64:32:zipf(1000)."""
    dtype, dims, law = spec.split(":")
    shape = [int(d) for d in dims.split("x")]
    if law == "normal":
        value = random.normal(size=shape)
    else:
        value = random.integers(0, int(re.search(r"\((\d+)\)", law).group(1)), shape)
    name, numpy_type = {"f32": ("float", numpy.float32), "i64": ("int64", numpy.int64)}[dtype]
    return name, value.astype(numpy_type)


def gradients(graph_def):
    """The tensors that the updates of all variables get: gradients, and the rows of sparse ones."""
    found = []
    for node in graph_def.node:
        if node.op == "ResourceApplyAdagrad":
            found.append(node.input[3])
        elif node.op == "ResourceSparseApplyAdagrad":
            found += node.input[3:5]
    return [name if ":" in name else name + ":0" for name in found]


class Recommenders(unittest.TestCase):

    def test_first_step(self):
        runner = sluice_side.Runner()
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(sluice_side.ROOT, "demos/recommenders/recommender")
            subprocess.run([program, "--export_graphs=" + folder, "--batch=%d" % BATCH], check=True)
            with open(folder + "/recommenders.tsv", encoding="utf-8") as file:
                cases = [line.rstrip("\n").split("\t") for line in file]
            self.assertEqual(len(cases), 8)
            for case in cases:
                with self.subTest(case[2]):
                    self.check(runner, folder, case)
        runner.stop()

    def check(self, runner, folder, case):
        with open(os.path.join(folder, case[3]), "rb") as file:
            graph_def = graph_pb2.GraphDef.FromString(file.read())
        random = numpy.random.default_rng(3)
        feeds = {name: feed_value(random, spec) for name, spec in (feed.split("=") for feed in case[5].split(";"))}
        fetches = [case[6]] + gradients(graph_def)
        self.assertGreater(len(fetches), 8)
        spec = {"init": [case[4]], "fetch": fetches, "target": [case[7]]}
        theirs = export_graphs_test.run_tensorflow(graph_def, spec, feeds)
        ours = export_graphs_test.run_sluice(runner, graph_def, spec, feeds)
        self.assertGreater(theirs[0], 0.1)
        for name, a, b in zip(fetches, ours, theirs):
            complaint = compare.arrays(a, b, 1e-5)
            self.assertIsNone(complaint, "%s: %s" % (name, complaint))
