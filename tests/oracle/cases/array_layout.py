"""Borders, permutations, repetition, and rows changed in place."""

from tests.oracle.table import *

PADDED = [{"T": t, "Tpaddings": "int32"} for t in ALL] + [{"T": "float", "Tpaddings": "int64"}]
PAD = {"T": "float", "Tpaddings": "int32"}
PERM = [{"T": t, "Tperm": "int32"} for t in ALL] + [{"T": "float", "Tperm": "int64"}]
P = {"T": "float", "Tperm": "int32"}
TIDX = [{"T": t, "Tidx": "int32"} for t in ALL] + [{"T": "float", "Tidx": "int64"}]
X = {"T": "float", "Tidx": "int32"}
TILED = [{"T": t, "Tmultiples": "int32"} for t in ALL if t != "uint16"] + [{"T": "float", "Tmultiples": "int64"}]
M = {"T": "float", "Tmultiples": "int32"}


def mirrored(shape, paddings):
    return [C(rand(*shape), paddings, mode=mode) for mode in ("REFLECT", "SYMMETRIC")]



def shared_memory(b, op):
    """The update is seen through every tensor that shares the memory of x."""
    x, i, v = b.input(rand(4, 2)), b.input(values([1, 2]), "int32"), b.input(rand(2, 2))
    total = b.op("AddV2", x, x)
    update = b.op(op, total, i, v)
    after = b.op("AddV2", total, b.op("ZerosLike", total), control=[update])
    b.run(fetches=[b.op("Identity", update), after])


def inplace(b, op):
    """On copies: TensorFlow's ops write into what they are fed."""
    for x, i, v in ((rand(4, 3), [1, 3], rand(2, 3)), (rand(4), [-1], rand(1)), (rand(4), [5], rand(1)), (rand(4), [1, 1], rand(2))):
        b.run(fetches=[b.op(op, b.op("DeepCopy", b.input(x)), i, b.input(v))])
    for x, i, v in ((rand(4, 3), [1], rand(2, 3)), (rand(4, 3), [1], rand(1, 2)), (rand(4), [[1]], rand(1))):
        b.run(fetches=[b.op(op, b.op("DeepCopy", b.hidden(x)), i, b.hidden(v))], error=True, says="doesn't match|vector")


ROWS = [
    Row("Pad", cases=[C(rand(2, 3), [[1, 2], [0, 1]]), C(rand(2, 3), [[0, 0], [0, 0]]), C(rand(3), [[2, 0]]), C(rand(0, 2), [[1, 1], [0, 0]]),
                      C(rand(), ints(0, 1).of(0, 2)), C(rand(1, 2, 1, 2), [[0, 0], [1, 1], [2, 2], [0, 0]])], types=PADDED,
        errors=[C(rand(2, 3), [[-1, 0], [0, 0]], types=PAD, says="non-negative|>= 0"), C(rand(2, 3), [[1, 1]], types=PAD, says="rank"),
                C(rand(2), [[1, 1, 1]], types=PAD, says="2 columns|must be")]),
    Row("PadV2", cases=[C(rand(2, 3), [[1, 2], [0, 1]], rand()), C(rand(0), [[2, 1]], rand()), C(rand(2, 2), [[0, 0], [0, 0]], 1)], types=PADDED, grad="tf",
        errors=[C(rand(2), [[1, 1]], rand(1), types=PAD, says="scalar|rank 0")]),
    Row("MirrorPad", cases=[*mirrored((3, 4), [[1, 2], [2, 3]]), *mirrored((3,), [[0, 2]]), *mirrored((2, 2, 3), [[1, 0], [0, 1], [2, 1]]),
                            *mirrored((3, 2), [[0, 0], [0, 0]])], types=PADDED,
        errors=[C(rand(3), [[3, 0]], mode="REFLECT", types=PAD, says="paddings must be less than the dimension size"),
                C(rand(3), [[0, 4]], mode="SYMMETRIC", types=PAD, says="paddings must be (no greater|less)")]),
    Row("MirrorPadGrad", cases=[*mirrored((6, 9), [[1, 2], [2, 3]]), *mirrored((5,), [[0, 2]]), *mirrored((3, 3, 6), [[1, 0], [0, 1], [2, 1]])],
        types=[{"T": t, "Tpaddings": "int32"} for t in NUMBERS] + [{"T": "float", "Tpaddings": "int64"}]),
    Row("Transpose", cases=[C(rand(2, 3), [1, 0]), C(rand(2, 3, 4), [2, 0, 1]), C(rand(2, 3, 4), [0, 2, 1]), C(rand(2, 3, 4), [1, 0, 2]),
                            C(rand(2, 3), [0, 1]), C(rand(0, 3), [1, 0]), C(rand(), []), C(rand(1, 3, 1), [2, 1, 0]), C(rand(40, 70), [1, 0])], types=PERM,
        errors=[C(rand(2, 3), [0], types=P, says="transpose expects a vector of size 2|must be (equal|2)"), C(rand(2, 3), [0, 2], types=P, says="out of range"),
                C(rand(2, 3), [0, 0], types=P, says="1 is missing from")]),
    Row("Transpose", cases=[C(rand(2, 33, 3, 35), [0, 3, 2, 1]), C(rand(9, 8, 10), [2, 1, 0]), C(rand(2, 3, 2, 2, 3), [4, 2, 0, 1, 3])], types=[P], name="large"),
    Row("ConjugateTranspose", cases=[C(rand(2, 3), [1, 0]), C(rand(2, 3, 4), [2, 0, 1]), C(rand(2), [0])],
        types=[{"T": t, "Tperm": "int32"} for t in PLAIN]),  # TensorFlow crashes for strings
    Row("InvertPermutation", cases=[C(values([2, 0, 1])), C([0]), C([]), C([3, 4, 0, 2, 1])],
        errors=[C([0, 3], types={"T": "int32"}, says="3 is not between 0 and 2"), C([0, 0], types={"T": "int32"}, says="0 is duplicated in the input"),
                C([[0]], types={"T": "int32"}, says="1D|rank 1"), C([-1], types={"T": "int32"}, says="not between")]),
    Row("Reverse", cases=[C(rand(2, 3), [True, False]), C(rand(2, 3), [True, True]), C(rand(4), [False]), C(rand(), [])],  # TensorFlow rejects a first size of 0
        errors=[C(rand(2, 3), [True], types={"T": "float"}, says="same number of values|rank")]),
    Row("ReverseV2", cases=[C(rand(2, 3), [0]), C(rand(2, 3), [-1]), C(rand(2, 3), [0, 1]), C(rand(2, 3), []), C(rand(0, 2), [0]), C(rand(2, 3, 4), [1]),
                            C(rand(30, 40), [1])], types=TIDX,
        errors=[C(rand(2, 3), [2], types=X, says="valid range"), C(rand(2, 3), [0, -2], types=X, says="specified more than once"),
                C(rand(2, 3), 0, types=X, says="1-dimension|rank 1")]),
    Row("Tile", cases=[C(rand(2, 3), [2, 1]), C(rand(2, 3), [1, 3]), C(rand(2, 3), [2, 2]), C(rand(2, 3), [1, 1]), C(rand(2), [0]), C(rand(0, 2), [2, 2]),
                       C(rand(), []), C(rand(1, 2, 1), [3, 1, 2])], types=TILED,
        errors=[C(rand(2, 3), [2], types=M, says="vector of length 2|rank"), C(rand(2), [-1], types=M, says=">= 0")]),
    Row("BroadcastTo", cases=[C(rand(3), [2, 3]), C(rand(2, 1), [2, 3]), C(rand(), [2, 2]), C(rand(2, 3), [2, 3]), C(rand(1, 3), [0, 3]), C(rand(1), [4]),
                              C(rand(2, 1, 3), [5, 2, 4, 3])], types=TIDX,
        errors=[C(rand(2), [3], types=X, says="Incompatible shapes|must be equal"), C(rand(2, 3), [3], types=X, says="Incompatible shapes|rank")]),
    Row("InplaceUpdate", build=lambda b: inplace(b, "InplaceUpdate"), types={"T": NUMBERS + ("bool",)}),
    Row("InplaceAdd", build=lambda b: inplace(b, "InplaceAdd"), types={"T": NUMBERS}),
    Row("InplaceSub", build=lambda b: inplace(b, "InplaceSub"), types={"T": NUMBERS}),
    *[Row(op, build=lambda b, op=op: shared_memory(b, op), types=[{"T": "float"}], name="shared memory")
      for op in ("InplaceUpdate", "InplaceAdd", "InplaceSub")],
]
