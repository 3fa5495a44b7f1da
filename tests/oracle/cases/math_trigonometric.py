"""Circular and hyperbolic functions and their inverses."""

from tests.oracle.table import *

SPECIAL = (0, -0.0, 1, -1, 0.5, inf, -inf, nan)


def curve(op, lo, hi, complex_lo=-1, complex_hi=1, edges=SPECIAL):
    """The op over real numbers in [lo, hi], and over a square of complex ones."""
    return [
        Row(op, [uniform(lo, hi).edges(*edges)], shapes=ELEMENTWISE, types={"T": ALL_FLOATS}),
        Row(op, [uniform(complex_lo, complex_hi)], shapes=ELEMENTWISE, types={"T": COMPLEX}, name="complex"),
    ]


ROWS = [
    *curve("Sin", -9, 9, edges=SPECIAL + (100, -1000)),
    *curve("Cos", -9, 9, edges=SPECIAL + (100, -1000)),
    *curve("Tan", -1.3, 1.3, edges=SPECIAL + (100,)),
    *curve("Asin", -0.9, 0.9, 0.1, 0.8, edges=SPECIAL + (2,)),
    *curve("Acos", -0.9, 0.9, 0.1, 0.8, edges=SPECIAL + (2,)),
    *curve("Atan", -5, 5, 0.1, 0.8, edges=SPECIAL + (1000,)),
    *curve("Sinh", -4, 4, edges=SPECIAL + (90, -90, 1e-6)),
    *curve("Cosh", -4, 4, edges=SPECIAL + (90, -90)),
    *curve("Asinh", -5, 5, 0.1, 0.8, edges=SPECIAL + (1e-6, 1000)),
    *curve("Acosh", 1.1, 9, 1.2, 2, edges=SPECIAL + (1000,)),
    *curve("Atanh", -0.9, 0.9, 0.1, 0.8, edges=SPECIAL + (2, 1e-6)),
    Row("Atan2", [away_from_zero(), away_from_zero()], shapes=BROADCAST,
        cases=[C(values([0.0, 0.0, -0.0, 1, -1, inf, nan]), values([1.0, -1.0, -1.0, 0, 0, -inf, 1]), grad=False)]),
]
