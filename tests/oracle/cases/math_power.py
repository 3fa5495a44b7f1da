"""Squares, roots, reciprocals and powers."""

from tests.oracle.table import *

SPECIAL = (0, 1, 4, 0.25, inf, nan)

ROWS = [
    Row("Square", [uniform(-9, 9).edges(0, -0.0, -3, inf, -inf, nan)], shapes=ELEMENTWISE, types={"T": ALL_FLOATS}),
    Row("Square", [uniform(-9, 9)], shapes=ELEMENTWISE, types={"T": INTS + COMPLEX},
        cases=[C(values([100, 127]), types={"T": "int8"})], name="others"),
    Row("Sqrt", [uniform(0.1, 9).edges(*SPECIAL, -1)], shapes=ELEMENTWISE, types={"T": ALL_FLOATS}),
    Row("Sqrt", [away_from_zero()], shapes=ELEMENTWISE, types={"T": COMPLEX}, name="complex"),
    Row("SqrtGrad", [away_from_zero(), uniform()], shapes=ELEMENTWISE),
    Row("Rsqrt", [uniform(0.1, 9).edges(*SPECIAL, -1)], shapes=ELEMENTWISE, types={"T": ALL_FLOATS}),
    Row("Rsqrt", [away_from_zero()], shapes=ELEMENTWISE, types={"T": COMPLEX}, name="complex"),
    Row("RsqrtGrad", [uniform(), uniform()], shapes=ELEMENTWISE),
    Row("Reciprocal", [away_from_zero().edges(*SPECIAL, -0.0, -inf)], shapes=ELEMENTWISE, types={"T": ALL_FLOATS}),
    Row("Reciprocal", [away_from_zero()], shapes=ELEMENTWISE, types={"T": COMPLEX}, name="complex"),
    Row("ReciprocalGrad", [uniform(), uniform()], shapes=ELEMENTWISE),
    Row("Inv", [away_from_zero()], shapes=ELEMENTWISE),
    Row("InvGrad", [uniform(), uniform()], shapes=ELEMENTWISE),
    Row("Pow", [uniform(0.2, 3), uniform()], shapes=BROADCAST, types={"T": ALL_FLOATS},
        cases=[C(values([0.0, 0, 0, -1, -2, 2, inf, 1, nan]), values([0.0, 1, -1, 2, 3, 0, -1, inf, 0]), grad=False)]),
    Row("Pow", [away_from_zero(0.3, 1.5), uniform(-1, 1)], shapes=BROADCAST[:6], types={"T": COMPLEX}, name="complex"),
    Row("Pow", [uniform(-3, 3), uniform(0, 4)], shapes=BROADCAST, types={"T": SIGNED},
        cases=[C(values([0, 0, -1, 2]), values([0, 1, 3, 5]))],
        errors=[C(values([1, 2]), values([1, -1]), types={"T": "int32"}, says="negative integer powers")], name="ints"),
]
