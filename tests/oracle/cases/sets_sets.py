"""Sets in the rows of dense and sparse tensors."""

from tests.oracle.table import *

T = {"T": "int32"}
SMALL = ints(0, 4)
OPERATIONS = ("a-b", "b-a", "intersection", "union", "UNION")


def i64(x):
    return values(numpy.array(x, "int64"), "int64")


def elements(*shape):
    """Few different values: of numbers and of strings."""
    def make(random, own_shape, dtype):
        if dtype == "string":
            return random.choice(numpy.array([b"", b"a", b"b", b"\xff", b"ab"], object), own_shape)
        return random.integers(0, 5, own_shape)
    return Gen(make).of(*shape)


def sparse(shape, *indices):
    return [i64(numpy.array(indices).reshape(-1, len(shape))), elements(len(indices)), i64(shape)]


A = sparse([3, 4], [0, 0], [0, 1], [0, 3], [2, 0], [2, 2])
B = sparse([3, 2], [0, 1], [1, 0], [1, 1], [2, 0])
CUBE = sparse([2, 2, 3], [0, 0, 1], [0, 1, 0], [0, 1, 2], [1, 1, 0])
CUBE2 = sparse([2, 2, 4], [0, 0, 0], [0, 0, 1], [1, 0, 3], [1, 1, 0], [1, 1, 1])
EMPTY = sparse([3, 4])
NONE = sparse([0, 4])
UNORDERED = sparse([3, 4], [2, 2], [0, 1], [2, 0], [0, 3])
REPEATED = sparse([3, 4], [0, 1], [0, 1])
OUTSIDE = sparse([3, 4], [0, 1], [0, 7])

ROWS = [
    Row("DenseToDenseSetOperation",
        cases=[C(elements(3, 4), elements(3, 2), set_operation=o) for o in OPERATIONS] +
              [C(elements(2, 2, 3), elements(2, 2, 4), set_operation="union"), C(elements(2, 0), elements(2, 3), set_operation="a-b"),
               C(elements(0, 2), elements(0, 3), set_operation="union"), C(elements(1, 1), elements(1, 1), set_operation="intersection"),
               C(elements(3, 30), elements(3, 20), set_operation="b-a", validate_indices=False)],
        errors=[C(elements(3, 4), elements(3, 2), set_operation="xor", types=T, says="set_operation"), C(elements(3), elements(3), set_operation="union", types=T, says="rank"),
                C(elements(3, 4), elements(2, 4), set_operation="union", types=T, says="Mismatched|equal|[Dd]imension"), C(elements(3, 4), elements(3, 1, 4), set_operation="union", types=T, says="Mismatched|Ranks|rank")]),
    Row("DenseToSparseSetOperation",
        cases=[C(elements(3, 4), *A, set_operation=o) for o in OPERATIONS] +
              [C(elements(2, 2, 3), *CUBE, set_operation="union"), C(elements(3, 0), *A, set_operation="b-a"), C(elements(3, 2), *EMPTY, set_operation="union"),
               C(elements(0, 2), *NONE, set_operation="union"), C(elements(3, 4), *REPEATED, set_operation="union", validate_indices=False)],
        errors=[C(elements(3, 4), *UNORDERED, set_operation="union", types=T, says="out of order"), C(elements(3, 4), *REPEATED, set_operation="union", types=T, says="repeated"),
                C(elements(3, 4), *OUTSIDE, set_operation="union", types=T, says="out of bounds"), C(elements(3, 4), *OUTSIDE, set_operation="union", validate_indices=False, types=T, says="expected <"),
                C(elements(2, 4), *A, set_operation="union", types=T, says="Mismatched"), C(elements(3, 4), *A, set_operation="", types=T, says="set_operation"),
                C(elements(3, 4), A[0], elements(4), A[2], set_operation="union", types=T, says="match|equal"), C(elements(3), *A, set_operation="union", types=T, says="rank|equal")]),
    Row("SparseToSparseSetOperation",
        cases=[C(*A, *B, set_operation=o) for o in OPERATIONS] +
              [C(*CUBE, *CUBE2, set_operation=o) for o in ("union", "intersection")] +
              [C(*EMPTY, *B, set_operation="union"), C(*EMPTY, *EMPTY, set_operation="a-b"), C(*NONE, *NONE, set_operation="union"), C(*A, *REPEATED, set_operation="a-b", validate_indices=False)],
        errors=[C(*A, *UNORDERED, set_operation="union", types=T, says="out of order"), C(*REPEATED, *A, set_operation="union", types=T, says="repeated"),
                C(*A, *sparse([4, 2], [0, 1]), set_operation="union", types=T, says="Mismatched"), C(*sparse([2], [0]), *sparse([2], [1]), set_operation="union", types=T, says="rank"),
                C(*A, *CUBE, set_operation="union", types=T, says="Mismatched|equal|[Dd]imension"), C(*A, *OUTSIDE, set_operation="union", types=T, says="out of bounds")]),
    Row("SetSize", cases=[C(*A), C(*CUBE), C(*EMPTY), C(*NONE), C(*REPEATED, validate_indices=False)],
        errors=[C(*UNORDERED, types=T, says="out of order"), C(*sparse([2], [0]), types=T, says="rank"), C(*OUTSIDE, types=T, says="out of bounds"), C(*OUTSIDE, validate_indices=False, types=T, says="expected <"),
                C(A[0], elements(4), A[2], types=T, says="match")]),
]
