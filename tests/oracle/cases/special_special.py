"""Special functions."""

from tests.oracle.table import *

T1 = {"float": 2e-5, "double": 1e-9, "half": 4e-3}


def f(op, lo, hi, **kw):
    return Row(op, [uniform(lo, hi)], shapes=((), (5,), (2, 3), (0,), (40,)), tol=T1, grad="tf", grad_tol={"float": 2e-4, "double": 1e-8, "half": 2e-2}, **kw)


ROWS = [f("BesselI0", -6, 6), f("BesselI0e", -20, 20), f("BesselI1", -6, 6), f("BesselI1e", -20, 20), f("BesselJ0", -15, 15), f("BesselJ1", -15, 15), f("BesselK0", 0.3, 8), f("BesselK0e", 0.3, 20), f("BesselK1", 0.3, 8),
        f("BesselK1e", 0.3, 20), f("BesselY0", 0.5, 15), f("BesselY1", 0.5, 15), f("Dawsn", -20, 20), f("Erfinv", -0.98, 0.98), f("Expint", 0.05, 60), f("FresnelCos", -8, 8), f("FresnelSin", -8, 8), f("Ndtri", 0.01, 0.99), f("Spence", 0.01, 12),
        Row("Igamma", [uniform(0.3, 8), uniform(0.2, 9)], shapes=BROADCAST, tol=T1, grad="tf", grad_tol={"float": 2e-3, "double": 1e-7}, errors=[C(rand(2, 3), rand(2, 2), types={"T": "float"})]),
        Row("Igammac", [uniform(0.3, 8), uniform(0.2, 9)], shapes=BROADCAST, tol=T1, grad="tf", grad_tol={"float": 2e-3, "double": 1e-7}),
        Row("IgammaGradA", [uniform(0.3, 8), uniform(0.2, 9)], shapes=BROADCAST, tol={"float": 2e-4, "double": 1e-8}),
        Row("Betainc", [uniform(0.3, 5), uniform(0.3, 5), uniform(0.05, 0.95)], shapes=(((3,), (3,), (3,)), ((2, 3), (), ()), ((), (), (4,)), ((), (), ()), ((0,), (0,), (0,))), tol=T1, grad="tf", grad_tol={"float": 2e-4, "double": 1e-8},
            errors=[C(rand(2), rand(3), rand(2), types={"T": "float"})])]
