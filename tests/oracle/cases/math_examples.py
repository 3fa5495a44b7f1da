"""Two rows as examples: an elementwise op, and one with broadcasting and errors."""

from tests.oracle.table import *

ROWS = [
    Row("Sinh", [uniform(-10, 10).edges(0, -0.0, inf, -inf, nan)], shapes=ELEMENTWISE),
    Row("AddV2", [uniform(), uniform()], shapes=BROADCAST, types={"T": NUMBERS},
        errors=[C(rand(2, 3), rand(2, 2), types={"T": "float"}, says="ncompatible shapes|must be equal")]),
]
