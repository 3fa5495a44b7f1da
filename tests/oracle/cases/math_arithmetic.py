"""Sums, differences, products, quotients and remainders."""

from tests.oracle.table import *

MISFIT = C(rand(2, 3), rand(2, 2), types={"T": "float"}, says="(Incompatible shapes: \\[2,3\\] vs. \\[2,2\\]|Dimensions must be equal, but are 3 and 2)")
EDGE = (0, -0.0, 1, -1, inf, -inf, nan)
WRAP = [C(values([127, -128, 100]), values([1, -1, 100]), types={"T": "int8"}),
        C(values([2**31 - 1, -2**31]), values([2, 2]), types={"T": "int32"})]


def by_zero(**more):
    return [C(values([1, 2]), values([1, 0]), types={"T": t}, **more) for t in ("int32", "int64")]


ZERO = by_zero(says="Integer division by zero")
# TensorFlow loses the reason of these errors: INTERNAL "Unexpected error in binary operator".
ZERO_FORGOTTEN = by_zero(code="INVALID_ARGUMENT")
LARGE = ((300, 7), (300, 1)), ((5, 2000), (2000,)), ((70, 1, 9), (1, 40, 1)), ((1,), (3, 1, 1))


def division(op, types, grad=None, **more):
    """Divisors away from 0, and edges if TensorFlow defines their results."""
    return Row(op, [uniform(-9, 9), away_from_zero(0.5, 4)], shapes=BROADCAST, types={"T": types}, grad=grad, **more)


ROWS = [
    Row("Add", [uniform().edges(*EDGE), uniform().edges(*EDGE)], shapes=BROADCAST, types={"T": ALL_FLOATS}, errors=[MISFIT]),
    Row("Add", [uniform(-9, 9), uniform(-9, 9)], shapes=BROADCAST[:8], types={"T": SIGNED + ("uint8",) + COMPLEX + ("string",)},
        name="others"),
    Row("AddV2", [uniform(), uniform()], shapes=BROADCAST, errors=[MISFIT], cases=WRAP),
    Row("AddV2", [uniform(), uniform()], shapes=LARGE, types={"T": FLOATS + ("int16",)}, name="large"),
    Row("Sub", [uniform(), uniform()], shapes=BROADCAST, errors=[MISFIT], cases=WRAP),
    Row("Sub", [uniform(), uniform()], shapes=LARGE, types={"T": FLOATS + ("int16",)}, name="large"),
    Row("Mul", [uniform(), uniform()], shapes=BROADCAST, errors=[MISFIT], cases=WRAP),
    Row("Mul", [uniform(), uniform()], shapes=LARGE, types={"T": FLOATS + ("int16",)}, name="large"),
    # TensorFlow's gradients of MulNoNan and SquaredDifference do not conjugate complex numbers.
    Row("MulNoNan", [uniform(), uniform()], shapes=BROADCAST, types={"T": COMPLEX}, grad="tf", name="complex"),
    Row("MulNoNan", [uniform(), away_from_zero()], shapes=BROADCAST, types={"T": ALL_FLOATS},
        cases=[C(values([inf, nan, 1, 0]), values([0.0, 0, 2, 3]), types={"T": "float"}, grad=False)]),
    Row("SquaredDifference", [uniform(), uniform()], shapes=BROADCAST, types={"T": ALL_FLOATS + INDEX}, errors=[MISFIT]),
    Row("SquaredDifference", [uniform(), uniform()], shapes=BROADCAST, types={"T": COMPLEX}, grad="tf", name="complex"),
    Row("Maximum", [uniform(), uniform()], shapes=BROADCAST, errors=[MISFIT]),
    Row("Maximum", [uniform().edges(*EDGE), uniform().edges(*EDGE)], shapes=(), types={"T": ALL_FLOATS}, grad=False, name="edges"),
    Row("Minimum", [uniform(), uniform()], shapes=BROADCAST, errors=[MISFIT]),
    Row("Minimum", [uniform().edges(*EDGE), uniform().edges(*EDGE)], shapes=(), types={"T": ALL_FLOATS}, grad=False, name="edges"),
    Row("AddN", cases=[C([rand(2, 3)]), C([rand(2, 3), rand(2, 3)]), C([rand(4), rand(4), rand(4), rand(4), rand(4)]),
                       C([rand(0), rand(0)]), C([rand(), rand(), rand()]), C([rand(3000), rand(3000), rand(3000)])],
        types={"T": NUMBERS},
        errors=[C([rand(2), rand(3)], types={"T": "float"}, says="(same size and shape|Dimension 0 in both shapes must be equal|not compatible)")]),
    division("RealDiv", ALL_FLOATS + COMPLEX, errors=[MISFIT]),
    Row("RealDiv", [uniform().edges(*EDGE), uniform().edges(*EDGE)], shapes=(), types={"T": ALL_FLOATS}, grad=False, name="edges"),
    division("Div", ALL_FLOATS + COMPLEX),
    division("Div", INTS, errors=ZERO, name="ints", cases=[C(values([7, -7]), values([-2, 2]), types={"T": "int32"})]),
    division("DivNoNan", ALL_FLOATS + COMPLEX, cases=[C(values([1, 0, inf]), values([0.0, 0, 0]), grad=False)]),
    division("FloorDiv", ALL_FLOATS),
    division("FloorDiv", INTS, errors=ZERO, name="ints",
             cases=[C(values([7, -7, 7, -7, 6]), values([2, 2, -2, -2, -3]), types={"T": "int32"})]),
    division("FloorMod", ALL_FLOATS, grad="tf"),
    division("FloorMod", INTS, errors=ZERO, name="ints",
             cases=[C(values([7, -7, 7, -7, 6]), values([2, 2, -2, -2, -3]), types={"T": "int32"})]),
    division("Mod", FLOATS),
    division("Mod", INDEX, errors=ZERO, name="ints"),
    division("TruncateDiv", ALL_FLOATS),
    division("TruncateDiv", INTS, errors=ZERO_FORGOTTEN, name="ints"),
    division("TruncateMod", FLOATS),
    division("TruncateMod", INDEX, errors=ZERO_FORGOTTEN, name="ints"),
]
