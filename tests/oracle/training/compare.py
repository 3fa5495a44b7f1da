"""Compares graphs that C++ built and ran (dump.cc) with those built by TensorFlow's Python: nodes,
collections, values."""

import functools
import os
import subprocess
import tempfile

import numpy
import tensorflow

from tests.oracle import tensorflow_side

tf = tensorflow.compat.v1
tf.disable_v2_behavior()
tf.disable_control_flow_v2()
DUMP = os.path.join(os.environ.get("SLUICE_ORACLE_ROOT", ""), "tests/oracle/training/dump")
# Attributes without influence on a node, or that only one side writes.
IGNORED = {"_output_shapes", "_XlaSharding", "_has_manual_control_dependencies", "debug_name"}


class Dumped:
    """The program's output for one graph."""

    def __init__(self, folder, name):
        self.graph = tf.GraphDef()
        with open(os.path.join(folder, name + ".pb"), "rb") as file:
            self.graph.ParseFromString(file.read())
        self.init, self.targets, self.after, self.fetches, self.facts = [], [], [], [], []
        self.collections, self.values, self.steps = {}, {}, 0
        lists = {"init": self.init, "target": self.targets, "after": self.after, "fetch": self.fetches}
        with open(os.path.join(folder, name + ".txt"), encoding="utf-8") as file:
            for text in file:
                key, _, rest = text.rstrip("\n").partition(" ")
                if key in lists:
                    lists[key].append(rest)
                elif key == "steps":
                    self.steps = int(rest)
                elif key == "fact":
                    self.facts.append(rest)
                elif key == "collection":
                    names = rest.split(" ")
                    self.collections[names[0]] = names[1:]
                elif key == "value":
                    step, fetch, *numbers = rest.split(" ")
                    self.values[self.fetches[int(fetch)], int(step)] = numpy.array([float(n) for n in numbers])


@functools.lru_cache
def dumped(subject):
    """Name -> Dumped, of all graphs of a subject."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([DUMP, subject, folder], capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0:
            raise AssertionError("dump %s: exit %d\n%s" % (subject, done.returncode, done.stderr[-5000:]))
        names = sorted(f[:-3] for f in os.listdir(folder) if f.endswith(".pb"))
        return {name: Dumped(folder, name) for name in names}


def attribute_text(key, value):
    """A tensor by its values, because equal tensors can be encoded in two ways."""
    if value.HasField("tensor"):
        array = tf.make_ndarray(value.tensor)
        return "%s=%s%s%s" % (key, array.dtype, array.shape, array.reshape(-1).tolist())
    return "%s=%s" % (key, str(value).replace("\n", " "))


def node_text(node):
    data = [i for i in node.input if not i.startswith("^")]
    controls = sorted(i for i in node.input if i.startswith("^"))
    attributes = " ".join(attribute_text(k, node.attr[k]) for k in sorted(node.attr) if k not in IGNORED)
    return "%s = %s(%s) @%s %s" % (node.name, node.op, ", ".join(data + controls), node.device, attributes)


def difference(expected, found):
    """Lines of only one side, TensorFlow's with '-'. Empty if the graphs are equal."""
    theirs, ours = {node_text(n) for n in expected.node}, {node_text(n) for n in found.node}
    return "".join("\n- " + line for line in sorted(theirs - ours)) + "".join("\n+ " + line for line in sorted(ours - theirs))


def reference_values(graph, ours):
    """The values of TensorFlow's session for the dump's init, targets and fetches, by (fetch,
    step)."""
    values = {}
    op = graph.get_operation_by_name
    with tf.Session(graph=graph, config=tensorflow_side.config()) as session:
        for name in ours.init:
            session.run(op(name))
        for step in range(ours.steps):
            session.run([op(name) for name in ours.targets])
            session.run([op(name) for name in ours.after])
            for name, value in zip(ours.fetches, session.run(ours.fetches)):
                values[name, step] = numpy.asarray(value, numpy.float64).reshape(-1)
    return values


def check_values(case, expected, ours, rtol=1e-5):
    case.assertEqual(set(expected), set(ours.values))
    check_close(case, expected, ours, rtol)


def check_close(case, expected, ours, rtol=1e-5):
    """Checks the relative difference of each number. Numbers that are differences of larger ones
    are compared with a tenth of the tensor's largest."""
    case.assertGreater(len(expected), 0)
    largest = {}
    for (fetch, _), value in expected.items():
        largest[fetch] = max(largest.get(fetch, 0), numpy.abs(value).max(initial=0))
    for (fetch, step), value in expected.items():
        numpy.testing.assert_allclose(ours.values[fetch, step], value, rtol=rtol, atol=0.1 * rtol * largest[fetch],
                                      err_msg="%s in step %d" % (fetch, step))


def variables_by_collection(graph):
    """Names by collection, for the collections of variables."""
    found = {}
    for key in graph.get_all_collection_keys():
        names = [v.name for v in graph.get_collection(key) if isinstance(v, tf.Variable)]
        if isinstance(key, str) and names:
            found[key] = names
    return found


def check(case, subject, name, build, **tolerance):
    """Builds with `build()`, which returns facts, and compares everything. `tolerance`: of the values."""
    ours = dumped(subject)[name]
    with tf.Graph().as_default() as graph:
        facts = build() or []
    text = difference(graph.as_graph_def(), ours.graph)
    case.assertEqual(text, "", "nodes of %s, '-' TensorFlow's:%s" % (name, text))
    for key, names in variables_by_collection(graph).items():
        case.assertEqual(names, ours.collections.get(key), "collection '%s'" % key)
    case.assertEqual(sorted(facts), sorted(ours.facts))
    check_values(case, reference_values(graph, ours), ours, **tolerance)
