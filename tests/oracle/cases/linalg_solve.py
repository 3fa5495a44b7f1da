"""Linear equations, inverses, determinants and functions of matrices."""

from tests.oracle.table import *

F = {"T": "float"}
# Elimination amplifies the last digit.
TOL = {"float": 1e-4, "complex64": 1e-4, "double": 1e-10, "complex128": 1e-10, "half": 1e-2}
DEFAULT = dict(tol=TOL, grad_tol={"float": 1e-3, "complex64": 1e-3, "double": 1e-9, "complex128": 1e-9, "half": 5e-2})


def full(random, shape, dtype):
    m = random.uniform(-1, 1, shape)
    return m + 1j * random.uniform(-1, 1, shape) if dtype in COMPLEX else m


def regular(*shape):
    """Matrices far from singular ones: their diagonal is great."""
    def make(random, own, dtype):
        m = full(random, own, dtype)
        n = own[-1]
        return m + (n + 1.0) * numpy.eye(n) * random.choice([-1, 1], n)
    return Gen(make).of(*shape)


def positive(*shape):
    """Positive definite and Hermitian."""
    def make(random, own, dtype):
        m = full(random, own, dtype)
        return m @ numpy.conj(numpy.swapaxes(m, -1, -2)) + own[-1] * numpy.eye(own[-1])
    return Gen(make).of(*shape)


def bands(*shape):
    """The main diagonal, first or last, away from zero."""
    def make(random, own, dtype):
        m = 0.3 * full(random, own, dtype)
        m[..., 0, :] += 2
        m[..., -1, :] += 2
        return m
    return Gen(make).of(*shape)


def diagonals(*shape):
    def make(random, own, dtype):
        m = full(random, own, dtype)
        m[..., 1, :] += 3
        return m
    return Gen(make).of(*shape)


def mostly_zero(*shape):
    return Gen(lambda random, own, dtype: random.uniform(-1, 1, own) * (random.uniform(0, 1, own) < 0.4)).of(*shape)


def of_floats_and_complex(op, errors, **row):
    """TensorFlow's gradient takes transposes for adjoints."""
    return [Row(op, types={"T": FLOATS}, grad="tf", errors=errors, **row), Row(op, name="complex", types={"T": COMPLEX}, grad="numeric", **row)]


SINGULAR = values([[1.0, 2.0], [2.0, 4.0]])
SQUARES = [C(regular(3, 3)), C(regular(1, 1)), C(regular(2, 3, 3)), C(regular(2, 1, 4, 4)), C(regular(0, 3, 3), grad=False), C(regular(7, 7))]
NONE = [C(rand(0, 0), grad=False), C(rand(2, 0, 0), grad=False)]
NOT_SQUARE = [C(rand(2, 3), types=F, says="square|equal"), C(rand(3), types=F, says="rank")]

ROWS = [
    Row("MatrixInverse", cases=SQUARES + NONE + [C(regular(3, 3), adjoint=True), C(regular(2, 3, 3), adjoint=True)], errors=NOT_SQUARE + [C(SINGULAR, types=F, says="not invertible")], **DEFAULT),
    Row("BatchMatrixInverse", cases=[C(regular(2, 3, 3), adjoint=True)], types={"T": FLOATS}, **DEFAULT),
    Row("MatrixDeterminant", cases=SQUARES + [C(rand(0, 0), grad=False)], types={"T": FLOATS}, errors=NOT_SQUARE, **DEFAULT),
    Row("MatrixDeterminant", name="complex", cases=SQUARES, types={"T": COMPLEX}, grad=False, **DEFAULT),
    Row("BatchMatrixDeterminant", cases=[C(regular(2, 3, 3))], **DEFAULT),
    Row("LogMatrixDeterminant", cases=SQUARES + [C(rand(0, 0), grad=False), C(values(numpy.zeros((2, 2))), grad=False)], types={"T": FLOATS}, errors=NOT_SQUARE, **DEFAULT),
    Row("LogMatrixDeterminant", name="complex", cases=SQUARES, types={"T": COMPLEX}, grad=False, **DEFAULT),
    Row("MatrixSolve", cases=[C(regular(3, 3), rand(3, 2)), C(regular(3, 3), rand(3, 2), adjoint=True), C(regular(2, 4, 4), rand(2, 4, 1)), C(regular(2, 3, 3), rand(2, 3, 2), adjoint=True), C(regular(3, 3), rand(3, 0), grad=False),
                              C(rand(0, 0), rand(0, 2), grad=False), C(regular(0, 2, 2), rand(0, 2, 1), grad=False)],
        errors=[C(SINGULAR, rand(2, 1), types=F, says="not invertible"), C(rand(2, 3), rand(2, 1), types=F, says="square|equal"), C(regular(2, 2), rand(3, 1), types=F, says="incompatible|equal"),
                C(regular(2, 2, 2), rand(3, 2, 1), types=F, says="outer|equal"), C(regular(2, 2, 2), rand(2, 1), types=F, says="rank")], **DEFAULT),
    Row("BatchMatrixSolve", cases=[C(regular(2, 3, 3), rand(2, 3, 2))], types={"T": FLOATS}, **DEFAULT),
    Row("MatrixTriangularSolve", cases=[C(regular(3, 3), rand(3, 2), lower=l, adjoint=a) for l in (True, False) for a in (True, False)] +
        [C(regular(2, 3, 3), rand(2, 3, 2)), C(regular(3, 3), rand(2, 3, 2)), C(regular(2, 1, 3, 3), rand(4, 3, 2), lower=False), C(regular(2, 3, 3), rand(3, 1), adjoint=True), C(regular(0, 2, 2), rand(0, 2, 1), grad=False),
         C(regular(2, 2), rand(2, 0), grad=False)], types={"T": FLOATS + COMPLEX},
        errors=[C(rand(2, 3), rand(2, 1), types=F, says="square|equal"), C(rand(2, 2), rand(3, 1), types=F, says="mismatch|equal"), C(rand(2, 2, 2), rand(3, 2, 1), types=F, says="compatible|equal"),
                C(rand(2), rand(2, 1), types=F, says="rank|ndims")], **DEFAULT),
    Row("BatchMatrixTriangularSolve", cases=[C(regular(2, 3, 3), rand(2, 3, 2), lower=False)], types={"T": FLOATS}, **DEFAULT),
    Row("BandedTriangularSolve", cases=[C(bands(k, 4), rand(4, 2), lower=l, adjoint=a) for k in (1, 2, 4) for l in (True, False) for a in (True, False)] +
        [C(bands(2, 2, 3), rand(2, 3, 2)), C(bands(2, 3), rand(2, 3, 2)), C(bands(2, 1, 2, 3), rand(4, 3, 1), lower=False)], grad="tf",
        errors=[C(values(numpy.zeros((2, 3))), rand(3, 1), types=F, says="not invertible"), C(bands(2, 3), rand(4, 1), types=F, says="mismatch|equal"), C(rand(3), rand(3, 1), types=F, says="rank|ndims"),
                C(rand(0, 3), rand(3, 1), types=F, says="empty|positive")], **DEFAULT),
    *of_floats_and_complex("MatrixSolveLs", cases=[C(rand(5, 2), rand(5, 2), values(l).no_gradient()) for l in (0.0, 0.5)] + [C(rand(2, 5), rand(2, 3), values(l).no_gradient()) for l in (0.0, 0.5)] + [C(regular(3, 3), rand(3, 1), values(0.0).no_gradient()), C(rand(2, 4, 2), rand(2, 4, 1), values(0.1).no_gradient())] +
        [C(rand(5, 2), rand(5, 2), values(0.0), fast=False, grad=False), C(rand(2, 5), rand(2, 2), values(0.0), fast=False, grad=False), C(values([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]), rand(3, 1), values(0.0), fast=False, grad=False)],
        errors=[C(values(numpy.zeros((3, 2))), rand(3, 1), values(0.0), types=F, says="rank deficient"), C(rand(3, 2), rand(3, 1), values([0.0]), types=F, says="scalar|rank"),
                           C(rand(3, 2), rand(3, 1), values(-1.0), types=F, says=">= 0"), C(rand(3, 2), rand(2, 1), values(0.0), types=F, says="incompatible|equal")],
        tol={"float": 1e-3, "complex64": 1e-3, "double": 1e-9, "complex128": 1e-9}, grad_tol={"float": 1e-2, "complex64": 1e-2, "double": 1e-8, "complex128": 1e-8}),
    Row("BatchMatrixSolveLs", cases=[C(rand(2, 4, 2), rand(2, 4, 1), values(0.1))], types={"T": FLOATS}, tol={"float": 1e-3}),
    Row("TridiagonalMatMul", cases=[C(rand(1, n), rand(1, n), rand(1, n), rand(n, 2)) for n in (1, 2, 5)] + [C(rand(2, 1, 3), rand(2, 1, 3), rand(2, 1, 3), rand(2, 3, 4)), C(rand(1, 3), rand(1, 3), rand(1, 3), rand(3, 0), grad=False)], grad="tf",
        errors=[C(rand(1, 2), rand(1, 3), rand(1, 3), rand(3, 2), types=F, says="shape|equal"), C(rand(2, 3), rand(2, 3), rand(2, 3), rand(3, 2), types=F, says="shape|equal|[Dd]imension"), C(rand(3), rand(1, 3), rand(1, 3), rand(3, 2), types=F, says="rank")], **DEFAULT),
    *of_floats_and_complex("TridiagonalSolve", cases=[C(diagonals(3, n), rand(n, 2)) for n in (1, 2, 6)] + [C(rand(3, 6), rand(6, 2)), C(diagonals(3, 5), rand(5, 2), partial_pivoting=False), C(diagonals(2, 3, 4), rand(2, 4, 3)),
        C(diagonals(3, 5), rand(5, 1), perturb_singular=True), C(rand(3, 0), rand(0, 2), grad=False)],
        errors=[C(rand(2, 3), rand(3, 1), types=F, says="3 rows|equal|[Dd]imension"), C(rand(3, 3), rand(4, 1), types=F, says="same number|equal"), C(rand(3, 3), rand(3, 1), partial_pivoting=False, perturb_singular=True, types=F, says="requires also")],
        tol={"float": 1e-3, "complex64": 1e-3, "double": 1e-9, "complex128": 1e-9}, grad_tol={"float": 1e-2, "complex64": 1e-2, "double": 1e-8, "complex128": 1e-8}),
    Row("TridiagonalSolve", name="singular", cases=[C(values(numpy.zeros((3, 3))), rand(3, 1), partial_pivoting=p) for p in (True, False)], types={"T": FLOATS}, grad=False),
    Row("MatrixExponential", cases=[C(rand(3, 3)), C(rand(1, 1)), C(rand(2, 4, 4)), C(rand(0, 0)), C(uniform(-9, 9).of(3, 3))], errors=NOT_SQUARE, tol=TOL),
    Row("MatrixLogarithm", cases=[C(regular(3, 3)), C(positive(2, 4, 4)), C(rand(0, 0)), C(positive(1, 1))], errors=[C(rand(2, 3), types={"T": "complex64"}, says="square|equal")], tol=TOL),
    Row("MatrixSquareRoot", cases=[C(positive(3, 3)), C(positive(1, 1)), C(positive(2, 4, 4)), C(rand(0, 0), grad=False)], types={"T": FLOATS}, errors=NOT_SQUARE, **DEFAULT),
    Row("MatrixSquareRoot", name="complex", cases=[C(positive(3, 3)), C(positive(2, 4, 4))], types={"T": COMPLEX}, grad=False, **DEFAULT),
    Row("SparseMatMul", cases=[C(mostly_zero(*(k, m)[::1 if ta else -1]), mostly_zero(*(n, k)[::1 if tb else -1]), transpose_a=ta, transpose_b=tb, a_is_sparse=sa, b_is_sparse=sb) for m, k, n in ((3, 4, 2),) for ta in (False, True) for tb in (False, True) for sa, sb in ((True, False), (False, True), (False, False))] +
        [C(rand(17, 33), mostly_zero(33, 9), b_is_sparse=True), C(rand(2, 0), rand(0, 3)), C(rand(0, 2), rand(2, 3))], tol=2e-5, grad_tol=2e-2,
        errors=[C(rand(2, 3), rand(2, 3), types={"Ta": "float", "Tb": "float"}, says="incompatible|equal"), C(rand(2), rand(2, 3), types={"Ta": "float", "Tb": "float"}, says="matrix|rank")]),
]
