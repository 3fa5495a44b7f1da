"""Ops of old graphs, of files and of graphs that TensorFlow rewrote."""

import os
import tempfile

import numpy

from tests.oracle.table import *

REMOVED = "is not available in GraphDef version [0-9]+. It has been removed in version "


def file_of(data):
    """The path of a file with these bytes, which stays as long as the program."""
    if data not in file_of.paths:
        if file_of.folder is None:
            file_of.folder = tempfile.TemporaryDirectory()
        path = os.path.join(file_of.folder.name, "region%d" % len(file_of.paths))
        with open(path, "wb") as file:
            file.write(data)
        file_of.paths[data] = path
    return file_of.paths[data]


file_of.folder, file_of.paths = None, {}


def immutable(b):
    dtype = b.types["dtype"]
    size = 1 if dtype == "bool" else numpy.dtype({"half": "float16", "bfloat16": "int16"}.get(dtype, dtype)).itemsize
    for shape in ((2, 3), (), (4,)):
        # Small numbers as bytes of any type.
        data = bytes([1, 0, 0, 0, 0, 0, 0, 0] * 16)[:size * int(numpy.prod(shape))]
        b.run(fetches=[b.op("ImmutableConst", dtype=dtype, shape=list(shape), memory_region_name=file_of(data))])


def immutable_errors(b):
    # For a file that is too short, TensorFlow crashes in debug builds and reads beyond it in
    # others.
    missing = b.op("ImmutableConst", dtype="float", shape=[2], memory_region_name="/nonexistent/region")
    b.run(fetches=[missing], error=True, says="/nonexistent/region")
    text = b.op("ImmutableConst", dtype="string", shape=[2], memory_region_name=file_of(bytes(8)))
    b.run(fetches=[text], error=True, says="string|STRING")


def parallel_concat(b):
    """The ops that replace ParallelConcat: each part writes its row."""
    dtype = b.types["T"]
    rows = b.op("_ParallelConcatStart", shape=[2, 3], dtype=dtype)
    first = b.op("_ParallelConcatUpdate", rows, b.input(rand(1, 3)), loc=0)
    b.run(fetches=[b.op("_ParallelConcatUpdate", first, b.input(rand(1, 3)), loc=1)])
    again = b.op("_ParallelConcatStart", shape=[2, 3], dtype=dtype)
    whole = b.op("_ParallelConcatUpdate", b.op("_ParallelConcatUpdate", again, b.input(rand(1, 3)), loc=1), b.input(rand(1, 3)), loc=-2)
    b.run(fetches=[whole])


def argument(b):
    """_Arg and _Retval are for internal use. In a user's graph, _Arg has a value only if it is fed.
    """
    x = b.op("_Arg", index=0)
    y = b.op("Identity", x)
    b.run(fetches=[y], feeds={x[0]: [1, 2]})
    b.run(fetches=[y], feeds={}, error=True, says="_Arg node '.*/_Arg'|GetArg")


def result(b):
    r = b.op("_Retval", b.input(rand(2)), index=0)
    b.run(targets=[r], error=True, says="_Retval node '.*/_Retval'|SetRetval")


NOW = 2474  # a version without them

ROWS = [
    Row("ImmutableConst", build=immutable, types={"dtype": PLAIN}),
    Row("ImmutableConst", build=immutable_errors, types={"dtype": ("float",)}, name="errors"),
    Row("_ParallelConcatStart", build=parallel_concat, types=[{"T": "float"}]),
    Row("_ParallelConcatUpdate", build=parallel_concat),
    Row("PlaceholderV2", errors=[C(shape=[2], dtype="float", says=REMOVED + "23")], producer=NOW),
    Row("TileGrad", errors=[C(rand(2, 3), [1, 1], types={"T": "float"}, says=REMOVED + "3")], producer=NOW),
    Row("GraphDefVersion", cases=[C()]),
    Row("_Arg", build=argument, types={"T": ("float",)}),
    Row("_Retval", build=result, types={"T": ("float",)}),
]
