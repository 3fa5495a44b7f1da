"""Serialised Examples into dense, sparse and ragged tensors."""

from tensorflow.core.example import example_pb2
from tensorflow.core.example import feature_pb2

from tests.oracle.table import *


def example(**features):
    made = {}
    for name, v in features.items():
        if v is None:
            made[name] = feature_pb2.Feature()
        elif isinstance(v[0], bytes):
            made[name] = feature_pb2.Feature(bytes_list=feature_pb2.BytesList(value=v))
        elif isinstance(v[0], float):
            made[name] = feature_pb2.Feature(float_list=feature_pb2.FloatList(value=v))
        else:
            made[name] = feature_pb2.Feature(int64_list=feature_pb2.Int64List(value=v))
    return example_pb2.Example(features=feature_pb2.Features(feature=made)).SerializeToString()


FULL = example(a=[1.0, 2.0], b=[3], c=[b"x", b""], d=[5, 6, 7])
LESS = example(a=[4.0, 5.0], b=[9], c=[b"yz"])
FEW = example(a=[6.0])
NONE = example()
EMPTY = example(a=None, b=[1])


def v2(serialized, dense=(), sparse=(), ragged=(), names=(), **more):
    """dense: (key, type, shape, default); sparse: (key, type); ragged: (key, value type, split type)."""
    strings = lambda texts: values(numpy.array(list(texts), object), "string")
    return C(values(serialized, "string"), strings(names), strings([k for k, *_ in sparse]), strings([k for k, *_ in dense]),
             strings([k for k, *_ in ragged]), [values(d, t) for _, t, _, d in dense], num_sparse=len(sparse),
             sparse_types=[t for _, t in sparse], ragged_value_types=[t for _, t, _ in ragged],
             ragged_split_types=[s for _, _, s in ragged], dense_shapes=[s for _, _, s, _ in dense],
             Tdense=[t for _, t, _, _ in dense], variants=("known", "unknown"), **more)


def v1(serialized, dense=(), sparse=(), names=(), **more):
    return C(values(serialized, "string"), values(numpy.array(list(names), object), "string"), [values(k, "string") for k, _ in sparse],
             [values(k, "string") for k, *_ in dense], [values(d, t) for _, t, _, d in dense], Nsparse=len(sparse), Ndense=len(dense),
             sparse_types=[t for _, t in sparse], dense_shapes=[s for _, _, s, _ in dense], Tdense=[t for _, t, _, _ in dense],
             variants=("known", "unknown"), **more)


def single(serialized, dense=(), sparse=(), **more):
    return C(values(serialized, "string"), [values(d, t) for _, t, _, d in dense], num_sparse=len(sparse), sparse_keys=[k for k, _ in sparse],
             dense_keys=[k for k, *_ in dense], sparse_types=[t for _, t in sparse], dense_shapes=[s for _, _, s, _ in dense],
             Tdense=[t for _, t, _, _ in dense], variants=("known", "unknown"), **more)


A = ("a", "float", [2], [])
B = ("b", "int64", [], [])
C_ = ("c", "string", [-1], [b"pad"])
VAR = ("a", "float", [-1], [9.0])
PAIRS = ("d", "int64", [-1, 3], [0])
SPARSE = (("a", "float"), ("c", "string"), ("d", "int64"), ("none", "float"))
RAGGED = (("a", "float", "int32"), ("c", "string", "int64"), ("d", "int64", "int32"))
# With dense features: if two features request one key, TensorFlow returns only one of them.
REST = (("c", "string"), ("none", "float"))
MANY = (("d", "int64", "int32"), ("zz", "float", "int64"))
BAD = (
    ([FULL], dict(dense=[("b", "float", [1], [])]), "Name: <unknown>, Key: b, Index: 0.  Data types don't match. Data type: int64 but expected type: float"),
    ([FULL], dict(dense=[("b", "float", [1], [])], names=["nm"]), "Name: nm, Key: b, Index: 0.  Data types"),
    ([LESS, FULL], dict(sparse=[("b", "float")]), "Key: b, Index: .*  Data types don't match. Expected type: float, Actual type: int64"),
    ([FULL], dict(dense=[("a", "float", [3], [])]), "Number of float values != expected.  Values size: 2 but output shape: \\[3\\]"),
    ([FULL], dict(dense=[("zz", "float", [3], [])]), "Name: <unknown>, Feature: zz \\(data type: float\\) is required but could not be found."),
    ([EMPTY], dict(dense=[A]), "Feature: a \\(data type: float\\) is required"),
    ([FULL], dict(dense=[A], names=["x", "y"]), "Expected names have the same shape as serialized: name.shape=\\[2\\], serialized.shape=\\[1\\]"),
    ([FULL], dict(dense=[("a", "float", [2], [1.0, 2, 3])]), "def_value\\[0\\].shape\\(\\) == \\[3\\] is not compatible with dense_shapes_\\[0\\] == \\[2\\]"),
    ([FULL], dict(dense=[("d", "int64", [-1, 2], [9])]), "not a multiple of stride length. Saw 3 values but output shape is: \\[\\?,2\\]"),
    ([FULL], dict(dense=[("a", "float", [-1], [1.0, 2])]), "therefore def_value\\[0\\] must contain a single element"),
)
ROWS = [
    Row("ParseExampleV2", cases=[
        v2([FULL, LESS], [A, B]), v2([FULL, NONE], [("a", "float", [2], [7.0, 8])]), v2([FULL, FEW, NONE], [VAR, C_]), v2([FULL, NONE], [PAIRS]),
        v2([FULL, NONE, LESS, EMPTY], sparse=SPARSE), v2([FULL, NONE, LESS], ragged=RAGGED), v2([FULL, LESS], [A, B], REST, MANY, ["n", "m"]),
        v2(FULL, [A, B], REST, MANY), v2(NONE, [VAR], REST, MANY), v2(numpy.empty([0], object), [A], REST, MANY)],
        errors=[v2(s, says=says, **k) for s, k, says in BAD] + [v2([FULL], ragged=[("b", "float", "int64")], says="Expected type: float, Actual type: int64")]),
    Row("ParseExample", cases=[
        v1([FULL, LESS], [A, B]), v1([FULL, FEW, NONE], [VAR, PAIRS], REST), v1([FULL, LESS], [A], REST, ["n", "m"]), v1(numpy.empty([0], object), [A], REST)],
        errors=[v1(s, says=says, **k) for s, k, says in BAD] + [v1(FULL, [A], says="Shape must be rank 1|to be a vector")]),
    Row("ParseSingleExample", cases=[
        single(FULL, [A, B, C_]), single(FULL, [VAR, PAIRS], REST), single(NONE, [VAR, ("b", "int64", [2], [7, 8])], REST)],
        errors=[single(FULL, [("b", "float", [1], [])], says="Key: b.  Data types don't match. Data type: int64 but expected type: float"),
                single(FULL, [("a", "float", [1], [])], says="Key: a.  "),
                single(FULL, [("x", "float", [1], [])], says="Feature: x \\(data type: float\\) is required but could not be found."),
                single([FULL], [A], says="rank 0|to be a scalar")]),
]
