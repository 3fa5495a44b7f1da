"""Decompositions of matrices. Vectors are compared up to their sign (phase)."""

from tests.oracle.table import *
from tests.oracle.cases.linalg_solve import DEFAULT, F, NOT_SQUARE, SINGULAR, full, positive, regular

NAN = values(numpy.full((2, 2), numpy.nan))
LOOSE = dict(tol={"float": 2e-4, "complex64": 2e-4, "double": 1e-9, "complex128": 1e-9, "half": 1e-2},
             grad_tol={"float": 5e-3, "complex64": 5e-3, "double": 1e-8, "complex128": 1e-8, "half": 1e-1})


def hermitian(*shape):
    """Distinct eigenvalues."""
    def make(random, own, dtype):
        m = full(random, own, dtype)
        return (m + numpy.conj(numpy.swapaxes(m, -1, -2))) / 2 + numpy.diag(numpy.arange(1.0, own[-1] + 1) * 3)
    return Gen(make).of(*shape)


def squares_of(b, *tensors):
    """|x|^2 of each, which no sign changes."""
    out = []
    for t in tensors:
        out.append(b.op("Mul", t, b.op("Conj", t) if t.dtype in COMPLEX else t))
    return out


def adjoint(b, x, rank):
    perm = list(range(rank - 2)) + [rank - 1, rank - 2]
    return b.op("ConjugateTranspose" if x.dtype in COMPLEX else "Transpose", x, numpy.array(perm, "int32"))


def svd(shape, full_matrices=False, gradient=True):
    def build(b):
        x = b.input(Gen(full).of(*shape))
        node = b.op("Svd", x, full_matrices=full_matrices)
        s, u, v = node[0], node[1], node[2]
        thin = b.op("Svd", x)
        k, rank = min(shape[-2:]), len(shape)
        again = b.op("BatchMatMulV2", b.op("Mul", thin[1], b.op("ExpandDims", thin[0], numpy.int32(-2))), thin[2], adj_y=True)
        orthogonal = b.op("BatchMatMulV2", u, u, adj_x=True)
        b.run(fetches=[s, again, orthogonal, b.op("BatchMatMulV2", v, v, adj_x=True)], tol=2e-4 if b.types["T"] in ("float", "complex64") else 1e-10)
        if gradient and b.variant == "known":
            b.gradients([s] + squares_of(b, thin[1], thin[2]), [x])
    return build


def svd_values(b):
    x = b.input(Gen(full).of(2, 3, 4))
    b.run(fetches=[b.op("Svd", x, compute_uv=False)[0]], tol=1e-4)
    if b.variant == "known":
        b.gradients([b.op("Svd", x, compute_uv=False)[0]], [x])
    b.run(fetches=[b.op("Svd", b.input(NAN))[0]])


def eigen(op, make, gradient=True):
    def build(b):
        x = b.input(make)
        attrs = {} if op != "Eig" else {"Tout": "complex64" if b.types["T"] in ("float", "complex64") else "complex128"}
        node, alone = b.op(op, x, **attrs), b.op(op, x, compute_v=False, **attrs)
        e, v = node[0], node[1]
        again = b.op("BatchMatMulV2", b.op("Cast", x, DstT=e.dtype) if x.dtype != e.dtype else x, v)
        scaled = b.op("Mul", v, b.op("ExpandDims", e, numpy.int32(-2)))
        tol = 5e-4 if b.types["T"] in ("float", "complex64") else 1e-9
        found = [e, alone[0]] + squares_of(b, v)
        if op == "Eig":  # in any order; real for Hermitian matrices
            part = {"Tout": "float" if e.dtype == "complex64" else "double"}
            found = [b.op("TopKV2", b.op("Real", t, **part), numpy.int32(3))[0] for t in (e, alone[0])] + [b.op("Imag", e, **part)]
        b.run(fetches=found + [b.op("Sub", again, scaled)], tol=tol)
        if gradient and b.variant == "known":
            b.gradients([e] + squares_of(b, v), [x])
            b.gradients([alone[0]], [x])
        b.run(fetches=[b.op(op, b.input(NAN), **attrs)[0]], error=True, says="not successful")
    return build


ROWS = [
    Row("Cholesky", cases=[C(positive(3, 3)), C(positive(1, 1)), C(positive(2, 4, 4)), C(rand(0, 0), grad=False), C(positive(0, 2, 2), grad=False)], grad="tf", errors=NOT_SQUARE, **LOOSE),
    # In TensorFlow the upper half is uninitialized memory.
    Row("Cholesky", name="not positive definite", cases=[C(values([[1.0, 2.0], [2.0, 1.0]]))], types={"T": FLOATS}, grad=False,
        compare=lambda a, b: None if numpy.allclose(numpy.tril(a), numpy.tril(b), 1e-5, equal_nan=True) else "lower halves differ"),
    Row("BatchCholesky", cases=[C(positive(2, 3, 3))], **LOOSE),
    Row("CholeskyGrad", cases=[C(regular(3, 3), rand(3, 3)), C(regular(2, 4, 4), rand(2, 4, 4)), C(rand(0, 0), rand(0, 0))], errors=[C(rand(2, 2), rand(3, 3), types=F, says="same shape|equal")], **LOOSE),
    Row("BatchCholeskyGrad", cases=[C(regular(2, 3, 3), rand(2, 3, 3))], **LOOSE),
    Row("Lu", cases=[C(regular(3, 3)), C(rand(4, 4)), C(rand(2, 3, 3)), C(rand(0, 0)), C(rand(1, 1))], errors=[C(SINGULAR, types={"T": "float", "output_idx_type": "int32"}, says="not invertible"), C(rand(2, 3), types={"T": "float", "output_idx_type": "int32"}, says="square|equal")], **LOOSE),
    Row("Qr", cases=[C(rand(*s), full_matrices=f, grad="tf" if not (f and s[-2] > s[-1]) else False) for s in ((3, 3), (4, 2), (2, 4), (2, 3, 2), (1, 1)) for f in (False, True)] + [C(rand(2, 0), grad=False), C(rand(2, 0), full_matrices=True, grad=False)],
        types={"T": FLOATS + COMPLEX}, errors=[C(rand(3), types=F, says="rank")], **LOOSE),
    Row("Qr", name="half", cases=[C(regular(3, 3), grad=False)], types={"T": ("half",)}, **LOOSE),
    Row("Svd", build=svd((3, 3)), types={"T": FLOATS + COMPLEX}, **LOOSE),
    Row("Svd", name="tall", build=svd((4, 2)), types={"T": FLOATS + COMPLEX}, **LOOSE),
    Row("Svd", name="wide", build=svd((2, 3, 5)), types={"T": FLOATS}, **LOOSE),
    Row("Svd", name="full", build=svd((5, 3), True, False), types={"T": FLOATS}, **LOOSE),
    Row("Svd", name="values", build=svd_values, types={"T": FLOATS}, **LOOSE),
    Row("Svd", name="errors", errors=[C(rand(3), types=F, says="rank")]),
    Row("BatchSvd", cases=[C(rand(2, 3, 2))], compare="shapes", grad=False),
    Row("SelfAdjointEigV2", build=eigen("SelfAdjointEigV2", hermitian(3, 3)), types={"T": FLOATS + COMPLEX}, **LOOSE),
    Row("SelfAdjointEigV2", name="batch", build=eigen("SelfAdjointEigV2", hermitian(2, 4, 4)), types={"T": FLOATS}, **LOOSE),
    Row("SelfAdjointEigV2", name="errors", errors=NOT_SQUARE),
    Row("Eig", build=eigen("Eig", hermitian(3, 3), False), types={"T": FLOATS + COMPLEX}, **LOOSE),
    Row("Eig", name="errors", errors=[C(rand(2, 3), types={"T": "float", "Tout": "complex64"}, says="square|equal"), C(rand(2, 2), types={"T": "float", "Tout": "complex128"}, says="dtype")]),
    Row("SelfAdjointEig", cases=[C(hermitian(3, 3))], compare=lambda a, b: None if numpy.allclose(abs(a), abs(b), 1e-3, 1e-3) else "differs by more than signs"),
    Row("BatchSelfAdjointEig", cases=[C(hermitian(2, 3, 3))], compare=lambda a, b: None if numpy.allclose(abs(a), abs(b), 1e-3, 1e-3) else "differs by more than signs"),
    Row("BatchSelfAdjointEigV2", cases=[C(hermitian(2, 3, 3))], compare=lambda a, b: None if numpy.allclose(abs(a), abs(b), 1e-3, 1e-3) else "differs by more than signs"),
]
