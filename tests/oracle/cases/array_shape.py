"""Shapes, sizes, and ops that change the shape alone."""

from tests.oracle.table import *

OUT = [{"T": t, "out_type": "int32"} for t in ALL] + [{"T": "float", "out_type": "int64"}]
SHAPES = [{"T": t, "Tshape": "int32"} for t in ALL] + [{"T": "float", "Tshape": "int64"}]
DIMS = [{"T": t, "Tdim": "int32"} for t in ALL] + [{"T": "float", "Tdim": "int64"}]
FLOAT = {"T": "float", "Tshape": "int32"}
DIM = {"T": "float", "Tdim": "int32"}

ROWS = [
    Row("Shape", [uniform()], shapes=((2, 3), (), (0, 4)), types=OUT),
    Row("ShapeN", cases=[C([rand(2, 3), rand()]), C([rand(0), rand(1, 2, 3), rand(4)])], types=OUT),
    Row("Size", [uniform()], shapes=((2, 3), (), (0, 4)), types=OUT),
    Row("Rank", [uniform()], shapes=((2, 3), (), (0, 4, 1))),
    Row("Reshape", cases=[C(rand(2, 3), [3, 2]), C(rand(2, 3), [-1]), C(rand(2, 3), [3, -1, 1]), C(rand(), [1, 1]), C(rand(1), []),
                          C(rand(0, 3), [3, 0]), C(rand(0, 3), [-1, 3])], types=SHAPES,
        errors=[C(rand(2, 3), [4], types=FLOAT, says="Input to reshape is a tensor with 6 values, but the requested shape has 4|Cannot reshape a tensor with 6 elements to shape \\[4\\]"),
                C(rand(2, 3), [-1, 4], types=FLOAT, says="requires a multiple of 4|Cannot reshape|evenly divisible"),
                C(rand(2, 3), [-1, -1], types=FLOAT, says="Only one input size may be -1, not both 0 and 1"),
                C(rand(2, 3), [-2, 3], types=FLOAT, says="Size 0 must be non-negative, not -2|Invalid value in tensor"),
                C(rand(2, 3), [[6]], types=FLOAT, says="must be 1-D|must be rank 1|at most"),
                C(rand(2, 3), [0, -1], types=FLOAT, says="Input to reshape|Cannot reshape")]),
    Row("Reshape", cases=[C(rand(0, 3), [0, -1]), C(rand(0, 3), [-1, 0]), C(rand(0, 3, 2), [3, -1, 0])], types=[FLOAT], name="zeros"),
    Row("ExpandDims", cases=[C(rand(2, 3), 0), C(rand(2, 3), 1), C(rand(2, 3), 2), C(rand(2, 3), -1), C(rand(2, 3), -3), C(rand(), 0),
                             C(rand(), -1), C(rand(0, 2), [1])], types=DIMS,
        errors=[C(rand(2, 3), 3, types=DIM, says="Tried to expand dim index 3|not in the interval"),
                C(rand(2, 3), -4, types=DIM, says="Tried to expand dim index -4|not in the interval"),
                C(rand(2, 3), [0, 1], types=DIM, says="single value")]),
    Row("Squeeze", cases=[C(rand(1, 3, 1)), C(rand(1, 3, 1), squeeze_dims=[0]), C(rand(1, 3, 1), squeeze_dims=[-1]), C(rand(1, 1)),
                          C(rand(2, 3)), C(rand()), C(rand(1, 0, 1)), C(rand(1, 3, 1), squeeze_dims=[0, 2])],
        errors=[C(rand(1, 3), squeeze_dims=[1], types={"T": "float"}, says="Can not squeeze dim\\[1\\], expected a dimension of 1, got 3"),
                C(rand(1, 3), squeeze_dims=[2], types={"T": "float"}, says="squeeze"),
                C(rand(1, 3), squeeze_dims=[-3], types={"T": "float"}, says="squeeze")]),
    Row("Bitcast", cases=[C(rand(2, 3))], types=[{"T": "float", "type": "int32"}, {"T": "int32", "type": "float"}, {"T": "int64", "type": "double"},
                                                  {"T": "half", "type": "int16"}, {"T": "uint8", "type": "int8"}]),
    Row("Bitcast", cases=[C(rand(2, 2))], types=[{"T": "double", "type": "int32"}, {"T": "float", "type": "uint8"}, {"T": "int32", "type": "int64"},
                                                  {"T": "complex64", "type": "float"}, {"T": "int8", "type": "half"}], name="size",
        errors=[C(rand(2, 3), types={"T": "int32", "type": "int64"}, says="Cannot bitcast"),
                C(rand(), types={"T": "int8", "type": "int32"}, says="Cannot bitcast|at least rank 1")]),
    Row("BroadcastArgs", cases=[C(values([2, 3]), values([3])), C(values([2, 1]), values([1, 5])), C([], [4]), C([2, 1, 3], [4, 1]), C([0, 3], [1])],
        errors=[C([2, 3], [2], types={"T": "int32"}, says="Incompatible shapes|ncompatible")]),
    Row("BroadcastGradientArgs", cases=[C(values([2, 3]), values([3])), C(values([2, 1]), values([1, 5])), C([], [4]), C([2, 1, 3], [4, 1]),
                                        C([0, 3], [1]), C([2, 3], [2, 3]), C([1, 3], [1, 3]), C([1, 2, 1], [1, 1, 1]), C([1], []), C([1, 1], [1])],
        errors=[C([2, 3], [2], types={"T": "int32"}, says="Incompatible shapes")]),
    Row("ConcatOffset", cases=[C(0, [[2, 3], [4, 3]]), C(1, [[2, 3], [2, 0], [2, 5]]), C(-1, [[2, 3], [2, 7]]),
                               C(0, [values([2]), values([3])])],
        errors=[C(2, [[2, 3], [4, 3]], types={"shape_type": "int32"}, says="Concat dim is out of range: 2 vs. 2"),
                C(0, [[2, 3], [4, 4]], types={"shape_type": "int32"}, says="All dimensions except 0 must match"),
                C(0, [[2, 3], [4]], types={"shape_type": "int32"}, says="input 1 should contain 2 elements, but got 1|must be equal")]),
    Row("UnravelIndex", cases=[C(values([0, 5, 3]), [2, 3]), C(5, [2, 3]), C([1, 7], [8]), C([23, 0], [2, 3, 4])],
        errors=[C([6], [2, 3], types={"Tidx": "int32"}, says="index is out of bound as with dims"),
                C(ints(0, 1).of(0), [2, 3], types={"Tidx": "int32"}, says="empty tensor"),
                C([0], [2, 0], types={"Tidx": "int32"}, says="zero"),
                C([[0]], [2, 3], types={"Tidx": "int32"}, says="scalar or vector")]),
]
