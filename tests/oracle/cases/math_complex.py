"""Complex numbers."""

from tests.oracle.table import *

PAIRS = [{"T": "complex64", "Tout": "float"}, {"T": "complex128", "Tout": "double"}]

def conj_of_list(b):
    listed = b.op("TensorListReserve", b.const([2], "int32"), b.const(3, "int32"), element_dtype="complex64")
    b.run(targets=[b.op("Conj", listed)], error=True, says="CONJ")


ROWS = [
    Row("Complex", [uniform(), uniform()], shapes=BROADCAST,
        types=[{"T": "float", "Tout": "complex64"}, {"T": "double", "Tout": "complex128"}],
        errors=[C(rand(2), rand(3), types={"T": "float", "Tout": "complex64"}, says="(Incompatible|must be equal)")]),
    Row("Real", [uniform()], shapes=ELEMENTWISE, types=PAIRS),
    Row("Imag", [uniform()], shapes=ELEMENTWISE, types=PAIRS),
    Row("Conj", [uniform()], shapes=ELEMENTWISE, types={"T": COMPLEX}),
    Row("ComplexAbs", [away_from_zero()], shapes=ELEMENTWISE, types=PAIRS, cases=[C(values([0, 3 + 4j]), grad=False)]),
    Row("Conj", name="variant", build=conj_of_list, types={"T": ("variant",)}),
]
