"""Gamma, Poisson and truncated normal numbers and random crops: the same as TensorFlow's, over several steps."""

from tests.oracle.table import *

POISSON = ("float", "double", "half", "int32", "int64")


def gamma(b):
    fetches = []
    for k, (size, alpha) in enumerate([((5,), [0.3, 1.0, 2.5, 30.0]), ((), 0.7), ((2, 3), [[0.1, 0.9], [4.0, 1.0]]), ((0,), 2.0), ((4,), numpy.zeros((0,)))]):
        shape = b.op("Const", value=numpy.array(size, "int32"), dtype="int32")
        fetches.append(b.op("RandomGamma", shape, b.input(values(alpha)), seed=5, seed2=k))
    for _ in range(3):
        b.run(fetches=fetches, tol={"float": 1e-5, "double": 1e-11, "half": 2e-3, "bfloat16": 1e-2})


def poisson(op):
    def build(b):
        fetches = []
        kind = b.types.get("R") or b.types["dtype"]
        for k, (size, rate) in enumerate([((50,), [0, 1, 9, 40]), ((), 3), ((2, 3), [[1, 2], [300, 11]]), ((0,), 2)]):
            shape = b.op("Const", value=numpy.array(size, "int32"), dtype="int32")
            fetches.append(b.op(op, shape, b.input(values(rate), kind), seed=5, seed2=k))
        for _ in range(2):
            b.run(fetches=fetches, tol=0)

    return build


def truncated(b):
    fetches = []
    kind = b.types["dtype"]
    for k, (size, parameters) in enumerate([
            ((20,), (0.5, 1.5, -1.0, 2.0)), ((3, 8), ([0.0, 1.0, -2.0], [1.0, 0.5, 3.0], [-0.1, -inf, 4.0], [0.1, 0.5, inf])),
            ((2, 3, 2), ([0.0, 1.0], 1.0, -3.0, 3.0)), ((0,), (0.0, 1.0, -1.0, 1.0))]):
        shape = b.op("Const", value=numpy.array(size, "int32"), dtype="int32")
        fetches.append(b.op("ParameterizedTruncatedNormal", shape, *[b.input(values(p), kind) for p in parameters], seed=7, seed2=k))
    for _ in range(2):
        b.run(fetches=fetches, tol={"float": 2e-5, "double": 1e-11, "half": 8e-3})


def crop(b):
    fetches = [b.op("RandomCrop", b.input(uniform(0, 99).of(7, 9, 3)), numpy.array(size, "int64"), seed=3, seed2=k) for k, size in enumerate([(4, 5), (7, 9), (7, 2), (1, 9), (0, 3)])]
    for _ in range(3):
        b.run(fetches=fetches, tol=0)
    b.run(fetches=[b.op("RandomCrop", b.input(uniform(0, 99).of(3, 3, 1)), numpy.array([4, 2], "int64"), seed=3)], error=True, says="must be >=")


ROWS = [
    Row("RandomGamma", build=gamma, types={"T": ALL_FLOATS[:3]}),
    Row("RandomGamma", cases=[C([50], values([0.3, 1.0, 2.5]), seed=1, seed2=2), C([], values(3.0), seed=1), C([2, 3], values([[0.1, 0.9]]), seed=1)], types={"T": FLOATS, "S": INDEX}, grad="tf", name="gradient",
        errors=[C(values([-2]), rand(2), seed=1, types={"T": "float"}, says=">= 0|negative"), C(values([[2]]), rand(2), seed=1, types={"T": "float"}, says="vector|rank")]),
    Row("RandomGammaGrad", [uniform(0.2, 5), uniform(0.1, 6)], shapes=BROADCAST, grad=False, tol={"float": 1e-4, "double": 1e-9},
        errors=[C(rand(2, 3), rand(2, 2), types={"T": "float"})]),
    Row("RandomPoisson", build=poisson("RandomPoisson"), types={"dtype": POISSON[:3]}, producer=24),
    Row("RandomPoissonV2", build=poisson("RandomPoissonV2"), types={"R": POISSON, "dtype": POISSON}),
    Row("RandomPoissonV2", cases=[C([3], values([1.0, 2.0]), seed=1)], types={"S": INDEX, "R": ("float",), "dtype": ("float",)}, tol=0, name="shapes",
        errors=[C(values([-2]), rand(2), seed=1, types={"R": "float", "dtype": "float"}, says=">= 0|negative")]),
    Row("ParameterizedTruncatedNormal", build=truncated, types={"dtype": ("float", "double", "half")}),
    Row("ParameterizedTruncatedNormal", cases=[C([3], values(0.0), values(1.0), values(-1.0), values(1.0), seed=1)], types={"dtype": ("float",), "T": ("int32",)}, name="shapes",
        errors=[C([3], values(0.0), values(-1.0), values(0.0), values(1.0), seed=1, types={"dtype": "float"}, says="Invalid parameters"),
                C([3], rand(2), values(1.0), values(0.0), values(1.0), seed=1, types={"dtype": "float"}, says="means should have length 1"),
                C([3], rand(2, 2), values(1.0), values(0.0), values(1.0), seed=1, types={"dtype": "float"}, says="scalar or vector|rank")]),
    Row("RandomCrop", build=crop, types={"T": ("uint8", "int8", "int16", "int32", "int64", "float", "double")}, producer=7),
    Row("NonDeterministicInts", cases=[C([3, 2]), C([0])], types={"dtype": ("int32", "int64", "uint32", "uint64"), "shape_dtype": INDEX}, compare="shapes",
        errors=[C(values([-2]), types={"dtype": "int64", "shape_dtype": "int64"}, says=">= 0|negative")]),
]
