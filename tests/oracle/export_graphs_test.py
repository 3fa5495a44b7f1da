"""Graphs that C++ built and exported, gradients included, load and run in TensorFlow, with our values."""

import glob
import os
import subprocess
import tempfile
import unittest

import numpy
import tensorflow
from tensorflow.core.framework import graph_pb2

from tests.oracle import compare
from tests.oracle import program
from tests.oracle import sluice_side
from tests.oracle import tensorflow_side

tf = tensorflow.compat.v1


def read_spec(path):
    spec = {"fetch": [], "target": [], "init": []}
    with open(path, encoding="utf-8") as file:
        for line in file:
            key, name = line.split()
            spec[key].append(name)
    return spec


def feeds_for(graph_def):
    """Values for every placeholder: unknown sizes are 3, integers below 4."""
    random = numpy.random.default_rng(5)
    feeds = {}
    for node in graph_def.node:
        if node.op != "Placeholder":
            continue
        dtype = program.type_name(node.attr["dtype"].type)
        shape = [3 if d.size < 0 else d.size for d in node.attr["shape"].shape.dim]
        value = random.integers(0, 4, shape) if dtype.startswith("int") else random.normal(size=shape)
        feeds[node.name + ":0"] = (dtype, numpy.asarray(value).astype(program.numpy_type(dtype)))
    return feeds


def run_tensorflow(graph_def, spec, feeds):
    with tf.Graph().as_default() as graph:
        tensorflow.graph_util.import_graph_def(graph_def, name="")
        operations = lambda names: [graph.get_operation_by_name(n) for n in names]
        with tf.Session(graph=graph, config=tensorflow_side.config()) as session:
            session.run(operations(spec["init"]))
            values, _ = session.run([spec["fetch"], operations(spec["target"])],
                                    {name: value for name, (_, value) in feeds.items()})
    return [numpy.asarray(v, object) if isinstance(v, bytes) else numpy.asarray(v) for v in values]


def run_sluice(runner, graph_def, spec, feeds):
    request = runner.request_class(graph_def=graph_def.SerializeToString())
    if spec["init"]:
        request.run.add(target=spec["init"])
    run = request.run.add(fetch=spec["fetch"], target=spec["target"])
    for name, (dtype, value) in feeds.items():
        run.feed.add(name=name, tensor=program.tensor_proto(value, dtype).SerializeToString())
    answer = runner.ask(request)
    failed = sluice_side.failed(answer)
    if failed:
        raise AssertionError("Sluice: %s" % sluice_side.status_failure(failed))
    return [sluice_side.read_tensor(t) for t in answer.run[-1].tensor]


class ExportedGraphs(unittest.TestCase):

    def test_run_in_tensorflow(self):
        runner = sluice_side.Runner()
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([os.path.join(sluice_side.ROOT, "tests/oracle/export_graphs"), folder], check=True)
            paths = sorted(glob.glob(folder + "/*.pb"))
            self.assertGreaterEqual(len(paths), 9)
            for path in paths:
                with self.subTest(os.path.basename(path)[:-3]):
                    self.check(runner, path)
        runner.stop()

    def check(self, runner, path):
        with open(path, "rb") as file:
            graph_def = graph_pb2.GraphDef.FromString(file.read())
        spec = read_spec(path[:-3] + ".txt")
        feeds = feeds_for(graph_def)
        theirs = run_tensorflow(graph_def, spec, feeds)
        ours = run_sluice(runner, graph_def, spec, feeds)
        for name, a, b in zip(spec["fetch"], ours, theirs):
            complaint = compare.arrays(a, b, 1e-5)
            self.assertIsNone(complaint, "%s: %s" % (name, complaint))


def branches_in_tensorflow(feeds):
    """[z and its gradients] of SecondGradientsOfBranches, differentiated by TensorFlow, for each of the feeds."""
    with tf.Graph().as_default():
        x, scale = tf.placeholder(tf.float64, [3]), tf.placeholder(tf.float64, [])
        inner = lambda: tf.cond(scale > 1.0, lambda: tf.exp(x * scale), lambda: tf.square(x) * scale)
        y = tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.square(x) * x * scale, inner)
        first = tf.gradients(y, [x, scale])
        z = tf.reduce_sum(tf.square(first[0])) + tf.square(first[1]) + tf.reduce_sum(y * y)
        fetches = [z] + tf.gradients(z, [x, scale])
        with tf.Session(config=tensorflow_side.config()) as session:
            return [session.run(fetches, {x: a, scale: b}) for a, b in feeds]


class SecondGradients(unittest.TestCase):

    def test_of_branches(self):
        feeds = [(numpy.array(x), numpy.array(scale)) for x, scale in (
            ([0.5, -0.25, 1.5], 0.75), ([-0.5, 0.25, -1.5], 1.25), ([-0.5, 0.25, -1.5], 0.75))]
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([os.path.join(sluice_side.ROOT, "tests/oracle/export_graphs"), folder], check=True)
            with open(folder + "/second_gradients_of_branches.pb", "rb") as file:
                graph_def = graph_pb2.GraphDef.FromString(file.read())
            spec = read_spec(folder + "/second_gradients_of_branches.txt")
        runner = sluice_side.Runner()
        run = lambda x, scale: run_sluice(runner, graph_def, spec, {"x:0": ("double", x), "scale:0": ("double", scale)})
        tf.disable_control_flow_v2()
        for (x, scale), theirs in zip(feeds, branches_in_tensorflow(feeds)):
            ours = run(x, scale)
            for a, b in zip(ours, theirs):
                numpy.testing.assert_allclose(a, b, rtol=1e-9)
            h = 1e-6
            for i in range(3):
                d = h * numpy.eye(3)[i]
                self.assertAlmostEqual((run(x + d, scale)[0] - run(x - d, scale)[0]) / (2 * h), ours[1][i],
                                       delta=1e-5 * (1 + abs(ours[1][i])))
            by_scale = (run(x, scale + h)[0] - run(x, scale - h)[0]) / (2 * h)
            self.assertAlmostEqual(by_scale, ours[2], delta=1e-5 * (1 + abs(ours[2])))
        runner.stop()
