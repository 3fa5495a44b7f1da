"""Batch normalisation and local response normalisation."""

from tests.oracle.table import *

X = uniform(-2, 2)
V = uniform(0.5, 2)
HALF_TOL = {"half": 5e-3, "bfloat16": 4e-2, "float": 2e-5}
HALF_GRAD = {"half": 4e-2, "bfloat16": 0.3, "float": 2e-4}


def norm(x, n, **attrs):
    """scale, offset, mean and variance of n channels."""
    return C(x, V.of(n), X.of(n), X.of(n), V.of(n), **({"epsilon": 0.01} | attrs))


def measured(x, n, **attrs):
    """Without mean and variance."""
    return C(x, V.of(n), X.of(n), values(numpy.zeros(0)), values(numpy.zeros(0)), **({"epsilon": 0.01} | attrs))


CASES = [
    measured(X.of(2, 3, 4, 3), 3), norm(X.of(2, 3, 4, 3), 3), norm(X.of(2, 3, 4, 3), 3, exponential_avg_factor=0.25), norm(X.of(2, 3, 4, 3), 3, is_training=False),
    measured(X.of(2, 3, 4, 2), 3, data_format="NCHW"), norm(X.of(2, 3, 4, 2), 3, data_format="NCHW", is_training=False),
    norm(X.of(2, 3, 4, 2), 3, data_format="NCHW", exponential_avg_factor=0.5), norm(X.of(1, 1, 1, 2), 2, grad=False), norm(X.of(8, 9, 10, 5), 5, grad="tf")]
VOLUMES = [measured(X.of(2, 2, 3, 2, 3), 3, data_format="NDHWC"), norm(X.of(2, 3, 2, 2, 3), 3, data_format="NCDHW", is_training=False)]


def wrong(types):
    def case(x, *sizes, says, **attrs):
        return C(x, *[V.of(*s) for s in sizes], types=types, says=says, **attrs)

    return [
        case(X.of(2, 3, 4, 3), (2,), (3,), (3,), (3,), says="scale must have the same number of elements|must be equal"),
        case(X.of(2, 3, 4, 3), (3,), (3,), (0,), (0,), is_training=False, says="mean must have the same number of elements|must be equal"),
        case(X.of(3, 4, 3), (3,), (3,), (3,), (3,), says="4-dimensional|rank"),
        case(X.of(2, 3, 4, 3), (3, 1), (3,), (3,), (3,), says="1-dimensional|rank")]


def grad(x, n, **attrs):
    return C(X.of(*x), X.of(*x), V.of(n), X.of(n), V.of(n), **({"epsilon": 0.01} | attrs))


def grad3(x, n, **attrs):
    return C(X.of(*x), X.of(*x), V.of(n), X.of(n), V.of(n), values(0.0), **({"epsilon": 0.01} | attrs))


def grads(of):
    return [of((2, 3, 4, 3), 3, is_training=False), of((2, 3, 4, 2), 3, data_format="NCHW", grad=False), of((2, 3, 4, 3), 3, grad=False)]


ROWS = [
    Row("FusedBatchNorm", cases=CASES, errors=wrong({"T": "float"}), tol=HALF_TOL, grad_tol=HALF_GRAD),
    Row("FusedBatchNormV2", cases=CASES, errors=wrong({"T": "float", "U": "float"}), tol=HALF_TOL, grad_tol=HALF_GRAD),
    Row("FusedBatchNormV3", cases=CASES + VOLUMES, errors=wrong({"T": "float", "U": "float"}), tol=HALF_TOL, grad_tol=HALF_GRAD),
    Row("FusedBatchNormGrad", cases=grads(grad), tol=HALF_TOL, grad_tol=HALF_GRAD),
    Row("FusedBatchNormGradV2", cases=grads(grad), tol=HALF_TOL, grad_tol=HALF_GRAD),
    Row("FusedBatchNormGradV3", cases=grads(grad3), tol=HALF_TOL, grad_tol=HALF_GRAD),
    Row("LRN", cases=[C(X.of(1, 2, 3, 7)), C(X.of(2, 2, 2, 9), depth_radius=2, bias=2.0, alpha=0.5, beta=0.75), C(X.of(0, 2, 2, 3))],
        errors=[C(rand(2, 3), types={"T": "float"}, says="4-dim|rank")], tol=HALF_TOL, grad_tol=HALF_GRAD, numeric_tol=1e-2),
    Row("LRNGrad", cases=[C(X.of(1, 2, 3, 7), X.of(1, 2, 3, 7), X.of(1, 2, 3, 7)),
                          C(X.of(2, 2, 2, 9), X.of(2, 2, 2, 9), X.of(2, 2, 2, 9), depth_radius=2, bias=2.0, alpha=0.5, beta=0.75)],
        errors=[C(rand(1, 2, 2, 3), rand(1, 2, 2, 4), rand(1, 2, 2, 3), types={"T": "float"}, says="same shape|must be equal|compatible")],
        tol={"half": 2e-2, "float": 1e-4}, grad=False),
]
