"""Tensors kept in the session between steps."""

from tests.oracle.table import *

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


def kept(b):
    """Tests only the handle. ops/staging/session_handle_test.cc tests that later steps find the
    tensor: TensorFlow's Python deletes it as soon as the handle is not referenced."""
    b.run(fetches=[b.op("GetSessionHandle", b.input(rand(2, 3)))], compare="shapes")


def by_resource(b):
    handle = b.op("GetSessionHandleV2", b.input(rand(2)))
    b.run(targets=[handle])


def unknown_handles(b):
    bad = b.input(values("x;7;" + CPU, "string"))
    b.run(fetches=[b.op("GetSessionTensor", bad, dtype="float")], error=True, says="is not in the session store")
    b.run(targets=[b.op("DeleteSessionTensor", bad)], error=True, says="is not|in the session store")
    vector = b.hidden(values(["a", "b"], "string"))
    b.run(fetches=[b.op("GetSessionTensor", vector, dtype="float")], error=True, code="INVALID_ARGUMENT", says="scalar")


TYPES = ("float", "double", "half", "bfloat16", "int32", "int64", "uint8", "bool", "complex64", "string")

ROWS = [
    Row("GetSessionHandle", build=kept, types={"T": TYPES}),
    Row("GetSessionHandleV2", build=by_resource, types={"T": TYPES}),
    Row("GetSessionTensor", build=unknown_handles, types=[{}]),
    Row("DeleteSessionTensor", build=unknown_handles),
]
