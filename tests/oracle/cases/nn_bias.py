"""Biases of channels."""

from tests.oracle.table import *

F = {"T": "float"}

ROWS = [
    Row("BiasAdd", cases=[
        C(rand(2, 3), rand(3)), C(rand(2, 3, 4), rand(4)), C(rand(2, 3, 2, 4), rand(4)), C(rand(2, 2, 3, 2, 3), rand(3)), C(rand(0, 3), rand(3)),
        C(rand(2, 0), rand(0)), C(rand(2, 3, 4), rand(3), data_format="NCHW"), C(rand(2, 3, 2, 2), rand(3), data_format="NCHW"),
        C(rand(2, 3, 2, 2, 2), rand(3), data_format="NCHW"), C(rand(2, 3, 0), rand(3), data_format="NCHW")],
        errors=[C(rand(2, 3), rand(2), types=F, says="as many biases|must be equal"), C(rand(3), rand(3), types=F, says="at least 2D|rank"),
                C(rand(2, 3), rand(3, 1), types=F, says="1D|rank"),
                C(rand(2, 3, 4), rand(4), data_format="NCHW", types=F, says="as many biases|must be equal")]),
    Row("BiasAddV1", cases=[C(rand(2, 3), rand(3)), C(rand(2, 3, 2, 4), rand(4)), C(rand(0, 3), rand(3))],
        errors=[C(rand(2, 3), rand(2), types=F, says="as many biases|must be equal")]),
    Row("BiasAddGrad", cases=[
        C(rand(2, 3)), C(rand(2, 3, 4)), C(rand(2, 3, 2, 4)), C(rand(0, 3)), C(rand(2, 0)), C(rand(2, 3, 4), data_format="NCHW"),
        C(rand(2, 3, 2, 2), data_format="NCHW"), C(rand(2, 3, 2, 2, 2), data_format="NCHW"), C(rand(2, 3, 0), data_format="NCHW")],
        errors=[C(rand(3), types=F, says="at least 2D|rank")], tol={"half": 5e-3, "bfloat16": 4e-2}),
    Row("BiasAddGrad", cases=[C(rand(3000, 5)), C(rand(40, 3, 100), data_format="NCHW")], types={"T": FLOATS + ("int32", "half")}, name="big",
        grad=False, tol={"half": 2e-2, "float": 1e-4, "double": 1e-10}),
    # Integers wrap around.
    Row("BiasAdd", cases=[C(values([[2147483647, 1], [-2147483648, 5]]), values([1, -6])),
                          C(values([[[2147483647, 1], [-2147483648, 5]]]), values([2, -1]), data_format="NCHW")], types={"T": "int32"}, name="wraps"),
    Row("BiasAddGrad", cases=[C(values([[2147483647, -2147483648], [1, -1], [7, 7]])), C(values([[[2147483647, 1], [-2147483648, -1]]]), data_format="NCHW")],
        types={"T": "int32"}, name="wraps"),
]
