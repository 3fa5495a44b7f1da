"""Batch normalisation of the first versions."""

from tests.oracle.table import *

F = {"T": "float"}
V = uniform(0.3, 2)
T = {"float": 2e-5, "double": 1e-11, "half": 2e-2}
AT = dict(producer=8)


def settings(make):
    return [make(s, g) for s in ((2, 3, 4, 3), (1, 1, 1, 2)) for g in (False, True)]


def norm(s, g):
    return C(rand(*s), rand(s[3]), V.of(s[3]), rand(s[3]), rand(s[3]), variance_epsilon=0.01, scale_after_normalization=g)


def grad(s, g):
    return C(rand(*s), rand(s[3]), V.of(s[3]), rand(s[3]), rand(*s), variance_epsilon=0.01, scale_after_normalization=g)


ROWS = [
    Row("BatchNormWithGlobalNormalization", cases=settings(norm), types={"T": ("half", "float", "double")}, tol=T, grad="tf", grad_tol={"float": 1e-4, "double": 1e-10, "half": 5e-2},
        errors=[C(rand(3, 4, 3), rand(3), V.of(3), rand(3), rand(3), variance_epsilon=0.01, scale_after_normalization=True, types=F, says="4-dim|rank")], **AT),
    Row("BatchNormWithGlobalNormalizationGrad", cases=settings(grad), types={"T": ("half", "float", "double")}, tol={"float": 1e-4, "double": 1e-10, "half": 5e-2},
        errors=[C(rand(2, 3, 4, 3), rand(2), V.of(3), rand(3), rand(2, 3, 4, 3), variance_epsilon=0.01, scale_after_normalization=True, types=F, says="must be|equal", variants=("known",))], **AT),
]
