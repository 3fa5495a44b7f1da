"""Select, SelectV2, ClipByValue."""

from tests.oracle.table import *

B = uniform().typed("bool")

ROWS = [
    Row("Select", cases=[C(B.of(2, 3), rand(2, 3), rand(2, 3)), C(B.of(2), rand(2, 3), rand(2, 3)), C(B.of(), rand(2, 3), rand(2, 3)),
                         C(B.of(), rand(), rand()), C(B.of(4), rand(4), rand(4)), C(B.of(0), rand(0), rand(0)),
                         C(B.of(3), rand(3, 2, 2), rand(3, 2, 2)), C(B.of(600), rand(600), rand(600))], types={"T": ALL},
        errors=[C(B.of(3), rand(2, 3), rand(2, 3), types={"T": "float"}, says="."),
                C(B.of(2), rand(2, 3), rand(2, 2), types={"T": "float"}, says="."),
                C(B.of(2, 2), rand(2, 3), rand(2, 3), types={"T": "float"}, says=".")]),
    Row("SelectV2", cases=[C(B.of(2, 3), rand(2, 3), rand(2, 3)), C(B.of(3), rand(2, 3), rand(2, 3)), C(B.of(), rand(2, 3), rand(3)),
                           C(B.of(2, 1), rand(3), rand()), C(B.of(4), rand(), rand()), C(B.of(4), rand(4), rand()),
                           C(B.of(4), rand(), rand(4)), C(B.of(0, 2), rand(2), rand()), C(B.of(2, 1, 3), rand(4, 1), rand(1, 1))],
        types={"T": ALL},
        errors=[C(B.of(2), rand(3), rand(3), types={"T": "float"}, says="(broadcast|must be equal)")]),
    Row("ClipByValue", cases=[C(uniform(-9, 9).of(3, 4), values(-2.0), values(3.0)),
                              C(uniform(-9, 9).of(5), values([-1.0, -2, -3, -4, -5]), values([1.0, 2, 3, 4, 5])),
                              C(uniform(-9, 9).of(5), values(-3.0), values([1.0, 2, 3, 4, 5])), C(rand(0), values(0.0), values(1.0))],
        types={"T": ALL_FLOATS},
        errors=[C(rand(3), values([0.0, 1]), values(2.0), types={"T": "float"}, says="same shape as input")]),
    Row("ClipByValue", cases=[C(uniform(0, 20).of(3, 4), values(3), values(9))], types={"T": SIGNED + ("uint8", "uint16")}, name="ints"),
    Row("ClipByValue", cases=[C(uniform(-9, 9).of(3, 4), values(-2 - 3j), values(3 + 1j))], types={"T": COMPLEX}, grad=False, name="complex"),
    Row("ClipByValue", cases=[C(values([nan, 1.0, inf, -inf, 5]), values(0.0), values(2.0), grad=False)], types={"T": ALL_FLOATS}, name="edges"),
]
