"""Training graphs exported by TensorFlow run 20 steps in `sluice run` to TensorFlow's values, with and without each pass."""

import os
import subprocess
import tempfile
import unittest

import numpy
import tensorflow
from google.protobuf import text_format

from tests.oracle import training_graphs

# Passes that preserve bits, without those that may change the order of sums.
EXACT_PASSES = ("fold_constants", "simplify", "join_pads", "common_subexpressions", "unused_nodes", "defer_adam",
                "tile_updates", "fuse_elementwise")
OTHER_PASSES = ("choose_layout", "fold_transposes", "fuse_attention", "narrow_products", "pack_operands", "accumulate_sums",
                "all")
SLUICE = os.path.join(os.environ.get("SLUICE_ORACLE_ROOT", ""), "tools/sluice")


def write_graph(graph, path, form):
    """GraphDef or MetaGraphDef, binary or text."""
    message = graph.graph_def()
    if form.startswith("meta"):
        message = tensorflow.compat.v1.train.export_meta_graph(graph=graph.graph)
    with open(path, "wb") as file:
        file.write(text_format.MessageToString(message).encode() if form.endswith("text") else message.SerializeToString())


def run_sluice(graph, folder, form, without=""):
    path = lambda name: os.path.join(folder, name)
    write_graph(graph, path("graph"), form)
    numpy.savez(path("feeds.npz"), **{name + "#steps": rows for name, rows in graph.feeds.items()})
    done = subprocess.run(
        [SLUICE, "run", path("graph"), "--feeds", path("feeds.npz"), "--fetches", ",".join(graph.fetches), "--targets",
         ",".join(graph.targets), "--init", ",".join(graph.init), "--steps", str(training_graphs.STEPS), "--out",
         path("out.npz"), "--without_passes", without], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise AssertionError("sluice run: exit %d\n%s%s" % (done.returncode, done.stdout[-2000:], done.stderr[-2000:]))
    with numpy.load(path("out.npz")) as out:
        return {name: out[name + "#steps"] for name in graph.fetches}


class TrainingGraphs(unittest.TestCase):

    def check(self, function, form):
        graph = training_graphs.build(function)
        expected = graph.run()
        with tempfile.TemporaryDirectory() as folder:
            found = run_sluice(graph, folder, form)
        for name in graph.fetches:
            with self.subTest(name):
                numpy.testing.assert_allclose(found[name], expected[name], rtol=1e-4, atol=2e-6)

    def check_passes(self, function):
        graph = training_graphs.build(function)
        with tempfile.TemporaryDirectory() as folder:
            expected = run_sluice(graph, folder, "binary")
            for name in EXACT_PASSES + OTHER_PASSES:
                found = run_sluice(graph, folder, "binary", name)
                for fetch in graph.fetches:
                    with self.subTest(without=name, fetch=fetch):
                        if name in EXACT_PASSES:
                            numpy.testing.assert_array_equal(found[fetch], expected[fetch])
                        else:
                            most = numpy.abs(expected[fetch]).max(initial=0)
                            numpy.testing.assert_allclose(found[fetch], expected[fetch], rtol=1e-6, atol=1e-6 * most)


def add_tests():
    forms = ("binary", "text", "meta binary", "meta text")
    for i, function in enumerate(training_graphs.GRAPHS):
        form = forms[i % len(forms)]
        setattr(TrainingGraphs, "test_" + function.__name__, lambda self, f=function, form=form: self.check(f, form))
        setattr(TrainingGraphs, "test_passes_" + function.__name__, lambda self, f=function: self.check_passes(f))


add_tests()
