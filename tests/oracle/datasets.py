"""Datasets in programs: pipelines built node by node, files to read, and whole graphs of tf.compat.v1.data."""

import os
import tempfile

import tensorflow

from tests.oracle import program as nodes
from tests.oracle.table import *

FOLDERS = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
FOLDER = FOLDERS


def use_folder(name):
    """Makes FOLDER the one of a file of rows: others have files of the same names."""
    global FOLDER
    FOLDER = os.path.join(FOLDERS, name)
    os.makedirs(FOLDER, exist_ok=True)


def file(name, data):
    path = os.path.join(FOLDER, name)
    with open(path, "wb") as out:
        out.write(data)
    return path


def records(name, compression, texts):
    path = os.path.join(FOLDER, name)
    with tensorflow.io.TFRecordWriter(path, tensorflow.io.TFRecordOptions(compression_type=compression)) as out:
        for text in texts:
            out.write(text)
    return path


class Pipeline:
    """Datasets of a program; each knows the types and shapes of its elements."""

    def __init__(self, b):
        self.b = b
        self.count = 0

    def op(self, name, *inputs, types=("int64",), shapes=((),), **attrs):
        attrs["Toutput_types" if name.startswith("Tensor") else "output_types"] = list(types)
        node = self.b.op(name, *inputs, output_shapes=[s if s is None else list(s) for s in shapes], **attrs)
        node.spec = (list(types), [s if s is None else list(s) for s in shapes])
        return node

    def over(self, name, dataset, *inputs, types=None, shapes=None, **attrs):
        """A dataset of the elements of another, of the same types and shapes unless they are given."""
        return self.op(name, dataset, *inputs, types=types or dataset.spec[0], shapes=shapes or dataset.spec[1], **attrs)

    def numbers(self, n, start=0, step=1):
        return self.op("RangeDataset", values(start, "int64"), values(n, "int64"), values(step, "int64"))

    def function(self, body, *types, shapes=None):
        self.count += 1
        return self.b.function("f%d" % self.count, body, *types, shapes=shapes)

    def single(self, dataset):
        """The only element, in one step."""
        return self.b.op("DatasetToSingleElement", dataset, output_types=dataset.spec[0], output_shapes=dataset.spec[1])

    def map(self, dataset, body, types=None, shapes=None, op="MapDataset", captured=(), more=(), **attrs):
        f = self.function(body, *dataset.spec[0], *[c.dtype for c in captured], shapes=dataset.spec[1] + [None] * len(captured))
        return self.over(op, dataset, list(captured), *more, types=types, shapes=shapes, f=f, Targuments=[c.dtype for c in captured], **attrs)

    def read(self, dataset, steps, error=None, make_error=None):
        """All elements, and the end."""
        types, shapes = dataset.spec
        iterator = self.b.op("IteratorV2", shared_name=self.b.name("it%d" % self.count), container="", output_types=types, output_shapes=shapes)
        self.count += 1
        self.b.run(targets=[self.b.op("MakeIterator", dataset, iterator)], error=bool(make_error), says=make_error)
        get = self.b.op("IteratorGetNext", iterator, output_types=types, output_shapes=shapes)
        for _ in range(0 if make_error else steps):
            self.b.run(fetches=[get])
        if not make_error:
            self.b.run(fetches=[get], error=True, says=error or "End of sequence")


def program(build):
    return lambda b: build(Pipeline(b))


def n64(n):
    return values(n, "int64")


def taken_over(b, graph, *tensors):
    """The nodes and functions of a graph under the prefix of the case; the tensors there."""
    graph_def = graph.as_graph_def()
    b.functions.extend(graph_def.library.function)
    for node in graph_def.node:
        node.name = b.prefix + node.name
        node.attr.pop("_class", None)
        for i, name in enumerate(node.input):
            node.input[i] = "^" + b.prefix + name[1:] if name.startswith("^") else b.prefix + name
        b.nodes.append(node)
    found = []
    for t in tensors:
        op = t.op if hasattr(t, "op") else t
        node = nodes.Node(b.prefix + op.name, [o.dtype.as_datatype_enum for o in op.outputs])
        found.append(node[t.value_index] if hasattr(t, "value_index") else node)
    return found
