"""Sign, rounding, and what kind of number an element is."""

from tests.oracle.table import *

HALFWAY = (0, -0.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 1e9, -1e9, inf, -inf, nan)
SPECIAL = (0, -0.0, 1, -1, inf, -inf, nan, 65504)
LOWEST = C(values([-128, 127, 0, -1]), types={"T": "int8"})
INT_MIN = C(values([-2**31, 2**31 - 1, 0]), types={"T": "int32"})

ROWS = [
    Row("Abs", [away_from_zero().edges(*SPECIAL)], shapes=ELEMENTWISE, types={"T": ALL_FLOATS}),
    Row("Abs", [uniform(-9, 9)], shapes=ELEMENTWISE, types={"T": SIGNED}, cases=[LOWEST, INT_MIN], name="ints"),
    Row("Neg", [uniform().edges(*SPECIAL)], shapes=ELEMENTWISE, types={"T": ALL_FLOATS}),
    Row("Neg", [uniform(-9, 9)], shapes=ELEMENTWISE, types={"T": SIGNED + COMPLEX}, cases=[LOWEST, INT_MIN], name="others"),
    Row("Sign", [away_from_zero().edges(0, -0.0, 1, -1, inf, -inf, 65504)], shapes=ELEMENTWISE, types={"T": ALL_FLOATS}),
    Row("Sign", [uniform(-2, 2)], shapes=ELEMENTWISE, types={"T": SIGNED}, cases=[LOWEST], name="ints"),
    Row("Sign", [away_from_zero()], shapes=ELEMENTWISE, types={"T": COMPLEX}, cases=[C(values([0, 1, 1j]))], grad="tf",
        name="complex"),
    Row("Ceil", [uniform(-9, 9).edges(*HALFWAY)], shapes=ELEMENTWISE),
    Row("Floor", [uniform(-9, 9).edges(*HALFWAY)], shapes=ELEMENTWISE),
    Row("Rint", [uniform(-9, 9).edges(*HALFWAY)], shapes=ELEMENTWISE),
    Row("Round", [uniform(-9, 9).edges(*HALFWAY)], shapes=ELEMENTWISE, types={"T": ALL_FLOATS}),
    # TensorFlow's kernel for integers returns zeros.
    Row("Round", [uniform(-9, 9)], shapes=ELEMENTWISE, types={"T": INDEX}, compare="shapes", name="ints"),
    Row("IsFinite", [uniform().edges(*SPECIAL)], shapes=ELEMENTWISE),
    Row("IsInf", [uniform().edges(*SPECIAL)], shapes=ELEMENTWISE),
    Row("IsNan", [uniform().edges(*SPECIAL)], shapes=ELEMENTWISE),
]
