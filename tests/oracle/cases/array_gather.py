"""Gathers and scatters."""

from tests.oracle.table import *

GATHER = [{"Tparams": t, "Tindices": "int32"} for t in ALL] + [{"Tparams": "float", "Tindices": "int64"}]
FIRST = {"Tparams": "float", "Tindices": "int32"}
GATHER_V2 = [dict(g, Taxis="int32") for g in GATHER] + [dict(FIRST, Taxis="int64"), {"Tparams": "float", "Tindices": "int16", "Taxis": "int32"}]
V2 = dict(FIRST, Taxis="int32")
ND = GATHER + [{"Tparams": "float", "Tindices": "int16"}]
SCATTER = {"Tindices": "int32"}


def sweep(types):
    return [{"T": t, "Tindices": "int32"} for t in types] + [{"T": "float", "Tindices": "int64"}]


F = {"T": "float", "Tindices": "int32"}


def repeated(b):
    """The gradient of two gathers from one table: slices are joined, and summed if a tensor is
    needed."""
    table, other = b.input(rand(5, 2)), b.input(rand(5, 2))
    y = b.op("GatherV2", b.op("Mul", table, other), [[0, 4], [4, 1]], 0)
    z = b.op("GatherV2", table, [2, 2], 0)
    b.run(fetches=[y, z])
    b.gradients([y, z], [table, other])


def tensor_scatter(op, types):
    return Row(op, cases=[C(rand(4, 3), [[1], [3]], rand(2, 3)), C(rand(4, 3), [[1, 2], [0, 0], [3, 1]], rand(3)), C(rand(5), [[1], [4]], rand(2)),
                          C(rand(4, 2), [[[0], [3]]], rand(1, 2, 2))],
               types=sweep(types),
               errors=[C(rand(4, 3), [[4]], rand(1, 3), types=F, says="indices\\[0\\] = \\[4\\] does not index into shape \\[4,3\\]"),
                       C(rand(4, 3), [[-1]], rand(1, 3), types=F, says="does not index into"),
                       C(rand(4, 3), [[1]], rand(1, 2), types=F, says="must match")])


REPEATED = [C(rand(4), [[1], [1], [3]], rand(3)), C(rand(2, 2), [[0], [0]], rand(2, 2))]

ROWS = [
    Row("Gather", cases=[C(rand(4, 3), ints(0, 4).of(2)), C(rand(4), ints(0, 4).of(2, 2)), C(rand(4, 3), ints(0, 4).of()), C(rand(4, 3), ints(0, 4).of(0)),
                         C(rand(4, 3), [3, 3, 0], validate_indices=False)], types=GATHER,
        errors=[C(rand(4, 3), [1, 4], types=FIRST, says="indices\\[1\\] = 4 is not in \\[0, 4\\)"), C(rand(), [0], types=FIRST, says="at least (1 dim|rank 1)")]),
    Row("GatherV2", cases=[C(rand(4, 3), ints(0, 4).of(2), 0), C(rand(4, 3), ints(0, 3).of(2, 2), 1), C(rand(4, 3), ints(0, 3).of(5), -1),
                           C(rand(4, 3), ints(0, 4).of(), 0), C(rand(4, 3), ints(0, 4).of(0), 0), C(rand(4, 0), ints(0, 4).of(3), 0)], types=GATHER_V2,
        errors=[C(rand(4, 3), [[0, 7]], 0, types=V2, says="indices\\[0,1\\] = 7 is not in \\[0, 4\\)"), C(rand(4, 3), -1, 0, types=V2, says="indices = -1 is not in \\[0, 4\\)"),
                C(rand(4, 3), [0], 2, types=V2, says="Expected axis in the range \\[-2, 2\\), but got 2|at least rank 3"),
                C(rand(4, 3), [0], [0], types=V2, says="axis must be scalar|rank 0")]),
    # Large enough to be shared between threads.
    Row("GatherV2", cases=[C(rand(30, 50, 8), ints(0, 50).of(700), 1, grad=False), C(rand(6, 9, 60, 2), ints(0, 60).of(6, 900), 2, batch_dims=1, grad=False),
                           C(rand(7, 90), ints(0, 90).of(9000), 1, grad=False)], types=[V2], name="big"),
    Row("GatherV2", cases=[C(rand(2, 3, 4), ints(0, 3).of(2, 5), 1, batch_dims=1), C(rand(2, 3, 4), ints(0, 4).of(2, 5), 2, batch_dims=1),
                           C(rand(2, 3, 4), ints(0, 4).of(2, 3, 2), 2, batch_dims=2), C(rand(2, 3, 4), ints(0, 4).of(2, 3), -1, batch_dims=-1),
                           C(rand(2, 3), ints(0, 3).of(2), 1, batch_dims=1), C(rand(3, 2, 2), ints(0, 2).of(2), 1)],
        types=[V2, dict(V2, Tparams="double"), dict(V2, Tindices="int64")], name="batch_dims",
        errors=[C(rand(2, 3), ints(0, 3).of(3, 1), 1, batch_dims=1, types=V2, says="should be equal to|must be equal"),
                C(rand(2, 3), ints(0, 2).of(2, 1), 0, batch_dims=1, types=V2, says="batch_dims \\(1\\) must be less than or equal to axis \\(0\\)")]),
    Row("GatherV2", build=repeated, types=[{"T": "float", "Tindices": "int32", "Taxis": "int32", "Tparams": "float"}], name="joined"),
    Row("GatherNd", cases=[C(rand(4, 3), [[1], [3]]), C(rand(4, 3), [[1, 2], [0, 0]]), C(rand(4, 3), [1, 1]), C(rand(4, 3), [[[0], [2]]]),
                           C(rand(2, 3, 2), [[0, 1], [1, 2], [1, 2]]), C(rand(4), ints(0, 4).of(3, 1)), C(rand(2, 3), ints(0, 1).of(2, 0))], types=ND,
        errors=[C(rand(2, 2), [[0, 1], [0, 7]], types=FIRST, says="indices\\[1\\] = \\[0, 7\\] does not index into param shape \\[2,2\\]"),
                C(rand(2, 2), [[0, 1, 1]], types=FIRST, says="must be <= params")]),
    Row("GatherNd", cases=[C(rand(2, 2), [[0, 1], [0, 7], [-1, 0]], bad_indices_policy="IGNORE")], types=[FIRST, dict(FIRST, Tparams="double")], name="ignore"),
    Row("ScatterNd", cases=[C([[1], [3]], rand(2, 3), [4, 3]), C([[1, 2], [0, 0], [1, 2]], rand(3), [4, 3]), C([[0], [0]], rand(2), [3]),
                            C([[[0], [2]]], rand(1, 2, 2), [3, 2]), C(ints(0, 1).of(0, 1), rand(0, 2), [3, 2])], types=sweep(ALL),
        errors=[C([[4]], rand(1, 3), [4, 3], types=F, says="indices\\[0\\] = \\[4\\] does not index into shape \\[4,3\\]"),
                C([[1]], rand(1, 2), [4, 3], types=F, says="must match"), C([[1]], rand(1), [-1], types=F, says=">= 0|must match|negative")]),
    Row("ScatterNd", cases=[C([[1], [9], [-1]], rand(3), [4], bad_indices_policy="IGNORE")], types=[F, dict(F, T="double")], name="ignore"),
    tensor_scatter("ScatterNdNonAliasingAdd", PLAIN),
    tensor_scatter("TensorScatterAdd", NUMBERS),
    tensor_scatter("TensorScatterSub", NUMBERS),
    tensor_scatter("TensorScatterMax", REALS),
    tensor_scatter("TensorScatterMin", REALS),
    tensor_scatter("TensorScatterUpdate", ALL),
    Row("TensorScatterAdd", cases=REPEATED, types=sweep(FLOATS), name="repeated"),
    Row("TensorScatterSub", cases=REPEATED, types=sweep(FLOATS), name="repeated"),
    Row("TensorScatterMax", cases=[C(values([1.0, 2, 3]), [[0], [2], [1]], values([1.0, 5, 1]))], types=[F], grad="tf", name="ties"),
    Row("TensorScatterMin", cases=[C(values([1.0, 2, 3]), [[0], [2], [1]], values([1.0, 5, 1]))], types=[F], grad="tf", name="ties"),
]
