"""Ragged tensors: rows, gathering, and other forms."""

from tests.oracle.table import *

STORED = ("bfloat16", "bool", "complex128", "complex64", "double", "float", "half", "int16", "int32", "int64", "int8", "string", "uint16", "uint32", "uint64", "uint8")
COUNTED = {"T": ("int32", "int64", "float", "double"), "Tidx": INDEX}
ONE = {"T": "float", "Tidx": "int32"}


def i64(x):
    return values(numpy.array(x, "int64").reshape(numpy.shape(x)), "int64")


def whole(x):
    """Whole numbers of whatever type the input has."""
    return values(numpy.array(x, "int64"))


def bincount(splits, data, size, weights, **attrs):
    return C(i64(splits), whole(data), whole(size), weights, **attrs)


def sparse_bincount(indices, data, shape, size, weights, **attrs):
    return C(i64(indices), whole(data), i64(shape), whole(size), weights, **attrs)


def fill(rowids, n, rows, **attrs):
    return C(i64(rowids), rand(n), i64(rows), rand(), **attrs)


def gather(splits, inner, indices, out, **attrs):
    return C([whole(s) for s in splits], rand(*inner), whole(indices), OUTPUT_RAGGED_RANK=out, **attrs)


DEEP = [[0, 2, 2, 5], [0, 1, 4, 4, 6, 7]]
FLOAT = {"Tvalues": "float", "Tsplits": "int64", "Tindices": "int32"}


def to_tensor(shape, data, default, partitions, kinds, **attrs):
    if shape == -1:  # TensorFlow needs a known scalar when the graph is built
        shape, attrs = -1, dict(attrs, variants=("known",))
    return C(whole(shape) if shape != -1 else shape, data, default, [whole(p) for p in partitions], row_partition_types=kinds, **attrs)


SPLITS = ["ROW_SPLITS"]
ROWIDS = ["FIRST_DIM_SIZE", "VALUE_ROWIDS"]
T1 = {"T": "float", "Tindex": "int64", "Tshape": "int64"}


def through_variant(splits, inner, batched, again):
    """Converts a ragged tensor to variants and back. `again` makes the second conversion from the
    first."""
    def build(b):
        values_, splits_ = b.input(rand(*inner).typed(b.types["Tvalues"])), [b.input(whole(s).typed(b.types["Tsplits"])) for s in splits]
        types = dict(Tvalues=b.types["Tvalues"], Tsplits=b.types["Tsplits"])
        encoded = b.op("RaggedTensorToVariant", splits_, values_, batched_input=batched)
        rank = len(splits) - (1 if batched else 0)
        back = again(b, encoded, rank, types)
        b.run(fetches=[back[k] for k in range(len(back))])
        if b.variant == "known" and b.types["Tvalues"] in FLOATS:
            b.gradients([back[len(back) - 1]], [values_])
    return build


def whole_back(b, encoded, rank, types):
    return b.op("RaggedTensorFromVariant", encoded, input_ragged_rank=rank, output_ragged_rank=rank, **types)


def rows_back(b, encoded, rank, types):
    return b.op("RaggedTensorFromVariant", encoded, input_ragged_rank=-1, output_ragged_rank=rank + 1, **types)


def twice(b, encoded, rank, types):
    """Two uses, whose gradients are added as variants."""
    return b.op("RaggedTensorFromVariant", b.op("AddN", [encoded, encoded, b.op("ZerosLike", encoded)]), input_ragged_rank=rank, output_ragged_rank=rank, **types)


def variant_errors(b):
    x = b.input(rand(4, 2).typed("float"))
    encoded = b.op("RaggedTensorToVariant", [b.input(i64([0, 1, 4]))], x, batched_input=False)
    types = dict(Tvalues="float", Tsplits="int64")
    bad = lambda says, e, **attrs: b.run(fetches=[b.op("RaggedTensorFromVariant", e, **dict(types, **attrs))[attrs["output_ragged_rank"]]], error=True, says=says)
    bad("ragged_rank", encoded, input_ragged_rank=0, output_ragged_rank=0)
    bad("dtype", encoded, input_ragged_rank=1, output_ragged_rank=1, Tvalues="double")
    bad("dtype", encoded, input_ragged_rank=1, output_ragged_rank=1, Tsplits="int32")
    bad("doesn't hold", b.op("TensorListReserve", b.const([2], "int32"), b.const(3, "int32"), element_dtype="float"), input_ragged_rank=0, output_ragged_rank=0)
    conj = b.op("Conj", encoded)
    b.run(targets=[conj], error=True, says="CONJ")


def variant_gradient(b):
    x = b.input(rand(3, 2).typed(b.types["Tvalues"]))
    encoded = b.op("RaggedTensorToVariant", [b.input(whole([0, 1, 3]).typed(b.types["Tsplits"]))], x, batched_input=True)
    b.run(fetches=[b.op("RaggedTensorToVariantGradient", encoded, b.input(whole([0, 1, 3]).typed(b.types["Tsplits"])), b.const([3, 2], "int32"), Tvalues=b.types["Tvalues"])])


def to_tensor_rows(cases, errors):
    """All types forward; gradients of some, since there are many nodes in one."""
    types = [{"T": t, "Tindex": "int64", "Tshape": "int64"} for t in STORED] + [{"T": "float", "Tindex": "int32", "Tshape": s} for s in INDEX]
    return [Row("RaggedTensorToTensor", cases=cases, types=types, grad=False, errors=errors),
            Row("RaggedTensorToTensor", name="gradient", cases=cases, types=[{"T": t, "Tindex": "int64", "Tshape": "int64"} for t in ("double", "complex64")], grad="tf")]


ROWS = [
    Row("RaggedBincount", cases=[bincount([0, 2, 3], [1, 2, 1], 4, w, binary_output=o) for w in (rand(0), rand(3)) for o in (False, True)] + [bincount([0, 0, 3, 3], [0, 9, 2], 3, rand(0)), bincount([0], [], 3, rand(0))], types=COUNTED,
        errors=[bincount(s, d, n, rand(0), types=ONE, says=says) for s, d, n, says in (([0, 2, 2], [1, 2, 7], 4, "number of values"), ([1, 2, 3], [1, 2, 7], 4, "start with 0"), ([0, 2, 3], [1, -2, 7], 4, "non-negative"), ([0, 2, 3], [1, 2, 7], -4, "non-negative"))]),
    Row("SparseBincount", cases=[sparse_bincount([[0, 0], [1, 0], [1, 2]], [1, 2, 1], [2, 3], 4, w, binary_output=o) for w in (rand(0), rand(3)) for o in (False, True)] +
        [sparse_bincount([[0], [2]], [1, 1], [3], 4, rand(2)), sparse_bincount([[0, 0]], [9], [2, 3], 4, rand(0)), sparse_bincount(numpy.zeros((0, 2)), [], [2, 3], 2, rand(0))], types=COUNTED,
        errors=[sparse_bincount(*a, rand(0), types=ONE, says=says) for *a, says in (([[0, 0], [5, 0]], [1, 2], [2, 3], 4, "out of bound"), ([[0, 0]], [1, 2], [2, 3], 4, "Number of"), ([[0, 0]], [1], [2, 3], -4, "non-negative"))]),
    Row("SparseBincount", name="rank", errors=[C(i64([[0, 0, 0]]), whole([1]), [2, 3, 4], 4, rand(0), types=ONE, says="rank 2|1 or 2", variants=("known",))]),
    Row("RaggedFillEmptyRows", cases=[fill([0, 0, 2, 4], 4, 6), fill([3, 1, 3, 0], 4, 4), fill([], 0, 3), fill([0, 1], 2, 2)], types={"T": STORED},
        errors=[fill([0, 3], 2, 3, types={"T": "float"}, says="invalid"), fill([0, 1], 3, 3, types={"T": "float"}, says="must match|equal"), fill([0], 1, 0, types={"T": "float"}, says="nrows = 0|dense_shape|invalid"), fill([0], 1, [2], types={"T": "float"}, says="rank|scalar")]),
    Row("RaggedFillEmptyRowsGrad", cases=[C(i64([0, 2, 3]), rand(5)), C(i64([]), rand(3)), C(i64([1, 0]), rand(2))], grad=False, errors=[C(i64([0, 9]), rand(3), types={"T": "float"}, says="reverse index")]),
    Row("RaggedGather", cases=[gather([[0, 2, 2, 5]], (5,), [2, 0, 2], 1), gather([[0, 2, 2, 5]], (5, 2), [1, 1], 1), gather([[0, 2, 2, 5]], (5,), [[0, 1], [2, 2]], 2), gather(DEEP, (7,), [2, 0], 2), gather(DEEP, (7, 3), 2, 1), gather([[0, 2, 2, 5]], (5,), [], 1), gather([[0, 2, 2, 5]], (5,), 2, 0)],
        types=[{"Tvalues": v, "Tsplits": s, "Tindices": i} for v in STORED for s, i in (("int64", "int32"), ("int32", "int64"))], grad="tf",
        errors=[gather([[0, 2, 2, 5]], (5,), [3], 1, types=FLOAT, says="not in"), gather([[0, 2, 2, 6]], (5,), [0], 1, types=FLOAT, says="past values"), gather([[0, 3, 2, 5]], (5,), [0], 1, types=FLOAT, says="sorted"), gather([[-1, 2, 2, 5]], (5,), [0], 1, types=FLOAT, says="non-negative")]),
    Row("RaggedRange", cases=[C(whole([0, 5, 8]), whole([3, 5, 2]), whole([1, 1, -2])), C(whole(0), whole([3, 7, 0]), whole(2)), C(whole(1), whole(6), whole(2)), C(whole([]), whole([]), whole([]))], types={"T": ("int32", "int64", "float", "double"), "Tsplits": INDEX},
        errors=[C(whole(0), whole(3), whole(0), types={"T": "int32", "Tsplits": "int64"}, says="delta != 0"), C(whole([0, 1]), whole([3]), whole(1), types={"T": "int32", "Tsplits": "int64"}, says="same shape|equal"), C(whole([[0]]), whole(3), whole(1), types={"T": "int32", "Tsplits": "int64"}, says="rank|scalar or vector")]),
    Row("RaggedRange", name="wraps", cases=[C(whole([2**31 - 2, -(2**31)]), whole([2**31 - 1, -(2**31) + 1]), whole([5, 2**31 - 1]))], types={"T": ("int32",), "Tsplits": ("int64",)}),
    Row("RaggedBincount", name="wraps", cases=[bincount([0, 2], [1, 1], 3, values([2**31 - 1, 1]))], types={"T": ("int32",), "Tidx": ("int32",)}),
    Row("RaggedRange", name="fractions", cases=[C(values([0.5, 2.0]), values([2.1, 1.0]), values([0.5, -0.3]))], types={"T": FLOATS, "Tsplits": ("int64",)}),
    Row("RaggedTensorToSparse", cases=[C([whole([0, 2, 2, 5])], rand(5)), C([whole(s) for s in DEEP], rand(7)), C([whole([0, 1, 3])], rand(3, 2)), C([whole([0])], rand(0)), C([whole([0, 0, 0])], rand(0))], types={"T": STORED, "Tsplits": INDEX},
        errors=[C([whole([1, 2, 5])], rand(5), types={"T": "float", "Tsplits": "int64"}, says="must be 0"), C([whole([0, 2, 4])], rand(5), types={"T": "float", "Tsplits": "int64"}, says="Final value"), C([whole([0, 2, 5])], rand(), types={"T": "float", "Tsplits": "int64"}, says="rank|Final")]),
    *to_tensor_rows(cases=[to_tensor(s, rand(5), rand(), [[0, 2, 2, 5]], SPLITS) for s in (-1, [3, 3], [-1, -1], [2, 2], [4, 5], [-1, 1])] +
        [to_tensor([-1, -1, -1], rand(7), rand(), DEEP, SPLITS * 2), to_tensor([2, 1, 3], rand(7), rand(), DEEP, SPLITS * 2), to_tensor(-1, rand(5, 2), rand(2), [[0, 2, 2, 5]], SPLITS), to_tensor(-1, rand(5, 2, 3), rand(2, 1), [[0, 2, 2, 5]], SPLITS),
         to_tensor(-1, rand(5, 2), rand(1), [[0, 2, 2, 5]], SPLITS), to_tensor(-1, rand(5), rand(), [4, [0, 0, 1, 3, 3]], ROWIDS), to_tensor([3, 1], rand(5), rand(), [4, [0, 0, 1, 3, 3]], ROWIDS), to_tensor(-1, rand(5), rand(), [3, [0, 0, 2], [0, 1, 1, 1, 2]], ROWIDS + ["VALUE_ROWIDS"])],
                errors=[to_tensor(-1, rand(5), rand(), [[0, 2, 2, 5]], ["VALUE_ROWIDS"], types=T1, says="cannot be first"), to_tensor(-1, rand(5), rand(), [[0, 2, 2, 5]], ["ROWS"], types=T1, says="Unknown string"), to_tensor(-1, rand(5), rand(2), [[0, 2, 2, 5]], SPLITS, types=T1, says="default_value"),
                to_tensor([3, 3, 3], rand(5), rand(), [[0, 2, 2, 5]], SPLITS, types=T1, says="rank|incompatible"), to_tensor(-1, rand(5), rand(), [2, [0, 0, 1, 3, 3]], ROWIDS, types=T1, says="value_rowid")]),
    Row("RaggedTensorToVariant", build=through_variant([[0, 2, 2, 5]], (5,), False, whole_back), types={"Tvalues": STORED, "Tsplits": INDEX}),
    Row("RaggedTensorToVariant", name="rows", build=through_variant(DEEP, (7, 2), True, rows_back), types={"Tvalues": ("float", "double", "string"), "Tsplits": INDEX}),
    Row("RaggedTensorToVariant", name="rows of numbers", build=through_variant([[0, 2, 2, 5]], (5,), True, rows_back), types={"Tvalues": STORED, "Tsplits": ("int64",)}),
    Row("RaggedTensorToVariant", name="values alone", build=through_variant([], (5, 2), False, whole_back), types={"Tvalues": ("float", "double"), "Tsplits": ("int64",)}),
    Row("RaggedTensorFromVariant", build=through_variant(DEEP, (7,), False, twice), types={"Tvalues": FLOATS, "Tsplits": INDEX}),
    Row("RaggedTensorFromVariant", name="errors", build=variant_errors, types={"Tvalues": ("float",), "Tsplits": ("int64",)}),
    Row("RaggedTensorToVariantGradient", build=variant_gradient, types={"Tvalues": STORED, "Tsplits": INDEX}),
]
