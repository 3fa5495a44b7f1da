"""Random numbers: the same as TensorFlow's for the same seeds, over several steps."""

from tests.oracle.table import *

SIZES = ((), (1,), (3,), (4,), (5, 3), (0,), (2, 0), (1000,), (7, 11, 13))
SEEDS = ((1, 2), (87654321, 7), (-5, 2**40 + 3), (0, 1))
NORMAL_TOL = {"float": 2e-6, "double": 1e-13, "half": 1e-3, "bfloat16": 8e-3}


def steps(op, attr, tol, sizes=SIZES, seeds=SEEDS, inputs=lambda b: (), **attrs):
    """Three steps with each shape and seed: the generator goes on from step to step."""

    def build(b):
        fetches = []
        for seed, seed2 in seeds:
            for size in sizes:
                shape = b.op("Const", value=numpy.array(size, "int32"), dtype="int32")
                fetches.append(b.op(op, shape, *inputs(b), seed=seed, seed2=seed2, **attrs, **{attr: b.types[attr]}))
        for _ in range(3):
            b.run(fetches=fetches, tol=tol)

    return build


ROWS = [
    Row("RandomUniform", build=steps("RandomUniform", "dtype", 0), types={"dtype": ALL_FLOATS}),
    Row("RandomUniform", cases=[C([2, 3], seed=1, seed2=2), C(values([2, 3]), seed=1, seed2=2)], types={"dtype": ("float",), "T": INDEX}, tol=0, name="shapes",
        errors=[C(values([[2]]), seed=1, dtype="float", says="vector|rank"), C(values([-2]), seed=1, dtype="float", says=">= 0|negative")]),
    Row("RandomStandardNormal", build=steps("RandomStandardNormal", "dtype", NORMAL_TOL), types={"dtype": ALL_FLOATS}),
    Row("TruncatedNormal", build=steps("TruncatedNormal", "dtype", NORMAL_TOL), types={"dtype": ALL_FLOATS}),
    Row("RandomUniformInt", build=lambda b: steps("RandomUniformInt", "Tout", 0, inputs=lambda b: (
        b.op("Const", value=numpy.array(-3, b.types["Tout"]), dtype=b.types["Tout"]), b.op("Const", value=numpy.array(1000, b.types["Tout"]), dtype=b.types["Tout"])))(b),
        types={"Tout": INDEX}),
    Row("RandomUniformInt", cases=[C([20], values(-2**31), values(2**31 - 1), seed=1, seed2=2), C([4], values(0), values(1), seed=5)], types={"Tout": INDEX, "T": ("int32",)}, tol=0,
        name="range",
        errors=[C([2], values(3), values(3), seed=1, types={"Tout": "int32"}, says="Need minval < maxval, got 3 >= 3"),
                C([2], values([3]), values(4), seed=1, types={"Tout": "int32"}, says="0-D|must be a scalar")]),
]


def shuffled(b):
    dtype = b.types["T"]
    fetches = []
    for k, shape in enumerate([(), (1,), (2,), (10,), (7, 3), (5, 2, 2), (0,), (0, 3), (100,)]):
        fetches.append(b.op("RandomShuffle", b.input(uniform(-9, 9).of(*shape)), seed=3, seed2=k))
    for _ in range(3):
        b.run(fetches=fetches, tol=0)


def multinomial(b):
    fetches = []
    for k, (batch, classes, samples) in enumerate([(1, 3, 5), (2, 4, 10), (3, 7, 1), (2, 5, 0), (4, 2, 3)]):
        logits = b.input(uniform(-2, 2).of(batch, classes))
        fetches.append(b.op("Multinomial", logits, numpy.array(samples, "int32"), seed=4, seed2=k + 1, output_dtype=b.types["output_dtype"]))
    for _ in range(3):
        b.run(fetches=fetches)


ROWS += [
    Row("RandomShuffle", build=shuffled, types={"T": ALL}),
    Row("Multinomial", build=multinomial, types={"T": ALL_FLOATS, "output_dtype": INDEX}),
    Row("Multinomial", cases=[C(values([[nan, 1.0, -inf, 2.0]]), 20, seed=1, seed2=2)], types={"T": ("float",), "output_dtype": INDEX}, name="not finite",
        errors=[C(rand(3), 2, seed=1, types={"T": "float"}, says="matrix|rank"), C(rand(2, 3), values(-1), seed=1, types={"T": "float"}, says="nonneg|non-neg"),
                C(rand(2, 3), values([1]), seed=1, types={"T": "float"}, says="scalar|rank"), C(rand(2, 0), 2, seed=1, types={"T": "float"}, says="positive")]),
]
