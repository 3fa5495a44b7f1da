"""The greatest elements of rows."""

from tests.oracle.table import *

F = {"T": "float"}

ROWS = [
    Row("TopKV2", cases=[
        C(distinct().of(5), 2), C(distinct().of(3, 4), 4), C(distinct().of(2, 2, 5), 3), C(distinct().of(2, 5), 1), C(distinct().of(2, 5), 0), C(distinct().of(0, 5), 2),
        C(distinct().of(2, 5), 1, sorted=False), C(distinct().of(3, 3), 3, sorted=False)],
        types={"T": REALS, "Tk": ("int32",), "index_type": ("int32",)},
        errors=[C(rand(2, 2), values(3), types=F, says="at least k|last dimension >= k"), C(rand(2, 2), values(-1), types=F, says="k >= 0|non-negative"),
                C(rand(2, 2), values([1]), types=F, says="scalar|rank"), C(rand(), values(1), types=F, says=">= 1-D|rank"),
                C(rand(40000), values(1), types={"T": "float", "index_type": "int16"}, says="must be <= 32767, got 40000")]),
    Row("TopKV2", cases=[C(distinct().of(2, 5), 3), C(values([[1.0, 3, 3, 2, 3], [1, 1, 1, 1, 1]]), 4, grad=False)],
        types={"T": ("float",), "Tk": ("int16", "int32", "int64"), "index_type": ("int16", "int32", "int64")}, name="types", grad=False),
    Row("TopKV2", cases=[C(distinct().of(20, 500), 20), C(ints(0, 9).of(20, 300), 50)], types={"T": ("float", "int32")}, name="big", grad=False),
    Row("TopK", errors=[C(rand(2, 3), k=2, types=F, says="is not available in GraphDef version [0-9]+. It has been removed in version 7")], producer=2474),
    Row("InTopK", cases=[C(distinct().of(4, 5), ints(0, 5).of(4), k=2), C(distinct().of(0, 5), ints(0, 5).of(0), k=2), C(distinct().of(4, 5), [0, 4, 5, -1], k=5)]),
    Row("InTopKV2", cases=[
        C(distinct().of(4, 5), ints(0, 5).of(4), 2), C(distinct().of(4, 5), ints(0, 5).of(4), 0), C(distinct().of(4, 5), [0, 4, 5, -1], 3),
        C(values([[1.0, 2], [2, 1], [1, 1], [inf, 1], [nan, 1], [1, nan], [1, 2], [1, inf], [-inf, 1]]), [1, 0, 1, 1, 1, 1, 2, 0, 0], 1)],
        errors=[C(rand(2, 2), values([1]), values(1), says="First dimension|must be equal"), C(rand(2), values([1]), values(1), says="2-dim|rank"),
                C(rand(1, 2), values([[1]]), values(1), says="1-dim|rank"), C(rand(1, 2), values([1]), values([1]), says="0-D|rank")]),
]
