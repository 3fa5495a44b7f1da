"""Functions of the parts of numbers."""

from tests.oracle.table import *

ROWS = [
    Row("Angle", [away_from_zero(0.3, 2)], shapes=ELEMENTWISE, types=[{"T": "complex64", "Tout": "float"}, {"T": "complex128", "Tout": "double"}], grad="tf"),
    Row("Angle", cases=[C([1 + 0j, -1 + 0j, 1j, -1j, 0j])], types=[{"T": "complex64", "Tout": "float"}], grad=False, name="axes"),
    Row("NextAfter", [uniform().edges(0, -0.0, inf, -inf, nan, 1), uniform().edges(0, inf, -inf, nan, 1)], shapes=BROADCAST, tol=0, grad="tf", errors=[C(rand(2, 3), rand(2, 2), types={"T": "float"}, says="Incompatible|must be equal")]),
]
