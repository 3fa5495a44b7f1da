"""Discrete Fourier transforms."""

from tests.oracle.table import *

# TensorFlow computes complex64 in float, so last digits differ.
TOL = {"complex64": 3e-5, "float": 3e-5}
LENGTHS = (1, 2, 3, 5, 8, 12, 17, 30, 49, 64, 97, 101, 128, 210)
REAL = [{"Treal": "float", "Tcomplex": "complex64"}, {"Treal": "double", "Tcomplex": "complex128"}]
FLOAT = {"Treal": "float", "Tcomplex": "complex64"}


def many(rank):
    inner = {1: [(n,) for n in LENGTHS], 2: [(3, 4), (1, 5), (8, 8), (17, 2), (13, 29)], 3: [(2, 3, 4), (1, 1, 5), (5, 2, 19)]}[rank]
    return [C(rand(*s)) for s in inner] + [C(rand(2, *inner[2])), C(rand(3, 2, *inner[0])), C(rand(0, *inner[1]))]


def complex_rows():
    rows = []
    for rank, suffix in ((1, ""), (2, "2D"), (3, "3D")):
        for name in ("FFT", "IFFT"):
            bad = [C(rand(*[3] * (rank - 1)), types={"Tcomplex": "complex64"}, says="rank")]
            rows.append(Row(name + suffix, cases=many(rank), errors=bad, tol=TOL, grad_tol=1e-4))
    return rows


def real_rows():
    rows = []
    sizes = {1: [[n] for n in LENGTHS], 2: [[3, 4], [1, 5], [8, 8], [5, 7], [13, 6]], 3: [[2, 3, 4], [1, 1, 5], [2, 3, 7]]}
    for rank, suffix in ((1, ""), (2, "2D"), (3, "3D")):
        forward = [C(rand(*n), n) for n in sizes[rank]] + [C(rand(2, *sizes[rank][2]), sizes[rank][2]), C(rand(0, *sizes[rank][0]), sizes[rank][0])]
        cut = [C(rand(*[k + 3 for k in n]), n, grad=False) for n in sizes[rank][:3]]
        half = lambda n: n[:-1] + [n[-1] // 2 + 1]
        inverse = [C(rand(*half(n)), n) for n in sizes[rank] if n[-1] > 1] + [C(rand(2, *half(sizes[rank][2])), sizes[rank][2]), C(rand(0, *half(sizes[rank][0])), sizes[rank][0], grad=False)]
        inverse_cut = [C(rand(*[k + 2 for k in half(n)]), n, grad=False) for n in sizes[rank][:3]]
        n = sizes[rank][0]
        bad = [C(rand(*[3] * (rank - 1)), values(n), types=FLOAT, says="rank"), C(rand(*n), values(n + [2]), types=FLOAT, says="fft_length|equal|[Dd]imension"),
               C(rand(*n), values([k + 5 for k in n]), types=FLOAT, says="at least"), C(rand(*n), values([-1] * rank), types=FLOAT, says=">= 0")]
        rows.append(Row("RFFT" + suffix, cases=forward + cut, types=REAL, tol=TOL, grad_tol=1e-4, errors=bad))
        rows.append(Row("IRFFT" + suffix, cases=inverse + inverse_cut, types=REAL, tol=TOL, grad_tol=1e-4, errors=bad))
    return rows


ROWS = complex_rows() + real_rows()
