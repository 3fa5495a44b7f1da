"""Distinct elements, partitions, and positions of elements."""

from tests.oracle.table import *

UNIQUE = REALS + ("bool", "string")
OUT = [{"T": t, "out_idx": "int32"} for t in UNIQUE] + [{"T": "float", "out_idx": "int64"}]
ONE = {"T": "float", "out_idx": "int32"}
AXIS = [dict(o, Taxis="int64") for o in OUT] + [dict(ONE, Taxis="int32")]
A = dict(ONE, Taxis="int64")
FEW = uniform(0, 3)

VECTORS = [C(FEW.of(8)), C(FEW.of(1)), C(FEW.of(0))]
BY_AXIS = [C(uniform(0, 1).of(6, 2), [0]), C(uniform(0, 1).of(2, 6), [1]), C(FEW.of(6), []), C(FEW.of(6), [-1]), C(FEW.of(2, 0), [0])]
NUMBERED = [C(values([[[1, 2], [1, 2]], [[1, 2], [1, 2]], [[0, 0], [1, 1]]]), [0]), C(values([[1, 0], [2, 3], [1, 0]]), [0]), C(values([[1, 0, 1], [2, 3, 2]]), [1])]
NOT_A_NUMBER = C(values([nan, 1, nan, 0.0, -0.0, inf, inf]), types=[ONE])
STITCH_ERRORS = [C([[0, 1], [2]], [rand(2, 2), rand(1, 3)], says="Need data|must be equal"), C([[0, 1]], [rand(3)], says="start with|must be equal"),
                 C([[-1]], [rand(1)], says="out of range")]


def stitch(op, types):
    return Row(op, cases=[C([[0, 2], [1]], [rand(2, 2), rand(1, 2)]), C([values(3), values([0, 1]), values([[2, 4]])], [rand(), rand(2), rand(1, 2)]),
                          C([[0, 1]], [rand(2)]), C([ints(0, 1).of(0)], [rand(0, 3)])],
               types={"T": types}, errors=[C(*e.inputs, types={"T": "float"}, says=e.says) for e in STITCH_ERRORS])


ROWS = [
    Row("Unique", cases=VECTORS, types=OUT, errors=[C(rand(2, 2), types=ONE, says="1D vector|rank 1")]),
    Row("Unique", cases=[NOT_A_NUMBER], name="nan"),
    Row("UniqueWithCounts", cases=VECTORS, types=OUT, errors=[C(rand(2, 2), types=ONE, says="1D vector|rank 1")]),
    Row("UniqueV2", cases=BY_AXIS, types=AXIS,
        errors=[C(rand(2, 2), [], types=A, says="1D vector|rank 1"), C(rand(2, 2), [2], types=A, says="axis"), C(rand(2, 2), [0, 1], types=A, says="axis"),
                C(rand(2, 2), [[0]], types=A, says="axis")]),
    Row("UniqueV2", cases=NUMBERED, types=[dict(A, T=t) for t in REALS + ("bool",)], name="slices"),
    Row("UniqueWithCountsV2", cases=NUMBERED, types=[dict(A, T=t) for t in ("float", "int32")], name="slices"),
    Row("UniqueWithCountsV2", cases=BY_AXIS, types=AXIS, errors=[C(rand(2, 2), [], types=A, says="1D vector|rank 1")]),
    Row("ListDiff", cases=[C(uniform(0, 5).of(8), uniform(0, 3).of(3)), C(FEW.of(0), FEW.of(2)), C(FEW.of(4), FEW.of(0))],
        types=[{"T": t, "out_idx": "int32"} for t in REALS + ("string",)] + [{"T": "int32", "out_idx": "int64"}],
        errors=[C(rand(2, 2), rand(2), types=ONE, says="1D vector|rank 1")]),
    Row("Where", cases=[C(uniform(0, 1).of(4, 3)), C(uniform(0, 1).of(5)), C(uniform(0, 1).of(0, 2)), C(uniform(0, 1).of(2, 2, 3))],
        types={"T": [t for t in PLAIN if t != "half"]},  # TensorFlow's kernel for half always fails
        errors=[C(uniform(0, 1).of(), types={"T": "float"}, says="Unhandled input dimensions: 0")]),
    Row("Where", cases=[C(values([0.0, -0.0, nan, inf, 1e-30]))], types={"T": FLOATS}, name="edges"),
    Row("DynamicPartition", cases=[C(rand(4, 3), [0, 1, 0, 1], num_partitions=2), C(rand(4), ints(0, 3).of(4), num_partitions=3),
                                   C(rand(2, 2, 2), [[0, 1], [1, 1]], num_partitions=2), C(rand(3), 0, num_partitions=2), C(rand(0, 2), ints(0, 1).of(0), num_partitions=2),
                                   C(rand(3), [0, 0, 0], num_partitions=1)],
        errors=[C(rand(3), [0, 2, 1], num_partitions=2, types={"T": "float"}, says="partitions\\[1\\] = 2 is not in \\[0, 2\\)"),
                C(rand(3), [0, 1], num_partitions=2, types={"T": "float"}, says="data.shape must start with partitions.shape|must be equal")]),
    stitch("DynamicStitch", ALL),
    stitch("ParallelDynamicStitch", ALL),
    Row("DynamicStitch", cases=[C([[0, 2], [0]], [rand(2, 2), rand(1, 2)])], types={"T": ("float", "string")}, grad=False, name="last_wins"),
]
