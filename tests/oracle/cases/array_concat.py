"""Ops that join and split tensors."""

from tests.oracle.table import *

TIDX = [{"T": t, "Tidx": "int32"} for t in ALL] + [{"T": "float", "Tidx": "int64"}]
FLOAT = {"T": "float", "Tidx": "int32"}
TLEN = [{"T": t, "Tlen": "int32"} for t in ALL] + [{"T": "float", "Tlen": "int64"}]
LEN = {"T": "float", "Tlen": "int32"}
DIM = "Dimension 1 in both shapes must be equal|Dimensions must be equal|must be equal, but are"
MANY = [rand(2, 1 + i % 3) for i in range(18)]


def indexed_slices(b, axis):
    """The gradient of a gather from a concatenation: rows go back to the inputs that they came from."""
    x, y = b.input(rand(3, 2)), b.input(rand(2 if axis == 0 else 3, 2))
    together = b.op("ConcatV2", [x, y], axis)
    rows = b.op("GatherV2", together, [0, 2, 2] if axis else [4, 0, 3, 0], 0)
    b.run(fetches=[rows])
    b.gradients([rows], [x, y])


ROWS = [
    Row("ConcatV2", cases=[C([rand(2, 3), rand(2, 1)], 1), C([rand(2, 3), rand(4, 3)], 0), C([rand(2, 3), rand(2, 0), rand(2, 2)], -1),
                           C([rand(0, 3), rand(0, 3)], 0), C([rand(2, 1, 3), rand(2, 4, 3)], -2), C([rand(3), rand(1), rand(2)], 0),
                           C([rand(1, 2), rand(1, 2)], 0)], types=TIDX,
        errors=[C([rand(2, 3), rand(3, 2)], 0, types=FLOAT, says=DIM), C([rand(2, 3), rand(2)], 0, types=FLOAT, says="[Rr]ank"),
                C([rand(2, 3), rand(2, 3)], 2, types=FLOAT, says="Expected concatenating dimensions in the range \\[-2, 2\\), but got 2|at least rank 3"),
                C([rand(), rand()], 0, types=FLOAT, says="scalars")]),
    Row("ConcatV2", cases=[C(MANY, 1)], types=[FLOAT, {"T": "double", "Tidx": "int64"}], name="many"),
    Row("ConcatV2", build=lambda b: indexed_slices(b, 0), types=[FLOAT], name="rows_of_axis_0"),
    Row("ConcatV2", build=lambda b: indexed_slices(b, 1), types=[FLOAT], name="rows_of_axis_1"),
    Row("Concat", cases=[C(1, [rand(2, 3), rand(2, 1)]), C(0, [rand(2, 3), rand(4, 3)]), C(0, [rand(0), rand(2)])],
        errors=[C(0, [rand(2, 3), rand(3, 2)], types={"T": "float"}, says=DIM)]),
    Row("Pack", cases=[C([rand(2, 3), rand(2, 3)]), C([rand(2, 3), rand(2, 3)], axis=1), C([rand(2, 3), rand(2, 3)], axis=-1), C([rand()]),
                       C([rand(), rand(), rand()]), C([rand(0), rand(0)]), C([rand(2, 3)], axis=2)],
        errors=[C([rand(2), rand(3)], types={"T": "float"}, says="Shapes of all inputs must match|must be equal"),
                C([rand(2), rand(2)], axis=2, types={"T": "float"}, says="axis")]),
    Row("ParallelConcat", cases=[C([rand(1, 3), rand(1, 3)], shape=[2, 3], variants=["known"])], types={"T": ("float", "int32", "string", "complex64")}, grad=False,
        errors=[C([rand(2, 3), rand(1, 3)], shape=[3, 3], types={"T": "float"}, variants=["known"], says="shape|must be")]),
    Row("Split", cases=[C(0, rand(4, 3), num_split=2), C(1, rand(2, 6), num_split=3), C(-1, rand(2, 6), num_split=1), C(0, rand(0, 2), num_split=2),
        C(1, rand(1, 4, 2), num_split=2), C(0, rand(6), num_split=3)],
        errors=[C(0, rand(3), num_split=2, types={"T": "float"}, says="evenly divi"), C(1, rand(4), num_split=2, types={"T": "float"}, says="in range|split_dim"),
                C(0, rand(), num_split=2, types={"T": "float"}, says="in range|split_dim")]),
    Row("SplitV", cases=[C(rand(4, 3), [1, 3], 0, num_split=2), C(rand(2, 6), [1, -1, 3], 1, num_split=3), C(rand(2, 6), [6], -1, num_split=1),
                         C(rand(5), [0, 5, 0], 0, num_split=3), C(rand(0, 2), [0, 0], 0, num_split=2), C(rand(1, 4, 2), [3, 1], 1, num_split=2)], types=TLEN,
        errors=[C(rand(4), [1, 2], 0, num_split=2, types=LEN, says="Determined shape|split axis|Split size"),
                C(rand(4), [-1, -1], 0, num_split=2, types=LEN, says="one -1"),
                C(rand(4), [1, 1, 2], 0, num_split=2, types=LEN, says="size_splits|split_tensor|must be equal"),
                C(rand(4), [5, -1], 0, num_split=2, types=LEN, says="Determined shape|split axis|Split size")]),
    # TensorFlow crashes for constant sizes of this type.
    Row("SplitV", cases=[C(rand(4, 3), values([1, 3]), 0, num_split=2, variants=["known"])], types=[{"T": "float", "Tlen": "int8"}], name="short"),
    Row("Unpack", cases=[C(rand(3, 2), num=3), C(rand(3, 2), num=2, axis=1), C(rand(3, 2, 2), num=2, axis=-1), C(rand(0, 2), num=0), C(rand(2), num=2),
                         C(rand(1, 0), num=1)],
        errors=[C(rand(3, 2), num=2, types={"T": "float"}, says="must equal|must be"),
                C(rand(3, 2), num=3, axis=2, types={"T": "float"}, says="axis"), C(rand(), num=1, types={"T": "float"}, says="axis|rank")]),
]
