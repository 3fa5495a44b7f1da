"""Random numbers of seeds, keys and generators: the same as TensorFlow's."""

from tests.oracle.table import *

SIZES = ((), (3,), (5, 3), (0,), (301,))
SEEDS = ((1, 2), (-5, 2**30 + 3))
NORMAL_TOL = {"float": 2e-6, "double": 1e-13, "half": 1e-3, "bfloat16": 8e-3}
KEYS = ((7, (0, 0)), (2**63 + 5, (2**64 - 2, 3)))
BITS = ("int32", "int64", "uint32", "uint64")


def of_seed(op, tol, inputs=(), sizes=SIZES):
    def build(b):
        fetches = []
        for seed in SEEDS:
            for size in sizes:
                shape = b.op("Const", value=numpy.array(size, "int32"), dtype="int32")
                seeds = b.op("Const", value=numpy.array(seed, "int64"), dtype="int64")
                extra = [numpy.array(x, b.types["dtype"]) for x in inputs]
                fetches.append(b.op(op, shape, seeds, *extra))
        b.run(fetches=fetches, tol=tol)

    return build


def of_key(op, tol, inputs=(), sizes=SIZES):
    def build(b):
        fetches = []
        for key, counter in KEYS:
            for size in sizes:
                shape = b.op("Const", value=numpy.array(size, "int32"), dtype="int32")
                extra = [numpy.array(x, b.types["dtype"]) for x in inputs]
                fetches.append(b.op(op, shape, numpy.array([key], "uint64"), numpy.array(counter, "uint64"), numpy.array(1, "int32"), *extra))
        b.run(fetches=fetches, tol=tol)

    return build


def seed_errors(*inputs):
    return [C(values([2]), values([1, 2, 3], "int64"), *inputs, types={"dtype": "float"}, says="seed must have shape|equal|must be 2"),
            C(values([-2]), values([1, 2], "int64"), *inputs, types={"dtype": "float"}, says=">= 0|negative"),
            C(values([[2]]), values([1, 2], "int64"), *inputs, types={"dtype": "float"}, says="vector|rank")]


def key_errors(*inputs, dtype="float"):
    key, counter = values([1], "uint64"), values([1, 2], "uint64")
    return [C(values([2]), values([1, 2], "uint64"), counter, values(1), *inputs, types={"dtype": dtype}, says="key|equal|must be 1"),
            C(values([2]), key, counter, values([1]), *inputs, types={"dtype": dtype}, says="shape|rank"),
            C(values([2]), key, counter, values(2), *inputs, types={"dtype": dtype}, says="algorithm")]


ROWS = [
    Row("StatelessRandomUniform", build=of_seed("StatelessRandomUniform", 0), types={"dtype": ALL_FLOATS}),
    Row("StatelessRandomUniform", cases=[C([2, 3], values([1, 2]))], types={"dtype": ("float",), "T": INDEX, "Tseed": INDEX}, tol=0, name="seeds", errors=seed_errors()),
    Row("StatelessRandomNormal", build=of_seed("StatelessRandomNormal", NORMAL_TOL), types={"dtype": ALL_FLOATS}),
    Row("StatelessTruncatedNormal", build=of_seed("StatelessTruncatedNormal", NORMAL_TOL), types={"dtype": ALL_FLOATS}),
    Row("StatelessRandomUniformFullInt", build=of_seed("StatelessRandomUniformFullInt", 0), types={"dtype": BITS}),
    Row("StatelessRandomUniformInt", build=of_seed("StatelessRandomUniformInt", 0, (-3, 1000)), types={"dtype": INDEX}),
    Row("StatelessRandomUniformInt", cases=[C([20], values([1, 2]), values(-2**31), values(2**31 - 1))], types={"dtype": INDEX, "T": ("int32",), "Tseed": ("int64",)}, tol=0, name="range",
        errors=[C([2], values([1, 2]), values(3), values(3), types={"dtype": "int32"}, says="Need minval < maxval, got 3 >= 3"),
                C([2], values([1, 2]), values([3]), values(4), types={"dtype": "int32"}, says="0-D|rank|scalar")]),
    Row("StatelessRandomUniformV2", build=of_key("StatelessRandomUniformV2", 0), types={"dtype": ALL_FLOATS}),
    Row("StatelessRandomUniformV2", cases=[C([2, 3], values([1]), values([1, 2]), values(3))], types={"dtype": ("float",)}, tol=0, name="auto", errors=key_errors()),
    Row("StatelessRandomNormalV2", build=of_key("StatelessRandomNormalV2", NORMAL_TOL), types={"dtype": ALL_FLOATS}),
    Row("StatelessTruncatedNormalV2", build=of_key("StatelessTruncatedNormalV2", NORMAL_TOL), types={"dtype": ALL_FLOATS}),
    Row("StatelessRandomUniformFullIntV2", build=of_key("StatelessRandomUniformFullIntV2", 0), types={"dtype": BITS}),
    Row("StatelessRandomUniformIntV2", build=of_key("StatelessRandomUniformIntV2", 0, (-3, 1000)), types={"dtype": INDEX},
        errors=key_errors(values(1), values(5), dtype="int32") + [C(values([2]), values([1]), values([1, 2]), values(1), values(5), values(5), types={"dtype": "int32"}, says="minval < maxval")]),
    Row("StatelessRandomGetAlg", cases=[C()], tol=0),
    Row("StatelessRandomGetKeyCounter", cases=[C(values([1, 2])), C(values([-7, 3]))], types={"Tseed": INDEX}, tol=0, errors=[C(values([1]), says="shape|must be")]),
    Row("StatelessRandomGetKeyCounterAlg", cases=[C(values([1, 2])), C(values([-7, 3]))], types={"Tseed": INDEX}, tol=0, errors=[C(values([[1, 2]]), says="shape|rank")]),
    Row("StatelessRandomGammaV2", cases=[C([5, 4], values([3, 4]), values([0.3, 1.0, 2.5, 30.0])), C([3], values([3, 4]), values(0.7)), C([2, 2, 2], values([1, 1]), values([[0.1, 0.9], [4.0, 1.0]])),
                                         C([0], values([1, 2]), values(2.0))], types={"dtype": FLOATS, "T": INDEX, "Tseed": INDEX}, grad="tf",
        errors=[C([3], values([1, 2]), values([1.0, 2.0]), types={"dtype": "float"}, says="must end with")]),
    Row("StatelessRandomGammaV3", cases=[C([5, 4], values([3]), values([4, 5]), values(1), values([0.3, 1.0, 2.5, 30.0])), C([3], values([3]), values([0, 0]), values(1), values(0.7))],
        types={"dtype": FLOATS, "shape_dtype": INDEX}, grad="tf",
        errors=key_errors(values(2.0)) + [C([3], values([3]), values([4, 5]), values(1), values([1.0, 2.0]), types={"dtype": "float"}, says="must end with")]),
    Row("StatelessRandomGammaV2", cases=[C([5, 4], values([3, 4]), values([0.3, 1.0, 2.5, 30.0]))], types={"dtype": ("half",), "T": ("int32",), "Tseed": ("int64",)}, grad=False, tol=2e-3, name="half"),
    Row("StatelessRandomGammaV3", cases=[C([5, 4], values([3]), values([4, 5]), values(1), values([0.3, 1.0, 2.5, 30.0]))], types={"dtype": ("half",), "shape_dtype": ("int32",)}, grad=False, tol=2e-3, name="half"),
    Row("StatelessRandomPoisson", cases=[C([50, 4], values([3, 4]), values([0, 1, 9, 40])), C([30], values([3, 4]), values(12)), C([0], values([1, 2]), values(2))],
        types={"Rtype": ("float", "double", "half", "int32", "int64"), "dtype": ("float", "double", "half", "int32", "int64"), "T": ("int32",), "Tseed": ("int64",)}, tol=0,
        errors=[C([3], values([1, 2]), values([1, 2]), types={"Rtype": "float", "dtype": "float"}, says="must end with")]),
    Row("StatelessRandomBinomial", cases=[C([50, 4], values([3, 4]), values([5, 50, 100, 1000]), values([0.3, 0.5, 0.9, 0.02])), C([30], values([3, 4]), values(12), values(0.25)),
                                          C([3, 2, 2], values([3, 4]), values([[20.0], [3.0]]), values([0.25, 0.75])), C([4, 5], values([3, 4]), values([10, 0, 10, 10, 100]), values([0.0, 0.5, 1.0, 1.5, 0.5]))],
        types={"T": ("float", "double", "half"), "dtype": ("float", "double", "half", "int32", "int64"), "S": ("int32",), "Tseed": ("int64",)}, tol=0,
        errors=[C([3], values([1, 2]), values([1.0, 2.0]), values(0.5), types={"T": "float", "dtype": "float"}, says="must end with"),
                C([3], values([1, 2]), values([1.0, 2.0]), values([0.5, 0.5, 0.5]), types={"T": "float", "dtype": "float"})]),
    Row("StatelessParameterizedTruncatedNormal", cases=[
        C([20], values([3, 4]), values(0.5), values(1.5), values(-1.0), values(2.0)),
        C([8, 3], values([3, 4]), values([0.0, 1.0, -2.0]), values([1.0, 0.5, 3.0]), values([-0.1, -inf, 4.0]), values([0.1, 0.5, inf])),
        C([2, 3, 2], values([3, 4]), values([[0.0], [1.0], [2.0]]), values([1.0, 2.0]), values(-3.0), values([3.0, 2.5]))],
        types={"dtype": ("float", "double"), "S": ("int32",), "Tseed": ("int64",)}, grad="tf", tol={"float": 2e-5, "double": 1e-11},
        errors=[C([3], values([1, 2]), values(0.0), values(-1.0), values(0.0), values(1.0), types={"dtype": "float"}, says="Invalid parameters"),
                C([3], values([1, 2]), values([0.0, 1.0]), values(1.0), values(0.0), values(1.0), types={"dtype": "float"}, says="must end with")]),
    Row("StatelessParameterizedTruncatedNormal", cases=[C([20], values([3, 4]), values(0.5), values(1.5), values(-1.0), values(2.0))],
        types={"dtype": ("half",), "S": ("int32",), "Tseed": ("int64",)}, grad=False, tol=4e-3, name="half"),
    Row("StatelessMultinomial", cases=[C(rand(3, 4), 10, values([1, 2])), C(values([[nan, 1.0, -inf, 2.0]]), 20, values([5, 6])), C(rand(2, 3), 0, values([1, 2]))],
        types={"T": ALL_FLOATS, "output_dtype": INDEX, "Tseed": INDEX}, tol=0,
        errors=[C(rand(3), 2, values([1, 2]), types={"T": "float"}, says="matrix|rank"), C(rand(2, 3), 2, values([1]), types={"T": "float"}, says="shape|must be")]),
    Row("StatelessShuffle", cases=[C(rand(), values([1]), values([1, 2]), values(1)), C(rand(7, 3), values([1]), values([1, 2]), values(1)), C(rand(0, 3), values([1]), values([1, 2]), values(1)),
                                   C(rand(2), values([5]), values([0, 2]), values(3))], types={"T": ALL}, tol=0, grad=False,
        errors=[C(rand(4), values([1]), values([1, 2]), values(2), types={"T": "float"}, says="algorithm")]),
]


def of_state(op, tol, inputs=(), tagged=False, dtype=None):
    """Two draws and a skip from a generator in a variable, then its state."""

    def build(b):
        state = [1, 5, -7, 2**40] if tagged else [5, -7, 2**40]
        handle = b.op("VarHandleOp", dtype="int64", shape=None, shared_name=b.name("rng"))
        init = b.op("AssignVariableOp", handle, numpy.array(state, "int64"), dtype="int64")
        b.run(targets=[init])
        read = b.op("ReadVariableOp", handle, dtype="int64")
        for size in [(3, 5), (), (0,), (301,)]:
            extra = [] if tagged else [numpy.array(1, "int64")]
            extra.append(b.op("Const", value=numpy.array(size, "int64"), dtype="int64"))
            draw = b.op(op, handle, *extra, *[numpy.array(x, b.types.get("dtype")) for x in inputs])
            b.run(fetches=[draw], tol=tol)
            b.run(fetches=[read], tol=0)
        if not tagged:
            bad = b.op(op, handle, numpy.array(9, "int64"), numpy.array([2], "int64"), *[numpy.array(x, b.types.get("dtype")) for x in inputs])
            b.run(fetches=[bad], error=True, says="algorithm")
        missing = b.op("VarHandleOp", dtype="int64", shape=None, shared_name=b.name("none"))
        extra = [] if tagged else [numpy.array(1, "int64")]
        bad = b.op(op, missing, *extra, numpy.array([2], "int64"), *[numpy.array(x, b.types.get("dtype")) for x in inputs])
        b.run(fetches=[bad], error=True)

    return build


def skips(b):
    handle = b.op("VarHandleOp", dtype="int64", shape=None, shared_name=b.name("rng"))
    init = b.op("AssignVariableOp", handle, numpy.array([5, -7, 2**40], "int64"), dtype="int64")
    b.run(targets=[init])
    read = b.op("ReadVariableOp", handle, dtype="int64")
    b.run(targets=[b.op("RngSkip", handle, numpy.array(1, "int64"), numpy.array(1234567, "int64"))])
    b.run(fetches=[read], tol=0)
    b.run(fetches=[b.op("RngReadAndSkip", handle, numpy.array(1, "int32"), numpy.array(77, "uint64"))], tol=0)
    b.run(fetches=[read], tol=0)
    b.run(targets=[b.op("RngSkip", handle, numpy.array(4, "int64"), numpy.array(1, "int64"))], error=True, says="algorithm")


def binomial(b):
    handle = b.op("VarHandleOp", dtype="int64", shape=None, shared_name=b.name("rng"))
    init = b.op("AssignVariableOp", handle, numpy.array([5, -7, 2**40], "int64"), dtype="int64")
    b.run(targets=[init])
    read = b.op("ReadVariableOp", handle, dtype="int64")
    # Until another op writes the variable, TensorFlow's op advances the constant that was assigned
    # to it.
    b.run(targets=[b.op("RngSkip", handle, numpy.array(1, "int64"), numpy.array(1, "int64"))])
    kind = b.types["T"]
    for size, count, p in [([20, 2], [10, 100], [0.3, 0.8]), ([7], 40, 0.5)]:
        draw = b.op("StatefulRandomBinomial", handle, numpy.array(1, "int64"), numpy.array(size, "int32"), b.input(values(count), kind), b.input(values(p), kind), S="int32")
        b.run(fetches=[draw], tol=0)
        b.run(fetches=[read], tol=0)


ROWS += [
    Row("StatefulUniform", build=of_state("StatefulUniform", 0), types={"dtype": ALL_FLOATS, "shape_dtype": ("int64",)}),
    Row("StatefulStandardNormal", build=of_state("StatefulStandardNormal", NORMAL_TOL, tagged=True), types={"dtype": ALL_FLOATS, "shape_dtype": ("int64",)}, producer=28),
    Row("StatefulStandardNormalV2", build=of_state("StatefulStandardNormalV2", NORMAL_TOL), types={"dtype": ALL_FLOATS, "shape_dtype": ("int64",)}),
    Row("StatefulTruncatedNormal", build=of_state("StatefulTruncatedNormal", NORMAL_TOL), types={"dtype": ALL_FLOATS, "shape_dtype": ("int64",)}),
    Row("StatefulUniformFullInt", build=of_state("StatefulUniformFullInt", 0), types={"dtype": BITS, "shape_dtype": ("int64",)}),
    Row("StatefulUniformInt", build=of_state("StatefulUniformInt", 0, (-3, 1000)), types={"dtype": INDEX, "shape_dtype": ("int64",)}),
    Row("StatefulRandomBinomial", build=binomial, types={"T": ("float", "double", "half"), "dtype": ("float", "double", "half", "int32", "int64")}),
    Row("RngSkip", build=skips, types=[{}]),
    Row("RngReadAndSkip", build=skips, types=[{}]),
]
