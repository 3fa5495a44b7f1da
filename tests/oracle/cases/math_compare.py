"""Comparisons and logic."""

from tests.oracle.table import *

EDGE = (0, -0.0, 1, -1, inf, -inf, nan)
MISFIT = C(rand(2, 3), rand(2, 2), types={"T": "float"}, says="(Incompatible shapes|Dimensions must be equal)")
BOOLS = uniform().typed("bool")


def comparison(op):
    return [
        Row(op, [uniform(), uniform()], shapes=BROADCAST, errors=[MISFIT]),
        Row(op, [uniform().edges(*EDGE), uniform().edges(*EDGE)], shapes=(), types={"T": ALL_FLOATS}, name="edges"),
    ]


ROWS = [
    *comparison("Equal"),
    *comparison("NotEqual"),
    *comparison("Greater"),
    *comparison("GreaterEqual"),
    *comparison("Less"),
    *comparison("LessEqual"),
    Row("Equal", cases=[C(rand(2, 3), rand(2, 2), incompatible_shape_error=False),
                        C(values([1.0, 2]), values([1.0, 3]), incompatible_shape_error=False)],
        types={"T": ("float", "string")[:1]}, name="incompatible"),
    Row("NotEqual", cases=[C(rand(2, 3), rand(2, 2), incompatible_shape_error=False)], types={"T": ("float",)},
        name="incompatible"),
    Row("ApproximateEqual", cases=[C(values([1.0, 1.0, 1.0]), values([1.0, 1.000001, 1.1])),
                                   C(values([1.0, 2.0]), values([1.4, 2.6]), tolerance=0.5), C(rand(0), rand(0))],
        errors=[C(rand(2), rand(3), types={"T": "float"}, says="(same shape|must be equal|compatible)")]),
    Row("LogicalAnd", [BOOLS, BOOLS], shapes=BROADCAST),
    Row("LogicalOr", [BOOLS, BOOLS], shapes=BROADCAST),
    Row("LogicalNot", [BOOLS], shapes=ELEMENTWISE),
]
