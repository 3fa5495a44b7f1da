"""Counts of equal values as sparse tensors."""

from tests.oracle.table import *

OUT = ("int32", "int64", "float", "double")
T = {"T": INDEX, "output_type": OUT}
F = {"T": "int64", "output_type": "float"}
HOW = [{"binary_output": False}, {"binary_output": True}, {"binary_output": False, "minlength": 9}, {"binary_output": False, "maxlength": 3}, {"binary_output": False, "minlength": 2, "maxlength": 4}]
INDICES = [[0, 1], [0, 2], [1, 0], [3, 1], [3, 2]]

ROWS = [
    Row("DenseCountSparseOutput", cases=[C(ints(0, 6).of(*s), w, **a) for a in HOW for s, w in (((9,), rand(0)), ((9,), rand(9)), ((3, 5), rand(0)), ((3, 5), rand(3, 5)))] + [C(ints(0, 5).of(0), rand(0), binary_output=False), C(ints(0, 5).of(2, 0), rand(0), binary_output=False)], types=T,
        errors=[C(ints(0, 5).of(2, 3), rand(3, 2), binary_output=False, types=F, says="same shape|equal"), C(ints(0, 5).of(0, 3), rand(0), binary_output=False, types=F, says="cannot be 0"), C(ints(0, 5).of(2, 3, 2), rand(0), binary_output=False, types=F, says="1 or 2-dim"), C(ints(0, 5).of(), rand(0), binary_output=False, types=F, says="1 or 2-dim"), C(values([1, -1]), rand(0), binary_output=False, types=F, says="non-negative")]),
    Row("SparseCountSparseOutput", cases=[C(values(INDICES), ints(0, 6).of(5), values([4, 3]), w, **a) for a in HOW for w in (rand(0), rand(5))] + [C(values([[0], [2], [3]]), ints(0, 4).of(3), values([6]), rand(3), binary_output=False), C(values(numpy.zeros((0, 2))), ints(0, 4).of(0), values([6, 2]), rand(0), binary_output=False),
                                      C(values([[0, 1, 0], [0, 1, 1], [1, 0, 0]]), ints(0, 2).of(3), values([2, 2, 2]), rand(0), binary_output=False, variants=("unknown",))], types=T,
        errors=[C(values([[0, 1]]), values([-1]), values([4, 3]), rand(0), binary_output=False, types=F, says="non-negative"), C(values(INDICES), ints(0, 5).of(4), values([4, 3]), rand(0), binary_output=False, types=F, says="Number of values"), C(values(INDICES), ints(0, 5).of(5), values([4]), rand(0), binary_output=False, types=F, says="Number of dimensions"), C(values(INDICES), ints(0, 5).of(5), values([4, 2]), rand(0), binary_output=False, types=F, says="Invalid index value"),
                C(values([[-1, 0]]), ints(0, 5).of(1), values([4, 2]), rand(0), binary_output=False, types=F, says="Invalid index value"), C(values(INDICES), ints(0, 5).of(5), values([4, 3]), rand(4), binary_output=False, types=F, says="same shape"), C(values([1, 2]), ints(0, 5).of(2), values([4, 3]), rand(0), binary_output=False, types=F, says="2-dim|rank"),
                C(values(numpy.zeros((0, 0))), ints(0, 5).of(0), values([]), rand(0), binary_output=False, types=F, says="at least one"), C(values(numpy.zeros((0, 2))), ints(0, 5).of(0), values([0, 3]), rand(0), binary_output=False, types=F, says="batches"), C(values(numpy.zeros((0, 2))), ints(0, 5).of(0), values([-2, 3]), rand(0), binary_output=False, types=F, says="batches"),
                C(values(INDICES), ints(0, 5).of(5, 1), values([4, 3]), rand(0), binary_output=False, types=F, says="vector"), C(values(INDICES), ints(0, 5).of(5), values([[4, 3]]), rand(0), binary_output=False, types=F, says="vector")]),
    Row("RaggedCountSparseOutput", cases=[C(values([0, 2, 2, 5]), ints(0, 6).of(5), w, **a) for a in HOW for w in (rand(0), rand(5))] + [C(values([0, 0]), ints(0, 4).of(0), rand(0), binary_output=False), C(values([0, 3, 2, 4]), ints(0, 5).of(4), rand(0), binary_output=False)], types=T,
        errors=[C(values([0, 5]), ints(0, 5).of(4), rand(0), binary_output=False, types=F, says="Splits must end"), C(values([1, 4]), ints(0, 5).of(4), rand(0), binary_output=False, types=F, says="Splits must start"), C(values([0]), ints(0, 5).of(0), rand(0), binary_output=False, types=F, says="at least 2"), C(values([0, 2]), values([1, -1]), rand(0), binary_output=False, types=F, says="non-negative"), C(values([0, 4]), ints(0, 5).of(4), rand(3), binary_output=False, types=F, says="same shape")]),
]
