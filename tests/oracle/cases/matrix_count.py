"""Counting, binning, searching and selecting values."""

from tests.oracle.table import *

CT = ("int32", "int64", "float", "double")
ROWS = [
    Row("Bincount", cases=[C(ints(0, 5).of(9), 6, rand(9)), C(ints(0, 5).of(2, 3), 3, rand(0)), C(ints(0, 5).of(0), 2, rand(0)), C(ints(0, 9).of(8), 0, rand(8))], types={"T": CT},
        errors=[C(values([-1]), values(3), rand(1), types={"T": "float"}, says="non-negative"), C(values([1]), values(-3), rand(1), types={"T": "float"}, says="non-negative"),
                C(values([1, 2]), values(3), rand(3), types={"T": "float"}, says="weights"), C(values([1]), values([3]), rand(1), types={"T": "float"}, says="rank")]),
    Row("DenseBincount", cases=[C(ints(0, 5).of(9), 6, rand(9)), C(ints(0, 5).of(2, 4), 4, rand(2, 4)), C(ints(0, 5).of(2, 4), 4, rand(0), binary_output=True), C(ints(0, 3).of(3, 0), 4, rand(0)), C(ints(0, 3).of(3), 4, rand(0), binary_output=True)],
        types={"T": CT, "Tidx": INDEX},
        errors=[C(values([-1]), values(3), rand(1), types={"T": "float", "Tidx": "int32"}, says="non-negative"), C(values([[1, 2]]), values(3), rand(3), types={"T": "float", "Tidx": "int32"}, says="weights"),
                C(values([[[1, 2]]]), values(3), rand(0), types={"T": "float", "Tidx": "int32"}, says="rank")]),
    Row("Bucketize", cases=[C(uniform(-5, 15).of(20), boundaries=[0.0, 3.5, 10.0]), C(values([[0, 3], [10, -1]]), boundaries=[0.0, 3.0, 10.0]), C(rand(0), boundaries=[1.0]), C(rand(2), boundaries=[])], types={"T": CT},
        errors=[C(rand(2), boundaries=[1.0, 0.0], types={"T": "float"}, says="sorted")]),
    Row("HistogramFixedWidth", cases=[C(uniform(-5, 15).of(20), values([0, 10]), 5), C(values([0, 5, 10, -3, 12]), values([0, 10]), 2), C(rand(0), values([0, 1]), 3), C(uniform(-3, 9).of(4, 5), values([-1, 7]), 7)], types={"T": CT, "dtype": INDEX},
        errors=[C(rand(2), values([1, 1]), values(3), types={"T": "float"}, says="value_range"), C(rand(2), values([0, 1]), values(0), types={"T": "float"}, says="positive"), C(rand(2), values([0, 1, 2]), values(3), types={"T": "float"}, says="2 elements|equal|must be 2")]),
    Row("LowerBound", cases=[C(values([[1, 3, 3, 7], [0, 2, 4, 9]]), values([[0, 3, 8], [2, 3, 10]])), C(values([[1], [2]]), values([[1, 2], [1, 2]])), C(values(numpy.zeros((2, 0))), values([[1], [2]])), C(values([[1, 2]]), values(numpy.zeros((1, 0))))], types={"T": REALS, "out_type": INDEX},
        errors=[C(values([1, 2]), values([[1]]), types={"T": "float"}, says="matrix|rank"), C(values([[1, 2]]), values([[1], [2]]), types={"T": "float"}, says="Leading")]),
    Row("UpperBound", cases=[C(values([[1, 3, 3, 7], [0, 2, 4, 9]]), values([[0, 3, 8], [2, 3, 10]])), C(values([[1], [2]]), values([[1, 2], [1, 2]]))], types={"T": REALS, "out_type": INDEX},
        errors=[C(values([1, 2]), values([[1]]), types={"T": "float"}, says="matrix|rank")]),
    Row("NthElement", cases=[C(distinct().of(5), 0), C(distinct().of(2, 5), 3), C(distinct().of(2, 5), 1, reverse=True), C(distinct().of(0, 3), 1), C(distinct().of(2, 2, 3), 2)],
        errors=[C(rand(3), values(3), types={"T": "float"}, says="n"), C(rand(3), values(-1), types={"T": "float"}, says="non-negative"), C(rand(), values(0), types={"T": "float"}, says="rank")]),
    # Counts wrap around.
    Row("Bincount", cases=[C(values([1, 1, 0]), 2, values([2147483647, 5, -1]))], types={"T": "int32"}, name="wraps"),
    Row("DenseBincount", cases=[C(values([[1, 1], [0, 1]]), 2, values([[2147483647, 5], [-2147483648, -1]]))], types={"T": "int32", "Tidx": "int32"}, name="wraps"),
]
