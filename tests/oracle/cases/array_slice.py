"""Slices."""

from tests.oracle.table import *

INDEXED = [{"T": t, "Index": "int32"} for t in ALL] + [{"T": "float", "Index": "int64"}]
FLOAT = {"T": "float", "Index": "int32"}
SHORT = INDEXED + [{"T": "float", "Index": "int16"}, {"T": "double", "Index": "int16"}]
ONE_TYPE = [FLOAT]


def strided(shape, begin, end, strides, **masks):
    return C(rand(*shape), begin, end, strides, **masks)


STRIDED = [
    strided((4, 3), [1, 0], [3, 2], [1, 1]), strided((4, 3), [0, 0], [4, 3], [2, 2]), strided((4, 3), [3, 2], [0, 0], [-1, -1]),
    strided((4, 3), [0, 0], [0, 0], [-1, 1], begin_mask=3, end_mask=3), strided((4, 3), [1], [3], [1]), strided((4, 3), [-1], [0], [1], shrink_axis_mask=1),
    strided((4, 3), [0, 1], [0, 2], [1, 1], begin_mask=1, end_mask=1, shrink_axis_mask=2),
    strided((4, 3), [0, 0, 0], [0, 0, 0], [1, 1, 1], begin_mask=7, end_mask=7, new_axis_mask=2),
    strided((2, 3, 4), [0, 1], [0, 3], [1, 1], ellipsis_mask=1), strided((2, 3, 4), [1, 0, 1], [2, 0, 3], [1, 1, 1], ellipsis_mask=2),
    strided((2, 3, 4), [0, 0, 0, 1], [0, 0, 0, 2], [1, 1, 1, 1], new_axis_mask=1, ellipsis_mask=4, shrink_axis_mask=8),
    strided((5,), [-100], [100], [3]), strided((5,), [4], [2], [1]), strided((0, 3), [0], [2], [1]), strided((), [], [], []),
    strided((4, 3), [0, 0], [4, 3], [1, 1]), strided((2, 3), [1, 1], [2, 2], [1, 1], shrink_axis_mask=3),
    strided((40, 33), [39, 0], [0, 33], [-3, 2], end_mask=1)]

ROWS = [
    Row("Slice", cases=[C(rand(4, 3), [1, 0], [2, 2]), C(rand(4, 3), [1, 1], [-1, -1]), C(rand(4, 3), [0, 0], [4, 3]), C(rand(4, 3), [1, 0], [2, 3]),
                        C(rand(2, 3, 4), [0, 1, 2], [2, 0, 1]), C(rand(), [], []), C(rand(0, 2), [0, 0], [0, 1]), C(rand(4, 3), [4, 0], [0, 3])],
        types=INDEXED,
        errors=[C(rand(4, 3), [5, 0], [1, 1], types=FLOAT, says="Expected begin\\[0\\] in \\[0, 4\\], but got 5|Expected size"),
                C(rand(4, 3), [0, 2], [1, 2], types=FLOAT, says="Expected size\\[1\\] in \\[0, 1\\], but got 2"),
                C(rand(4, 3), [0], [1], types=FLOAT, says="Expected begin and size arguments to be 1-D tensors of size 2|rank"),
                C(rand(4), [0], [-2], types=FLOAT, says="size")]),
    Row("StridedSlice", cases=STRIDED[:8], types=SHORT),
    Row("StridedSlice", cases=STRIDED[8:], types=ONE_TYPE, name="masks",
        errors=[strided((4, 3), [0], [1], [0]), strided((4, 3), [5], [6], [1], shrink_axis_mask=1), strided((4, 3), [0], [1], [-1], shrink_axis_mask=1),
                strided((4,), [0, 0], [1, 1], [1, 1]), strided((4, 3), [0, 0], [1, 1], [1, 1], ellipsis_mask=3), C(rand(4, 3), [0], [1, 1], [1])]),
    Row("StridedSliceGrad", cases=[C([4, 3], [1, 0], [3, 2], [1, 1], rand(2, 2)), C([4, 3], [3], [0], [-2], rand(2, 3)),
                                   C([4, 3], [-1], [0], [1], rand(3), shrink_axis_mask=1), C([2, 3, 4], [0, 1], [0, 3], [1, 1], rand(2, 3, 2), ellipsis_mask=1),
                                   C([0, 3], [0], [2], [1], rand(0, 3))], types=INDEXED,
        errors=[C([4, 3], [1, 0], [3, 2], [1, 1], rand(2, 3), types=FLOAT, says="shape of dy was \\[2,3\\] instead of \\[2,2\\]")]),
    Row("TensorStridedSliceUpdate", cases=[C(rand(4, 3), [1, 0], [3, 2], [1, 1], rand(2, 2)), C(rand(4, 3), [3], [0], [-2], rand(2, 3)),
                                           C(rand(4, 3), [1], [2], [1], rand(3), shrink_axis_mask=1),
                                           C(rand(4, 3), [0, 0], [2, 3], [1, 1], rand(3)), C(rand(4, 3), [0, 0], [2, 3], [1, 1], rand(2, 1)),
                                           C(rand(4, 3), [0, 0], [0, 0], [1, 1], rand(), begin_mask=3, end_mask=3)],
        types=INDEXED,
        errors=[C(rand(4, 3), [1, 0], [3, 2], [1, 1], rand(3, 2), types=FLOAT, says="broadcast|must be equal")]),
    # The stride is larger than the dimension, which selects one element.
    Row("StridedSlice", cases=[strided((4, 3), [1, 0], [4, 3], [2147483647, 1]), strided((4, 3), [3, 2], [0, 0], [-2147483648, -2147483647])], types=ONE_TYPE, name="far strides"),
]
