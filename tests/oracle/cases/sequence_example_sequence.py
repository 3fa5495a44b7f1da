"""Serialised SequenceExamples: features of the context, and lists of features."""

from tensorflow.core.example import example_pb2
from tensorflow.core.example import feature_pb2

from tests.oracle.table import *


def feature(v):
    if v is None:
        return feature_pb2.Feature()
    if v and isinstance(v[0], bytes):
        return feature_pb2.Feature(bytes_list=feature_pb2.BytesList(value=v))
    if v and isinstance(v[0], float):
        return feature_pb2.Feature(float_list=feature_pb2.FloatList(value=v))
    return feature_pb2.Feature(int64_list=feature_pb2.Int64List(value=v))


def sequence(context=(), **lists):
    made = {name: feature_pb2.FeatureList(feature=[feature(v) for v in steps]) for name, steps in lists.items()}
    return example_pb2.SequenceExample(context=feature_pb2.Features(feature={k: feature(v) for k, v in dict(context).items()}),
                                       feature_lists=feature_pb2.FeatureLists(feature_list=made)).SerializeToString()


FULL = sequence({"a": [1.0, 2.0], "b": [3], "c": [b"x", b""]}, x=[[1, 2], [3, 4]], s=[[1], [], [5, 6]], f=[[0.5], [1.5]], t=[[b"a"], [b"b", b"c"]])
LESS = sequence({"a": [4.0, 5.0], "b": [7]}, x=[[7, 8]], f=[])
NONE = sequence()
WRONG = sequence({"a": [1.0, 2.0], "b": [3]}, x=[[1.0, 2.0]])

# (key, type, shape[, default])
CONTEXT = (("a", "float", [2], [9.0, 8.0]),)
CONTEXT_SPARSE = (("b", "int64"), ("c", "string"))
DENSE = (("x", "int64", [2]),)
SCALARS = (("f", "float", []),)
SPARSE = (("s", "int64"), ("t", "string"))
RAGGED = (("s", "int64", "int32"), ("t", "string", "int64"))
CONTEXT_RAGGED = (("b", "int64", "int64"), ("c", "string", "int32"))


def texts(x):
    return values(numpy.array(list(x), object), "string")


def attrs(context, context_sparse, dense, sparse):
    return dict(Ncontext_sparse=len(context_sparse), context_sparse_types=[t for _, t in context_sparse], context_dense_shapes=[s for _, _, s, _ in context], Nfeature_list_sparse=len(sparse), Nfeature_list_dense=len(dense),
                feature_list_sparse_types=[t for _, t in sparse], feature_list_dense_types=[t for _, t, _ in dense], feature_list_dense_shapes=[s for _, _, s in dense], Tcontext_dense=[t for _, t, _, _ in context], variants=("known", "unknown"))


def v1(serialized, context=(), context_sparse=(), dense=(), sparse=(), missing=(), names=(), **more):
    keys = lambda all_: [k for k, *_ in all_]
    return C(texts(serialized), texts(names), [values(d, t) for _, t, _, d in context], Ncontext_dense=len(context), feature_list_dense_missing_assumed_empty=list(missing), context_sparse_keys=keys(context_sparse), context_dense_keys=keys(context),
             feature_list_sparse_keys=keys(sparse), feature_list_dense_keys=keys(dense), **attrs(context, context_sparse, dense, sparse), **more)


def v2(serialized, context=(), context_sparse=(), dense=(), sparse=(), context_ragged=(), ragged=(), missing=None, names=(), **more):
    keys = lambda all_: texts([k for k, *_ in all_])
    one = isinstance(serialized, bytes)
    return C(values(serialized, "string") if one else texts(serialized), texts(names), keys(context_sparse), keys(context), keys(context_ragged), keys(sparse), keys(dense), keys(ragged), values(numpy.array(missing if missing is not None else [False] * len(dense), bool), "bool"), [values(d, t) for _, t, _, d in context],
             context_ragged_value_types=[t for _, t, _ in context_ragged], context_ragged_split_types=[s for _, _, s in context_ragged], feature_list_ragged_value_types=[t for _, t, _ in ragged], feature_list_ragged_split_types=[s for _, _, s in ragged],
             **attrs(context, context_sparse, dense, sparse), **more)


def single(serialized, context=(), context_sparse=(), dense=(), sparse=(), missing=(), **more):
    keys = lambda all_: [values(k, "string") for k, *_ in all_]
    return C(values(serialized, "string"), texts(missing), keys(context_sparse), keys(context), keys(sparse), keys(dense), [values(d, t) for _, t, _, d in context], values("", "string"), Ncontext_dense=len(context), **attrs(context, context_sparse, dense, sparse), **more)


BATCHES = ([FULL, LESS], [FULL], [LESS, FULL, LESS], [])
ALL = dict(context=CONTEXT, context_sparse=CONTEXT_SPARSE, dense=DENSE + SCALARS, sparse=SPARSE)

ROWS = [
    Row("ParseSequenceExample", cases=[v1(s, **ALL) for s in BATCHES] + [v1([FULL, NONE], dense=DENSE, missing=["x"]), v1([NONE], context=CONTEXT), v1([FULL, LESS], **ALL, names=["n1", "n2"]), v1([NONE, NONE], context_sparse=CONTEXT_SPARSE, sparse=SPARSE)], types=[{}],
        errors=[v1([FULL, NONE], dense=DENSE, says="required but could not be found"), v1([b"\xff"], dense=DENSE, says="Invalid protocol message"), v1([FULL], dense=(("x", "int64", [3]),)), v1([FULL], dense=(("s", "int64", []),)), v1([WRONG], dense=DENSE, says="[Tt]ype")]),
    Row("ParseSequenceExampleV2", cases=[v2(s, **ALL) for s in BATCHES] + [v2(s, context=CONTEXT, dense=DENSE, context_ragged=CONTEXT_RAGGED, ragged=RAGGED) for s in BATCHES] +
        [v2(FULL, **ALL), v2(LESS, dense=DENSE, sparse=SPARSE), v2([FULL, NONE], dense=DENSE, missing=[True]), v2([NONE, NONE], ragged=RAGGED, context_ragged=CONTEXT_RAGGED)], types=[{}],
        errors=[v2([FULL, NONE], dense=DENSE, says="required but could not be found"), v2([FULL], sparse=SPARSE, ragged=RAGGED, says="both"), v2([FULL], dense=(("s", "int64", [1]),), sparse=SPARSE, says="both"), v2([FULL], dense=(("x", "int64", [3]),))]),
    Row("ParseSingleSequenceExample", cases=[single(s, context=CONTEXT, context_sparse=CONTEXT_SPARSE, dense=DENSE, sparse=SPARSE) for s in (FULL, LESS)] + [single(FULL, dense=SCALARS), single(FULL, dense=(("f", "float", None),)), single(NONE, dense=DENSE, missing=["x"]), single(LESS, sparse=SPARSE)], types=[{}],
        errors=[single(NONE, dense=DENSE, says="required but could not be found"), single(b"\xff", dense=DENSE), single(FULL, dense=(("x", "int64", [3]),)), single(FULL, dense=(("x", "int64", None),), says="Number of int64 values != expected"), single(FULL, dense=(("x", "int64", [-1]),), says="Shape \\[\\?\\] is not fully defined"), single(WRONG, dense=DENSE, says="[Tt]ype")]),
]
