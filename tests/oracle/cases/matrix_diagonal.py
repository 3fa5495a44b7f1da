"""Diagonals, bands, rolls, cross products and Einstein sums."""

from tests.oracle.table import *

F = {"T": "float"}
TD = {"T": ("float", "double", "half", "bfloat16", "int32", "int64", "int8", "uint8", "bool", "complex64", "complex128")}
ALIGN = ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")
pad = values(0)


def zero(x=0):
    return Gen(lambda random, shape, dtype: numpy.array(x), shape=()).no_gradient()


ROWS = [
    Row("Diag", cases=[C(rand(3)), C(rand(2, 3)), C(rand(0)), C(rand(1))], errors=[C(rand(), types=F, says="rank")]),
    Row("DiagPart", cases=[C(rand(3, 3)), C(rand(2, 3, 2, 3)), C(rand(0, 0))], errors=[C(rand(3), types=F, says="rank"), C(rand(2, 3), types=F, says="match|equal")]),
    Row("MatrixBandPart", cases=[C(rand(4, 5), 1, 2), C(rand(4, 5), -1, 0), C(rand(2, 5, 3), 0, -1), C(rand(2, 2, 3, 3), 2, 0), C(rand(0, 3), 0, 0), C(rand(3, 3), -1, -1)],
        types={"T": PLAIN, "Tindex": ("int64",)}, errors=[C(rand(3), values(1), values(1), types=F, says="2-dim"), C(rand(3, 2), values(4), values(0), types=F, says="num_lower"),
        C(rand(3, 2), values([1]), values(0), types=F, says="scalar|rank")]),
    Row("MatrixBandPart", cases=[C(rand(4, 5), 1, 2)], types={"T": ("float",), "Tindex": INDEX}, name="index"),
    Row("BatchMatrixBandPart", cases=[C(rand(4, 5), values(1, "int64"), values(2, "int64")), C(rand(2, 5, 3), values(0, "int64"), values(-1, "int64"))], types={"T": tuple(t for t in TD["T"] if t != "bool")}),
    Row("BatchMatrixDiag", cases=[C(rand(3)), C(rand(2, 3)), C(rand(2, 0))], types=TD, errors=[C(rand(), types=F, says="rank|1-dim")]),
    Row("BatchMatrixDiagPart", cases=[C(rand(3, 3)), C(rand(2, 3, 4))], types=TD, errors=[C(rand(3), types=F, says="rank|2-dim")]),
    Row("BatchMatrixSetDiag", cases=[C(rand(3, 3), rand(3)), C(rand(2, 3, 4), rand(2, 3))], types=TD),
    Row("MatrixDiag", cases=[C(rand(3)), C(rand(2, 3)), C(rand(2, 0)), C(rand(2, 2, 2))], types=TD, errors=[C(rand(), types=F, says="rank|1-dim")]),
    Row("MatrixDiagPart", cases=[C(rand(3, 3)), C(rand(2, 3, 4)), C(rand(2, 4, 3)), C(rand(0, 2, 2))], types=TD, errors=[C(rand(3), types=F, says="rank|2-dim")]),
    Row("MatrixSetDiag", cases=[C(rand(3, 3), rand(3)), C(rand(2, 3, 4), rand(2, 3)), C(rand(2, 4, 3), rand(2, 3)), C(rand(0, 2, 2), rand(0, 2))], types=TD,
        errors=[C(rand(3, 3), rand(2), types=F, says="diag|equal"), C(rand(3), rand(3), types=F, says="rank|2-dim")]),
    Row("MatrixDiagV2", cases=[C(rand(3), 1, -1, -1, zero()), C(rand(2, 3), [-1, 0], -1, -1, zero(1)), C(rand(2, 2, 3), [0, 1], 3, 4, zero(7)), C(rand(3), -2, 5, 4, zero(2)), C(rand(3), 0, 4, -1, zero())], types=TD,
        errors=[C(rand(2, 3), values([0, 2]), values(-1), values(-1), zero(), types=F, says="number of"), C(rand(3), values(0), values(2), values(3), zero(), types=F, says="small"),
                C(rand(3), values([1, 0]), values(-1), values(-1), zero(), types=F, says="greater|larger"), C(rand(3), values(0), values(5), values(5), zero(), types=F, says="consistent")]),
    Row("MatrixDiagV3", cases=[C(rand(3, 3), [-1, 1], -1, -1, zero(), align=a) for a in ALIGN] + [C(rand(2, 3, 3), [-2, 0], 4, 3, zero(9), align=a) for a in ALIGN[:2]] + [C(rand(2), 1, -1, -1, zero())], types=TD),
    Row("MatrixDiagPartV2", cases=[C(rand(3, 4), 1, zero()), C(rand(2, 3, 4), [-1, 1], zero(5)), C(rand(2, 4, 3), [0, 2], zero(1), grad=False), C(rand(2, 4, 3), [-3, -2], zero(1)), C(rand(3, 3), 0, zero())], types=TD,
        errors=[C(rand(3, 3), values(3), zero(), types=F, says="bound"), C(rand(3, 3), values([1, 0]), zero(), types=F, says="greater|larger"), C(rand(3), values(0), zero(), types=F, says="rank|2-dim")]),
    Row("MatrixDiagPartV3", cases=[C(rand(2, 3, 4), [-1, 2], zero(5), align=a) for a in ALIGN] + [C(rand(2, 4, 3), [-3, 1], zero(1), align=a) for a in ALIGN] + [C(rand(3, 3), 0, zero())], types=TD),
    Row("MatrixSetDiagV2", cases=[C(rand(3, 4), rand(3), 1), C(rand(2, 3, 4), rand(2, 3, 3), [-1, 1]), C(rand(2, 4, 3), rand(2, 2, 2), [-3, -2])], types=TD,
        errors=[C(rand(3, 4), rand(2), values(1), types=F, says="diag|equal"), C(rand(3, 4), rand(3), values(4), types=F, says="bound")]),
    Row("MatrixSetDiagV3", cases=[C(rand(2, 3, 4), rand(2, 4, 3), [-1, 2], align=a) for a in ALIGN] + [C(rand(4, 3), rand(3), 0)], types=TD),
    Row("Roll", cases=[C(rand(5), 2, 0), C(rand(5), -7, -1), C(rand(2, 3, 4), [1, -1], [0, 2]), C(rand(2, 3), [1, 1], [1, 1]), C(rand(0, 3), 1, 0), C(rand(3, 4), [0], [1])],
        types={"T": ALL, "Tshift": ("int32",), "Taxis": ("int32",)},
        errors=[C(rand(3), values(1), values(1), types=F, says="range"), C(rand(3), values([1, 2]), values(0), types=F, says="same size|equal rank"), C(rand(), values(1), values(0), types=F, says="1-D|rank")]),
    Row("Roll", cases=[C(rand(2, 3), [1], [1])], types={"T": ("float",), "Tshift": INDEX, "Taxis": INDEX}, name="index"),
    Row("Cross", cases=[C(rand(3), rand(3)), C(rand(2, 3), rand(2, 3)), C(rand(0, 3), rand(0, 3))], errors=[C(rand(2, 3), rand(3), types=F, says="same shape|rank"), C(rand(2), rand(2), types=F, says="3-element|must be 3")]),
]

EQUATIONS = [("ij,jk->ik", (3, 4), (4, 2)), ("ij->ji", (3, 4)), ("ii->i", (3, 3)), ("ii->", (3, 3)), ("i->ii", (3,)), ("ij->", (2, 3)), ("ij->i", (2, 3)), ("bij,bjk->bik", (2, 3, 4), (2, 4, 2)),
             ("bhwc,hc->bw", (2, 3, 4, 2), (3, 2)), ("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 2)), ("i,j->ij", (3,), (4,)), ("ij,ij->", (2, 3), (2, 3)), ("abc,abd->dca", (2, 3, 4), (2, 3, 2)),
             ("i...->...i", (2, 3, 4)), ("ijk,jk->ik", (2, 0, 3), (0, 3)), ("ab,b...->a...", (2, 3), (3, 4, 2)), ("iij,k->ik", (2, 2, 3), (4,)), (",->", (), ()), ("ab,cd->abcd", (2, 3), (2, 2)), ("aab->ba", (2, 2, 3)), ("ab,bc->...", (2, 3), (3, 2)), ("a->a...", (2,)), ("ab,bc->a...c", (2, 3), (3, 2)), ("...->", ())]
# The output has no place for the ellipsis of an input.
DROPPED = [("...->", (2, 3)), ("...b->b", (2, 3)), ("...a->", (2, 3)), ("...a,...a->a", (2, 3), (2, 3)), ("a,...->a", (2,), (2, 3))]
ROWS += [
    Row("Einsum", cases=[C([rand(*s) for s in shapes], equation=e) for e, *shapes in EQUATIONS], tol={"bfloat16": 3e-2},
        errors=[C([rand(2, 3)], equation="ij", types=F, says="->"), C([rand(2, 3)], equation="ijk->i", types=F, says="rank"), C([rand(2, 3), rand(2, 3)], equation="ij,jk->ik", types=F, says="equal|Expected dimension"),
                C([rand(2, 3)], equation="ij->k", types=F, says="not present in the input"), C([rand(2, 3)], equation="ij,jk->i", types=F, says="inputs"), C([rand(2, 3)], equation="i.j->i", types=F, says="at most one ellipsis")]
        + [C([rand(*s) for s in shapes], equation=e, types=F, says="rank|ellipsis") for e, *shapes in DROPPED]),
    # Integers wrap around.
    Row("Cross", cases=[C(values([2147483647, 65537, -2147483648]), values([3, -65537, 2147483647]))], types={"T": "int32"}, name="wraps"),
    Row("Cross", cases=[C(values([65535, 65535, 2]), values([1, 65535, 65535]))], types={"T": "uint16"}, name="narrow wraps"),
    Row("Einsum", cases=[C([values([[2147483647, 1], [-2147483648, -1]])], equation="ab->a")], types={"T": "int32"}, name="wraps"),
]
