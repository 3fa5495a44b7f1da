"""Crosses of features of sparse, ragged and dense inputs."""

from tests.oracle.table import *

WORDS = strings("a", "bc", "", b"\xff\x00", "long enough to stand by itself in memory")
NUMBERS_ = ints(-3, 1 << 40).typed("int64")


def i64(x):
    return values(numpy.array(x, "int64"), "int64")


def sparse(rows, counts, what):
    """Indices, values and shape of a sparse matrix with `counts` features per row."""
    indices = [[r, k] for r, n in enumerate(counts) for k in range(n)]
    return i64(numpy.array(indices).reshape(-1, 2)), what.of(len(indices)), i64([rows, max(counts + [0])])


def lists(*inputs):
    return [[x[k] for x in inputs] for k in range(3)]


A = sparse(3, [2, 0, 1], WORDS)
B = sparse(3, [1, 3, 2], NUMBERS_)
C_ = sparse(3, [1, 1, 3], WORDS)
DENSE = [WORDS.of(3, 2), NUMBERS_.of(3, 1)]
INPUTS = [(lists(A), []), (lists(A, C_), []), (lists(C_, B), DENSE), (lists(), DENSE), (lists(B), [NUMBERS_.of(3, 2)]), (lists(sparse(0, [], WORDS)), [WORDS.of(0, 2)]), (lists(A), [WORDS.of(3, 0)])]

# TensorFlow crashes if SparseCrossHashed gets numbers.
OF_STRINGS = [INPUTS[0], INPUTS[1], (lists(A, C_), [WORDS.of(3, 2)]), (lists(), [WORDS.of(3, 2), WORDS.of(3, 1)])] + INPUTS[5:]


def old(in_, dense, **attrs):
    return C(*in_, dense, **dict(dict(hashed_output=False, num_buckets=0, hash_key=956888297470), **attrs))


STRINGS = {"out_type": "string", "internal_type": "string"}
BAD = [
    ((lists(A), [WORDS.of(2, 2)]), "batch size"), ((lists((A[0], WORDS.of(2), A[2])), []), "size of values"), ((lists((A[0], A[1], i64([3, 2, 1]))), []), "2D tensor"),
    ((lists((i64([[0], [1], [2]]), A[1], A[2])), []), "D2 of index"), ((lists(A), [WORDS.of(3)]), "matrix"),
]

RAGGED = [WORDS.of(5)], [i64([0, 2, 2, 5])]
NUMBERED = [NUMBERS_.of(4)], [values(numpy.array([0, 1, 2, 4]), "int32")]
NONE = [], []


def ragged(order, ragged_, sparse_, dense, hashed=False, **attrs):
    return C(*ragged_, *sparse_, dense, **dict(dict(input_order=order, hashed_output=hashed, num_buckets=0, hash_key=0, out_values_type="int64" if hashed else "string"), **attrs))


ROWS = [
    Row("SparseCross", cases=[old(*i, out_type="string", internal_type="int64") for i in INPUTS] +
        [old(*i, out_type="int64", internal_type="int64", hashed_output=True, num_buckets=n, hash_key=k) for i in INPUTS for n, k in ((0, 956888297470), (100, 1))] +
        [old(lists(A, C_), [WORDS.of(3, 2)], **STRINGS)], types=[{}],
        errors=[old(*i, **STRINGS) for i, _ in BAD] + [old(lists(B), [], **STRINGS)]),
    Row("SparseCrossV2", cases=[C(*i, d, s) for i, d in INPUTS for s in (values("_Y_", "string"), values("", "string"))], types=[{}],
        errors=[C(*i, d, values("_", "string"), says=says) for (i, d), says in BAD] + [C(*lists(A), [], values(["_"], "string"), says="scalar")]),
    Row("SparseCrossHashed", cases=[C(*i, d, i64(n), values(strong, "bool"), i64([137, -5])) for i, d in OF_STRINGS for n, strong in ((0, False), (1000, False), (0, True), (77, True))], types=[{}],
        errors=[C(*i, d, i64(7), values(False, "bool"), i64([1, 2]), says=says) for (i, d), says in BAD] + [C(*lists(A), [], i64(7), values(False, "bool"), i64([1, 2, 3]), says="length 2")]),
    Row("RaggedCross", cases=[ragged("R", RAGGED, lists(), []), ragged("RSD", RAGGED, lists(B), [WORDS.of(3, 2)]), ragged("SD", NONE, lists(A), [WORDS.of(3, 1)]), ragged("DRSD", RAGGED, lists(A), DENSE, hashed=True), ragged("R", ([WORDS.of(0)], [i64([0])]), lists(), [])], types={"out_row_splits_type": ("int64",)},
        errors=[ragged("RR", RAGGED, lists(), [], says="input_order"), ragged("S", RAGGED, lists(), [], says="input_order"), ragged("RD", RAGGED, lists(), [WORDS.of(2, 2)], says="batch|equal"),
                ragged("X", RAGGED, lists(), [], says="input_order"), ragged("R", ([WORDS.of(5)], [i64([0, 3, 2, 5])]), lists(), [], says="[Ii]nvalid")]),
    Row("RaggedCross", name="int32", cases=[ragged("DSR", NUMBERED, lists(C_), [NUMBERS_.of(3, 2)]), ragged("DRSD", NUMBERED, lists(B), DENSE, hashed=True, num_buckets=17, hash_key=99)], types={"out_row_splits_type": ("int32",)}),
]
