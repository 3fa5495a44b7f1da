"""Ops of TensorFlow's debugger."""

from tests.oracle.table import *

ODD = values([[1.5, -2.0, 0.0, inf], [-inf, nan, nan, -0.0], [3.0, -1.0, inf, 7.0]])
FLOAT = ("float", "double")
REAL = ("float", "double", "int32", "uint8", "int8", "int64")
S = {"T": "float"}
A = {"tensor_name": "a:0"}

ROWS = [
    Row("Copy", cases=[C(uniform().of(2, 3)), C(uniform().of()), C(uniform().of(0, 2), tensor_name="a:0", debug_ops_spec=["DebugIdentity;file:///tmp/unused;0"])], types={"T": ("float", "string", "bool", "int32")}),
    Row("CopyHost", cases=[C(uniform().of(2, 3)), C(uniform().of())], types={"T": ("float", "string", "int64")}),
    Row("DebugIdentity", cases=[C(uniform().of(2, 3), **A), C(uniform().of(), tensor_name="a:1", device_name="/job:a/task:0")], types={"T": ("float", "string", "int32")},
        errors=[C(rand(2), tensor_name="a:b:0", types=S, says="parse tensor name"), C(rand(2), tensor_name="a:b", types=S, says="output_slot")]),
    Row("DebugIdentity", cases=[C(uniform().of(2, 3), gated_grpc=True, **A)], types={"T": "float"}, static_shapes=False, name="gated"),
    Row("DebugIdentityV2", cases=[C(uniform().of(2, 3)), C(uniform().of(), op_name="a", output_slot=0, tensor_debug_mode=2)], types={"T": ("float", "string", "int32")},
        errors=[C(rand(2), debug_urls=["grpc://nowhere"], types=S, says="Unsupported debug URL")]),
    Row("DebugIdentityV3", cases=[C(uniform().of(2, 3), **A), C(uniform().of(), tensor_name="a:1", io_of_node="b", is_input=True, io_index=1)], types={"T": ("float", "string", "int32")}, errors=[C(rand(2), tensor_name="a:b:0", types=S, says="parse tensor name")]),
    # The static shape of TensorFlow is a scalar, which is wrong.
    Row("DebugNanCount", cases=[C(ODD, **A), C(rand(0), **A), C(rand(), tensor_name="a")], types={"T": FLOAT + HALFS}, static_shapes=False, errors=[C(rand(2), types=S, says="parse tensor name"), C(rand(2), tensor_name="a:b", types=S, says="output_slot")]),
    Row("DebugNanCount", cases=[C(uniform(-3, 3).of(4), **A)], types={"T": INTS}, static_shapes=False, name="integers"),
    Row("DebugNumericSummary", cases=[C(x, **a, **A) for x in (ODD, rand(0), rand(), rand(2, 1, 3)) for a in ({}, {"lower_bound": -1.5, "upper_bound": 3.0}, {"mute_if_healthy": True})] + [C(values([nan, nan]), **A)], types={"T": FLOAT}, tol=1e-12,
        errors=[C(rand(2), tensor_name="a:b:0", types=S, says="parse tensor name")]),
    Row("DebugNumericSummary", cases=[C(uniform(-3, 3).of(4), **A), C(uniform(0, 1).of(3, 2), gated_grpc=True, **A)], types={"T": INTS + ("bool",)}, tol=1e-12, name="integers"),
    Row("DebugNumericSummaryV2", cases=[C(x, tensor_debug_mode=m, tensor_id=7) for x in (ODD, rand(0), rand(), rand(1, 2, 1, 1, 2, 1, 3)) for m in (2, 3, 4, 5, 8)], types={"T": FLOAT + HALFS, "output_dtype": FLOAT},
        errors=[C(rand(2), tensor_debug_mode=1, types=dict(S, output_dtype="float"), says="tensor debug mode"), C(rand(2), tensor_debug_mode=2, tensor_id=2**24 + 1, types=dict(S, output_dtype="float"), says="less than or equal"), C(rand(2), types=dict(S, output_dtype="float"), says="tensor debug mode")]),
    Row("DebugNumericSummaryV2", cases=[C(uniform(-3, 3).of(4), tensor_debug_mode=m) for m in (3, 4)], types={"T": INTS + ("bool",), "output_dtype": "double"}, name="integers"),
]
