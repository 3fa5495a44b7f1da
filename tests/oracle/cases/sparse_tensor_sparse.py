"""Sparse tensors: to dense, order, reshape, join, slice, add, multiply, reduce."""

from tests.oracle.table import *

F = {"T": "float"}
MOVED = ("float", "double", "half", "bfloat16", "int32", "int64", "int8", "uint8", "uint16", "bool", "complex64", "complex128", "string")


def i64(x):
    return values(numpy.array(x, "int64"))


def sparse(shape, *indices, seed=None):
    """indices, values and shape of a sparse tensor."""
    return [i64(numpy.array(indices).reshape(-1, len(shape))), rand(len(indices)), i64(shape)]


A = sparse([3, 4], [0, 1], [0, 3], [2, 0], [2, 2])
B = sparse([3, 4], [0, 1], [1, 1], [2, 2], [2, 3])
CUBE = sparse([2, 3, 4], [0, 0, 1], [0, 2, 3], [1, 0, 0], [1, 0, 2], [1, 2, 3])
EMPTY = sparse([3, 4])
HUGE = sparse([2**40, 2**40], [0, 0], [5, 1])
OVERFLOW = "Encountered overflow when multiplying"
UNORDERED = sparse([3, 4], [2, 2], [0, 1], [2, 0], [0, 3])
OUTSIDE = sparse([3, 4], [0, 1], [3, 0])
NEGATIVE = sparse([3, 4], [-1, 1], [2, 0])
BELOW_ZERO = sparse([-1, 4], [0, 1])

ROWS = [
    Row("SparseToDense", cases=[C(A[0], [3, 4], A[1], rand()), C(values([1, 3]), [5], rand(2), rand(), grad=False), C(values(2), [4], rand(), rand(), grad=False), C(values([0, 2]), [4], rand(), rand(), grad=False), C(EMPTY[0], [3, 4], EMPTY[1], rand()),
                                C(UNORDERED[0], [3, 4], UNORDERED[1], rand(), validate_indices=False)], types={"T": MOVED, "Tindices": INDEX}, grad="tf",
        errors=[C(UNORDERED[0], values([3, 4]), rand(4), values(0), types={"T": "float", "Tindices": "int64"}, says="out of order"), C(OUTSIDE[0], values([3, 4]), rand(2), values(0), types={"T": "float", "Tindices": "int64"}, says="out of bounds"),
                C(values([1, 1]), values([4]), rand(2), values(0), types={"T": "float", "Tindices": "int32"}, says="repeated"), C(values([1, 2]), values([4, 1]), rand(2), values(0), types={"T": "float", "Tindices": "int32"}, says="number of elements|rank"),
                C(values([1, 2]), values([4]), rand(3), values(0), types={"T": "float", "Tindices": "int32"}, says="sparse_values")]),
    Row("SparseReorder", cases=[C(*UNORDERED), C(*A), C(*EMPTY), C(*CUBE)], types={"T": MOVED}, errors=[C(A[0], rand(3), A[2], types=F, says="values|equal")]),
    Row("SparseReshape", cases=[C(A[0], A[2], i64([12])), C(CUBE[0], CUBE[2], i64([-1, 4])), C(A[0], A[2], i64([2, 2, 3])), C(EMPTY[0], EMPTY[2], i64([4, 3])), C(A[0], A[2], i64([3, -1, 2]))],
        errors=[C(A[0], A[2], i64([5, 2]), says="reshape"), C(A[0], A[2], i64([-1, -1]), says="-1"), C(A[0], A[2], i64([-2, 6]), says="non-negative"), C(A[0], i64([12]), i64([12]), says="rank|equal")]),
    Row("SparseConcat", cases=[C([A[0], B[0]], [A[1], B[1]], [A[2], B[2]], concat_dim=d) for d in (0, 1, -1)] + [C([A[0], EMPTY[0], A[0]], [A[1], EMPTY[1], B[1]], [A[2], EMPTY[2], A[2]], concat_dim=1)], types={"T": MOVED},
        errors=[C([A[0], B[0]], [A[1], B[1]], [A[2], i64([4, 4])], concat_dim=1, types=F, says="shapes must match"), C([A[0], B[0]], [A[1], B[1]], [A[2], B[2]], concat_dim=2, types=F, says="range")]),
    Row("SparseSlice", cases=[C(*A, i64([0, 1]), i64([2, 3])), C(*A, i64([1, 0]), i64([5, 3])), C(*CUBE, i64([1, 0, 0]), i64([1, 3, 4])), C(*EMPTY, i64([0, 0]), i64([1, 1]))], types={"T": MOVED},
        errors=[C(*A, i64([0]), i64([1, 1]), types=F, says="start"), C(*A, i64([0, 0]), i64([1]), types=F, says="size")]),
    Row("SparseSliceGrad", cases=[C(rand(2), A[0], i64([0, 1]), i64([[0, 0], [0, 2]]))], errors=[C(rand(1), A[0], i64([0, 1]), i64([[0, 0], [0, 2]]), types=F, says="match")]),
    Row("SparseSplit", cases=[C(values(1, "int64"), *A, num_split=2), C(values(0, "int64"), *A, num_split=3), C(values(2, "int64"), *CUBE, num_split=3)], types={"T": MOVED},
        errors=[C(values(2, "int64"), *A, num_split=2, types=F, says="axis|split_dim"), C(values(0, "int64"), *A, num_split=4, types=F, says="num_split"),
                *[C(values(0, "int64"), *bad, num_split=2, types=F, says="out of bounds") for bad in (OUTSIDE, NEGATIVE)], C(values(0, "int64"), *HUGE, num_split=2, types=F, says=OVERFLOW)]),
    Row("SparseSlice", errors=[C(*HUGE, i64([0, 0]), i64([2, 2]), types=F, says=OVERFLOW), C(*BELOW_ZERO, i64([0, 0]), i64([2, 2]), types=F, says="non-negative")], name="no dense shape"),
    Row("SparseConcat", errors=[C([bad[0]] * 2, [bad[1]] * 2, [bad[2]] * 2, concat_dim=0, types=F, says="overflow from large input shape") for bad in (HUGE, BELOW_ZERO)], name="no dense shape"),
    *[Row(op, errors=[C(*bad, *bad, types=F, says="out of bounds") for bad in (OUTSIDE, NEGATIVE, BELOW_ZERO)], name="outside") for op in ("SparseSparseMaximum", "SparseSparseMinimum")],
    Row("SparseFillEmptyRows", cases=[C(*A, rand()), C(*EMPTY, rand()), C(*UNORDERED, rand()), C(*CUBE, rand())], types={"T": MOVED}, grad="tf",
        errors=[C(*OUTSIDE, values(1), types=F, says="invalid"), C(*A, values([1]), types=F, says="scalar|rank")]),
    Row("SparseFillEmptyRowsGrad", cases=[C(i64([0, 2, 3]), rand(5)), C(i64([]), rand(2))], types={"T": ("float", "double", "int32", "complex64", "half")}, errors=[C(i64([0, 5]), rand(5), types=F, says="reverse index")]),
    Row("SparseAdd", cases=[C(*A, *B, values(0)), C(*A, *EMPTY, values(0)), C(*A, *B, values(1))], types=[{"T": t, "Treal": r} for t, r in (("float", "float"), ("double", "double"), ("int32", "int32"), ("int64", "int64"), ("int8", "int8"), ("int16", "int16"), ("complex64", "float"), ("complex128", "double"))],
        grad="tf", errors=[C(*A, *sparse([4, 4], [0, 1]), values(0), types={"T": "float", "Treal": "float"}, says="shapes do not match")]),
    Row("SparseAddGrad", cases=[C(rand(6), A[0], B[0], i64([[0, 1], [0, 3], [1, 1], [2, 0], [2, 2], [2, 3]]))], errors=[C(rand(5), A[0], B[0], i64([[0, 1], [0, 3], [1, 1], [2, 0], [2, 2], [2, 3]]), types=F, says="match")]),
    Row("SparseSparseMaximum", cases=[C(*A, *B), C(*A, *EMPTY)], grad=False, errors=[C(*A, *sparse([4, 4], [0, 1]), types=F, says="shapes")]),
    Row("SparseSparseMinimum", cases=[C(*A, *B), C(*A, *EMPTY)], grad=False),
    Row("SparseDenseCwiseAdd", cases=[C(*A, rand(3, 4)), C(*A, rand(4)), C(*A, rand()), C(*CUBE, rand(3, 1))], grad=False, errors=[C(*A, rand(3), types=F, says="broadcasts")]),
    Row("SparseDenseCwiseMul", cases=[C(*A, rand(3, 4)), C(*A, rand(4)), C(*CUBE, rand(3, 1))], grad="tf"),
    Row("SparseDenseCwiseDiv", cases=[C(*A, away_from_zero().of(3, 4)), C(*A, away_from_zero().of(4)), C(*CUBE, away_from_zero().of(3, 1))], types={"T": ALL_FLOATS + SIGNED}, grad="tf"),
    Row("SparseReduceSum", cases=[C(*A, [0]), C(*A, [1]), C(*A, [0, 1]), C(*A, -1, keep_dims=True), C(*CUBE, [0, 2]), C(*CUBE, [1], keep_dims=True), C(*EMPTY, [0])], grad="tf", errors=[C(*A, values([2]), types=F, says="Invalid reduction")]),
    Row("SparseReduceSumSparse", cases=[C(*A, [0]), C(*A, [1]), C(*CUBE, [0, 2]), C(*CUBE, [1], keep_dims=True)]),
    Row("SparseReduceMax", cases=[C(*A, [0]), C(*A, [1]), C(*A, -1, keep_dims=True), C(*CUBE, [0, 2])]),
    Row("SparseReduceMaxSparse", cases=[C(*A, [0]), C(*A, [1]), C(*CUBE, [0, 2])]),
    Row("SparseSoftmax", cases=[C(*A), C(*CUBE), C(*EMPTY)], grad="tf", errors=[C(*sparse([4], [1]), types=F, says="rank")]),
    *[Row(op, errors=[C(*HUGE, values([1], "int32"), types=F, says=OVERFLOW)], name="huge")
      for op in ("SparseReduceSum", "SparseReduceSumSparse", "SparseReduceMax", "SparseReduceMaxSparse")],
    Row("SparseReduceSumSparse", cases=[C(*sparse([2**40, 2], [0, 0], [5, 1]), [1], types=F)], name="large"),
    Row("SparseSoftmax", errors=[C(*HUGE, types=F, says=OVERFLOW)], name="huge"),
    Row("SparseTensorDenseAdd", cases=[C(*A, rand(3, 4)), C(*EMPTY, rand(3, 4))], types={"T": NUMBERS, "Tindices": ("int64",)}, errors=[C(*A, rand(4), types={"T": "float", "Tindices": "int64"}, says="rank"), C(*A, rand(3, 5), types={"T": "float", "Tindices": "int64"}, says="Dimension"),
                                                                                    C(*OUTSIDE, rand(3, 4), types={"T": "float", "Tindices": "int64"}, says="invalid index")]),
    Row("SparseTensorDenseMatMul", name="wraps", cases=[C(i64([[0, 0], [0, 1]]), values([2**31 - 1, 2]), i64([1, 2]), values([[2], [2**31 - 1]]))], types={"T": ("int32",), "Tindices": ("int64",)}),
    Row("SparseTensorDenseMatMul", cases=[C(*A, rand(4, 2)), C(*A, rand(3, 2), adjoint_a=True), C(*A, rand(2, 4), adjoint_b=True), C(*A, rand(2, 3), adjoint_a=True, adjoint_b=True), C(*EMPTY, rand(4, 2)), C(*A, rand(4, 0))],
        types={"T": FLOATS + ("half", "bfloat16", "int32") + COMPLEX, "Tindices": INDEX}, grad="tf", errors=[C(*A, rand(3, 2), types={"T": "float", "Tindices": "int64"}, says="inner dimension|equal"), C(*OUTSIDE, rand(4, 2), types={"T": "float", "Tindices": "int64"}, says="out of bounds")]),
]
