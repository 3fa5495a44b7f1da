"""Errors of binary ops and reductions."""

from tests.oracle.table import *

BINARY = ("MulNoNan", "DivNoNan", "Xlogy", "Xlog1py", "Xdivy", "Polygamma", "Zeta", "Atan2")
GRADIENTS = ("TanhGrad", "SigmoidGrad", "SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad")
SHAPES = "ncompatible shapes|must be equal|same shape|same size|same number of elements"


def mismatched(op, **types):
    return Row(op, errors=[C(rand(2, 3), rand(2, 2), types=types, says=SHAPES), C(rand(3, 1, 2), rand(2, 3), types=types, says=SHAPES)], name="mismatch")


def reduction(op, **types):
    return Row(op, errors=[C(rand(2, 3), [2], types=types, says="reduction dimension"), C(rand(2, 3), [-3], types=types, says="reduction dimension"),
                           C(rand(), [0], types=types, says="reduction dimension")], name="bad_axis")


ROWS = [
    *[mismatched(op, T="float") for op in BINARY],
    *[Row(op, errors=[C(rand(2, 3), rand(2, 2), types={"T": "float"}, says=SHAPES)], name="mismatch") for op in GRADIENTS],
    mismatched("LogicalAnd"), mismatched("LogicalOr"),
    reduction("All"), reduction("Any"), reduction("EuclideanNorm", T="float"),
    Row("BatchMatMulV3", errors=[C(rand(2, 3), rand(2, 3), types={"Ta": "float", "Tb": "float", "Tout": "float"}, says="must be equal|compatible|In\\[0\\]"),
                                 C(rand(2, 2, 3), rand(3, 3, 2), types={"Ta": "float", "Tb": "float", "Tout": "float"}, says="must be equal|compatible|broadcast"),
                                 C(rand(3), rand(3, 2), types={"Ta": "float", "Tb": "float", "Tout": "float"}, says="rank|ndims")], name="bad_shapes"),
]
