"""Exponentials, logarithms, and functions based on them."""

from tests.oracle.table import *

SPECIAL = (0, -0.0, 1, -1, 0.5, inf, -inf, nan)
WIDE = SPECIAL + (20, -20, 100, -100, 1e-6)

ROWS = [
    Row("Exp", [uniform(-4, 4).edges(*WIDE, 80, -80)], shapes=ELEMENTWISE, types={"T": ALL_FLOATS}),
    Row("Exp", [uniform(-3, 3)], shapes=ELEMENTWISE, types={"T": COMPLEX}, name="complex"),
    Row("Expm1", [uniform(-4, 4).edges(*WIDE)], shapes=ELEMENTWISE, types={"T": ALL_FLOATS}),
    Row("Expm1", [uniform(-3, 3)], shapes=ELEMENTWISE, types={"T": COMPLEX}, cases=[C(values([0, 1e-9, 1e-9j]))],
        name="complex"),
    Row("Log", [uniform(0.1, 9).edges(*SPECIAL, 1e30, 1.001)], shapes=ELEMENTWISE, types={"T": ALL_FLOATS}),
    Row("Log", [away_from_zero()], shapes=ELEMENTWISE, types={"T": COMPLEX}, name="complex"),
    Row("Log1p", [uniform(-0.9, 9).edges(*SPECIAL, 1e-6, 1e30)], shapes=ELEMENTWISE, types={"T": ALL_FLOATS}),
    Row("Log1p", [uniform(0.1, 2)], shapes=ELEMENTWISE, types={"T": COMPLEX}, cases=[C(values([1e-9, 1e-9j]))], name="complex"),
    Row("Sigmoid", [uniform(-6, 6).edges(*WIDE)], shapes=ELEMENTWISE, types={"T": ALL_FLOATS}),
    Row("Sigmoid", [uniform()], shapes=ELEMENTWISE, types={"T": COMPLEX}, name="complex"),
    # TensorFlow's gradients of these do not conjugate complex numbers.
    Row("SigmoidGrad", [uniform(), uniform()], shapes=ELEMENTWISE, types={"T": COMPLEX}, grad="tf", name="complex"),
    Row("TanhGrad", [uniform(), uniform()], shapes=ELEMENTWISE, types={"T": COMPLEX}, grad="tf", name="complex"),
    Row("SigmoidGrad", [uniform(), uniform()], shapes=ELEMENTWISE, types={"T": ALL_FLOATS},
        errors=[C(rand(3), rand(4), types={"T": "float"}, says="same number of elements", variants=["unknown"])]),
    Row("Tanh", [uniform(-6, 6).edges(*WIDE)], shapes=ELEMENTWISE, types={"T": ALL_FLOATS}),
    Row("Tanh", [uniform()], shapes=ELEMENTWISE, types={"T": COMPLEX}, name="complex"),
    Row("TanhGrad", [uniform(), uniform()], shapes=ELEMENTWISE, types={"T": ALL_FLOATS}),
    # TensorFlow returns NaN for infinite doubles.
    Row("Erf", [uniform(-3, 3).edges(0, 1, -1, 0.5, nan)], shapes=ELEMENTWISE),
    Row("Erfc", [uniform(-3, 3).edges(*SPECIAL, 5, -5)], shapes=ELEMENTWISE),
    Row("Xlogy", [uniform(), uniform(0.2, 3)], shapes=BROADCAST, types={"T": ALL_FLOATS},
        cases=[C(values([0, 0, 0, 1]), values([0, nan, -1, 0]), grad=False),
               C(values([0, 0, 0, 4, 0]), values([0, nan, -1, 0, inf]), grad="tf"), C(values(0), values([3.1, 0]), grad="tf")]),
    Row("Xlogy", [uniform(), away_from_zero()], shapes=BROADCAST[:4], types={"T": COMPLEX}, grad="tf", name="complex"),
    Row("Xlog1py", [uniform(), uniform(-0.7, 3)], shapes=BROADCAST, types={"T": ALL_FLOATS},
        cases=[C(values([0, 0, 0, 1]), values([-1, nan, -2, -1]), grad=False)]),
    Row("Xlog1py", [uniform(), uniform(0.2, 2)], shapes=BROADCAST[:4], types={"T": COMPLEX}, grad="tf", name="complex"),
    Row("Xdivy", [uniform(), away_from_zero()], shapes=BROADCAST[:4], types={"T": COMPLEX}, grad="tf", name="complex"),
    Row("Xdivy", [uniform(), away_from_zero()], shapes=BROADCAST, types={"T": ALL_FLOATS},
        cases=[C(values([0, 0, 1]), values([0, nan, 2]), grad=False)]),
    Row("Lgamma", [uniform(0.2, 6).edges(*SPECIAL, 2, 30, -2.5)], shapes=ELEMENTWISE),
    # Its gradient, Polygamma, exists only for float and double.
    Row("Digamma", [uniform(0.2, 6).edges(1, 2, 0.5, -0.5, -2.5, 30, 1000)], shapes=ELEMENTWISE, types={"T": ("float", "double")}),
    Row("Polygamma", grad="tf", cases=[
        C(values([0.0, 1, 2, 3]), uniform(0.4, 6).of(4)), C(values(1.0), uniform(0.4, 6).of(2, 3)),
        C(values([[1.0], [2.0]]), uniform(0.4, 30).of(3))]),
    Row("Zeta", [uniform(1.2, 9).no_gradient(), uniform(0.4, 9)], shapes=BROADCAST),
    Row("Zeta", cases=[C(values([2, 3, 4]), values([-2000.5, -1500.25, -3000.75]))], types={"T": "double"}, grad=False, tol=1e-10, name="far below"),
]
