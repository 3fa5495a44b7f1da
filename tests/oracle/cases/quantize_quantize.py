"""Numbers as integers of few bits."""

from tests.oracle.table import *

QUANTIZED = ("qint8", "quint8", "qint16", "quint16")
X = uniform(-3, 4)
D = {"T": ("float", "double")}


def quantized(*extra, modes=("MIN_COMBINED", "MIN_FIRST", "SCALED")):
    return [C(x, -2.5, 3.0, *extra, mode=m) for m in modes for x in (X.of(2, 3), X.of(), X.of(0, 2), X.of(7, 40))]


NUMBERS_OF = {"qint8": (-128, 127), "quint8": (0, 255), "qint16": (-32768, 32767), "quint16": (0, 65535), "qint32": (-2**31, 2**31 - 1)}
CODES = Gen(lambda random, shape, dtype: random.integers(NUMBERS_OF[dtype][0], NUMBERS_OF[dtype][1], shape, endpoint=True))
RANGES = (values([-2.0, -1.0, -0.5]), values([1.0, 3.0, 0.7]))
SF = {"T": "quint8"}
SD = {"T": "float"}
WHOLE = (0.0, 0.0)


# TensorFlow rejects given ranges per channel in V2 and V4.
def emulated(*tail, channels=True, **attrs):
    return ([C(X.of(2, 3), -2.0, 3.0, *tail, range_given=True, **attrs), C(X.of(2, 3), *WHOLE, *tail, range_given=False, **attrs), C(X.of(4, 30), -1.0, 0.5, *tail, range_given=True, signed_input=False, **attrs),
             C(X.of(5), -2.0, 3.0, *tail, range_given=True, narrow_range=True, **attrs), C(X.of(2, 3, 2), *RANGES, *tail, range_given=False, axis=1, **attrs)]
            + [C(X.of(2, 3, 2), *RANGES, *tail, range_given=True, axis=1, **attrs)] * channels)


FAKE = [{}, {"num_bits": 4}, {"narrow_range": True}, {"num_bits": 16}]
FAKE_SHAPES = [(2, 3), (), (0, 3), (6, 40)]

ROWS = [
    Row("QuantizeV2", cases=quantized() + [C(X.of(2, 3, 2), *RANGES, mode=m, axis=1) for m in ("MIN_COMBINED", "SCALED")] + [C(X.of(0, 3, 2), *RANGES, mode="SCALED", axis=1), C(X.of(9), -2.0, 3.0, mode="SCALED", narrow_range=True), C(X.of(9), -2.0, 3.0, mode="SCALED", round_mode="HALF_TO_EVEN"),
                                                                  C(X.of(9), 0.0, 0.0), C(X.of(9), 1.0, 1.001, ensure_minimum_range=0.1), C(X.of(9), -3.0, -1.0)],
        types={"T": QUANTIZED}, tol=1e-6,
        errors=[C(X.of(2), values(2.0), values(1.0), types=SF, says="larger than"), C(X.of(2), values(-2.0), values(1.0), axis=-2, types=SF, says="at least -1"), C(X.of(2), values([-2.0, -1.0]), values([1.0, 1.0]), types=SF, says="rank|elements"),
                C(X.of(2), values(-2.0), values(1.0), round_mode="HALF_TO_EVEN", types=SF, says="HALF_TO_EVEN"), C(X.of(2, 3, 2), *RANGES, axis=1, mode="MIN_FIRST", types=SF, says="MIN_FIRST"), C(X.of(2, 3, 2), *RANGES, axis=2, types=SF, says="must be|elements")]),
    # A float cannot represent 32 bits; in TensorFlow the ends of the range depend on the processor.
    Row("QuantizeV2", cases=[C(uniform(-2, 2.5).of(2, 3), -2.5, 3.0, mode=m) for m in ("MIN_FIRST", "SCALED")], types={"T": "qint32"}, compare=lambda a, b: None if a.shape == b.shape and numpy.all(numpy.abs(a.astype(float) - b) <= 1024) else "far apart", name="32 bits"),
    Row("Dequantize", cases=[C(CODES.of(2, 3), -2.5, 3.0, mode=m) for m in ("MIN_COMBINED", "MIN_FIRST", "SCALED")] + [C(CODES.of(5), -2.5, 3.0, mode="SCALED", narrow_range=True), C(CODES.of(0, 2), -2.5, 3.0), C(CODES.of(), -2.5, 3.0)]
        + [C(CODES.of(2, 3, 2), *RANGES, mode=m, axis=1, variants=("known",)) for m in ("MIN_COMBINED", "SCALED")], types={"T": QUANTIZED + ("qint32",), "dtype": "float"}, tol=2e-6,
        errors=[C(CODES.of(2), values(-2.0), values(1.0), axis=-2, types={"T": "quint8", "dtype": "float"}, says="at least -1"), C(CODES.of(2), values([-2.0, -1.0]), values([1.0, 1.0]), types={"T": "quint8", "dtype": "float"}, says="rank|elements"),
                C(CODES.of(2, 3, 2), *RANGES, axis=1, mode="MIN_FIRST", variants=("known",), types={"T": "quint8", "dtype": "float"}, says="MIN_FIRST"), C(CODES.of(2), values(-2.0), values(1.0), mode="SCALED", types={"T": "quint8", "dtype": "bfloat16"}, says="MIN_COMBINED")]),
    Row("Dequantize", cases=[C(CODES.of(2, 3), -2.5, 3.0), C(CODES.of(2, 3, 2), *RANGES, axis=1, variants=("known",))], types={"T": QUANTIZED + ("qint32",), "dtype": "bfloat16"}, name="bfloat16"),
    Row("QuantizeAndDequantize", cases=[C(X.of(2, 3), range_given=True, input_min=-2.0, input_max=3.0), C(X.of(2, 30)), C(X.of(5), signed_input=False, num_bits=4)], grad="tf", producer=21,
        errors=[C(X.of(2), num_bits=0, types=SD, says="num_bits"), C(X.of(2), range_given=True, input_min=2.0, input_max=1.0, types=SD, says="Invalid range")]),
    Row("QuantizeAndDequantizeV2", cases=emulated(channels=False) + emulated(num_bits=4, round_mode="HALF_UP", channels=False), tol=1e-6, grad="tf",
        errors=[C(X.of(2), values(-2.0), values(1.0), num_bits=0, types=SD, says="num_bits"), C(X.of(2), values(2.0), values(1.0), range_given=True, types=SD, says="Invalid range"), C(X.of(2), values(2.0), values(1.0), axis=-2, types=SD, says="at least -1|rank"),
                C(X.of(2), values(2.0), values(1.0), axis=300, types=SD, says="less than|rank"),
                C(X.of(2, 3, 2), values([1.0, 2.0]), values([3.0, 4.0]), axis=1, range_given=True, types=SD, says="must be|incorrect size")]),
    Row("QuantizeAndDequantizeV3", cases=emulated(8) + emulated(5), tol=1e-6, grad="tf", errors=[C(X.of(2), values(-2.0), values(1.0), values(0), types=SD, says="num_bits"), C(X.of(2), values(2.0), values(1.0), values(8), range_given=True, types=SD, says="Invalid range")]),
    Row("QuantizeAndDequantizeV4", cases=emulated(channels=False) + emulated(num_bits=4, round_mode="HALF_UP", channels=False), tol=1e-6, grad="tf", errors=[C(X.of(2), values(-2.0), values(1.0), num_bits=0, types=SD, says="num_bits")]),
    # In TensorFlow its own gradient fails: three results for four inputs.
    Row("QuantizeAndDequantizeV4Grad", cases=[C(rand(2, 3), X.of(2, 3), -2.0, 2.0), C(rand(2, 3, 2), X.of(2, 3, 2), *RANGES, axis=1)], grad=False, errors=[C(rand(2), rand(3), values(-1.0), values(1.0), types=SD, says="same|must be")]),
    Row("FakeQuantWithMinMaxArgs", cases=[C(uniform(-8, 8).of(*s), **a) for s in FAKE_SHAPES for a in FAKE] + [C(X.of(40), min=-1.3, max=2.1), C(X.of(9), min=0.5, max=2.1)], tol=1e-6, grad="tf",
        errors=[C(X.of(2), num_bits=1, says="between 2 and 16"), C(X.of(2), min=2.0, max=1.0, says="smaller than max")]),
    Row("FakeQuantWithMinMaxArgsGradient", cases=[C(rand(2, 3), uniform(-8, 8).of(2, 3), **a) for a in FAKE], errors=[C(rand(2), rand(3), says="same size|must be"), C(rand(2), rand(2), num_bits=17, says="between 2 and 16")]),
    Row("FakeQuantWithMinMaxVars", cases=[C(X.of(*s), -1.3, 2.1, **a) for s in FAKE_SHAPES for a in FAKE] + [C(X.of(5), 0.0, 0.0), C(X.of(5), 0.3, 2.0)], tol=1e-6, grad="tf",
        errors=[C(X.of(2), values([-1.0, 0.0]), values(1.0), says="scalar|rank"), C(X.of(2), values(-1.0), values(1.0), num_bits=1, says="between 2 and 16")]),
    Row("FakeQuantWithMinMaxVarsGradient", cases=[C(rand(2, 3), X.of(2, 3), -1.3, 2.1, **a) for a in FAKE] + [C(rand(5), X.of(5), 0.0, 0.0)], errors=[C(rand(2), rand(3), values(-1.0), values(1.0), says="same size|must be")]),
    Row("FakeQuantWithMinMaxVarsPerChannel", cases=[C(X.of(*s, 3), *RANGES, **a) for s in ((), (4,), (2, 5), (0,)) for a in FAKE] + [C(X.of(5, 2), [0.0, -1.0], [0.0, 2.0])], tol=1e-6, grad="tf",
        errors=[C(X.of(2, 3), values([-1.0, 0.0]), values([1.0, 1.0]), says="must be|incorrect size")]),
    Row("FakeQuantWithMinMaxVarsPerChannelGradient", cases=[C(rand(*s, 3), X.of(*s, 3), *RANGES, **a) for s in ((), (4,), (2, 5)) for a in FAKE], errors=[C(rand(2, 3), rand(4, 3), *RANGES, says="same size|must be")]),
]
