"""The bits of integers."""

from tests.oracle.table import *

BITS = [uniform(-100, 100), uniform(-100, 100)]
SHIFTS = [uniform(-100, 100), ints(-2, 70)]
E1 = [C(rand(2, 3), rand(2, 2), types={"T": "int32"})]
ROWS = [Row(op, BITS, shapes=BROADCAST, errors=E1) for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")]
ROWS += [
    Row("Invert", [uniform(-100, 100)], shapes=ELEMENTWISE),
    Row("PopulationCount", [uniform(-10**18, 10**18)], shapes=ELEMENTWISE),
    Row("LeftShift", [uniform(-100, 100), ints(0, 8)], shapes=BROADCAST, errors=E1),
    Row("RightShift", [uniform(-100, 100), ints(0, 8)], shapes=BROADCAST, errors=E1),
    Row("LeftShift", cases=[C(values([1, 2, 3, -1]), values([-1, 100, 63, 64]))], name="limits"),
    Row("RightShift", cases=[C(values([1, 2, 3, -1]), values([-1, 100, 63, 64]))], name="limits"),
]
