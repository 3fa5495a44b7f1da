"""Eight-bit graphs of TensorFlow 1: ops whose tensors are integers with a range."""

from tests.oracle.table import *

NUMBERS_OF = {"qint8": (-128, 127), "quint8": (0, 255), "qint16": (-32768, 32767), "quint16": (0, 65535), "qint32": (-2**31, 2**31 - 1)}
CODES = Gen(lambda random, shape, dtype: random.integers(NUMBERS_OF[dtype][0], NUMBERS_OF[dtype][1], shape, endpoint=True))
# 32-bit integers as sums of products have them.
SUMS = Gen(lambda random, shape, dtype: random.integers(-300000, 300000, shape))
U8 = CODES.typed("quint8")
CONV = {"Tinput": "quint8", "Tfilter": "quint8", "out_type": "qint32"}
PRODUCT = {"T1": "quint8", "T2": "quint8", "Toutput": "qint32"}
MATMUL = dict(PRODUCT, Tactivation="quint8")
TO8 = {"Tinput": "qint32", "out_type": "quint8"}
BIAS = [{"T1": t, "T2": t, "out_type": "qint32"} for t in ("quint8", "qint8")]
RELU = [{"Tinput": t, "out_type": t} for t in ("quint8", "qint32")]
NORM = {"Tinput": "quint8", "out_type": "qint32"}
RANGES = (-1.5, 2.25, -0.75, 1.0)  # of both operands
# No zero in the range: below, above, at its ends.
OTHER_RANGES = ((0.0, 1.0, 0.0, 2.0), (1.0, 3.0, -1.0, 1.0), (-3.0, -1.0, -1.0, 1.0), (-1.0, 1.0, 0.5, 1.5), (-9.0, -8.0, 2.0, 3.0))
VECTOR = values([1.0, 2.0])


def conv(images, filters, *ranges, stride=1, padding="SAME", **more):
    return C(CODES.of(*images), CODES.of(*filters), *(ranges or RANGES), strides=[1, stride, stride, 1], padding=padding, **more)


def not_scalars(*inputs, first, count, types, **attrs):
    """Cases in which one end of a range is a vector."""
    ends = [values(-1.0), values(1.0)] * (count // 2)
    return [C(*inputs, *ends[:i], VECTOR, *ends[i + 1:], types=types, variants=("known",), **attrs) for i in range(count)]


def binary():
    shapes = [((2, 3), (2, 3)), ((), ()), ((4, 3), (3,)), ((3,), (4, 3)), ((5,), ()), ((), (2, 4)), ((1,), (6,)), ((33,), (33,))]
    return [C(CODES.of(*x), CODES.of(*y), *RANGES) for x, y in shapes] + [C(CODES.of(3, 4), CODES.of(4), *r) for r in OTHER_RANGES]


def binary_errors():
    x = U8.of(2)
    return [C(x, U8.of(3), *map(values, RANGES), types=PRODUCT, says="Incompatible|equal"),
            C(x, x, values(1.0), values(1.0), values(0.0), values(1.0), types=PRODUCT, says="max_x must be larger"),
            C(x, x, values(0.0), values(1.0), values(2.0), values(1.0), types=PRODUCT, says="larger")]


ROWS = [
    Row("QuantizedConv2D", cases=[
        conv((1, 5, 6, 3), (3, 3, 3, 4)), conv((2, 7, 7, 1), (3, 2, 1, 5), padding="VALID"), conv((2, 8, 7, 2), (3, 3, 2, 3), stride=2), conv((1, 8, 7, 2), (2, 3, 2, 3), stride=2, padding="VALID"),
        conv((1, 7, 9, 2), (1, 1, 2, 3), stride=4), conv((1, 9, 7, 2), (2, 2, 2, 3), stride=3, padding="VALID"), conv((1, 2, 2, 3), (5, 5, 3, 2)), conv((3, 1, 1, 4), (1, 1, 4, 20))]
        + [conv((1, 4, 4, 2), (3, 3, 2, 2), *r) for r in OTHER_RANGES] + [conv((1, 4, 4, 2), (3, 3, 2, 2), 1.0, 1.0, 2.0, 2.0)],
        types=CONV, errors=[
            conv((1, 4, 4, 2), (3, 3, 3, 2), *map(values, RANGES), types=CONV, says="depth"), conv((4, 4, 2), (3, 3, 2, 2), *map(values, RANGES), types=CONV, says="rank|4-dim"), conv((1, 4, 4, 2), (3, 3, 2), *map(values, RANGES), types=CONV, says="rank|4-dim"),
            conv((1, 2, 2, 2), (3, 3, 2, 2), *map(values, RANGES), padding="VALID", variants=("known",), types=CONV, says="Negative|negative"),
            C(CODES.of(1, 4, 4, 2), CODES.of(3, 3, 2, 2), *map(values, RANGES), strides=[1, 1, 2, 1], padding="SAME", types=CONV, says="equal length"),
            C(CODES.of(1, 4, 4, 2), CODES.of(3, 3, 2, 2), *map(values, RANGES), strides=[2, 1, 1, 1], padding="SAME", types=CONV, says="batch and depth"),
            C(CODES.of(1, 4, 4, 2), CODES.of(3, 3, 2, 2), *map(values, RANGES), strides=[1, 1], padding="SAME", types=CONV, says="stride|dimensions"),
            conv((1, 6, 6, 2), (2, 2, 2, 2), *map(values, RANGES), dilations=[1, 2, 2, 1], types=CONV, says="dilat")]
        + not_scalars(CODES.of(1, 4, 4, 2), CODES.of(3, 3, 2, 2), first=2, count=4, types=CONV, strides=[1, 1, 1, 1], padding="SAME")),
    Row("QuantizedMatMul", cases=[C(CODES.of(2, 3), CODES.of(3, 4), *RANGES), C(CODES.of(3, 2), CODES.of(3, 4), *RANGES, transpose_a=True), C(CODES.of(2, 3), CODES.of(4, 3), *RANGES, transpose_b=True), C(CODES.of(3, 2), CODES.of(4, 3), *RANGES, transpose_a=True, transpose_b=True),
                                  C(CODES.of(33, 70), CODES.of(70, 19), *RANGES), C(CODES.of(1, 300), CODES.of(300, 1), *RANGES)] + [C(CODES.of(2, 3), CODES.of(3, 4), *r) for r in OTHER_RANGES],
        types=MATMUL, errors=[C(U8.of(2, 3), U8.of(2, 3), *map(values, RANGES), types=MATMUL, says="incompatible|equal"), C(U8.of(2), U8.of(2, 3), *map(values, RANGES), types=MATMUL, says="rank|matrix"), C(U8.of(3, 2), U8.of(2), *map(values, RANGES), types=MATMUL, says="rank|matrix"),
                               C(U8.of(2, 3), U8.of(3, 2), values(1.0), values(1.0), values(0.0), values(1.0), types=MATMUL, says="max_a must be larger"), C(U8.of(2, 3), U8.of(3, 2), values(0.0), values(1.0), values(1.0), values(0.0), types=MATMUL, says="max_b must be larger")]
        + not_scalars(U8.of(2, 3), U8.of(3, 2), first=2, count=4, types=MATMUL)),
    Row("QuantizedMul", cases=binary(), types=PRODUCT, errors=binary_errors() + not_scalars(U8.of(3), U8.of(3), first=2, count=4, types=PRODUCT)),
    Row("QuantizedAdd", cases=binary(), types=PRODUCT, errors=binary_errors() + not_scalars(U8.of(3), U8.of(3), first=2, count=4, types=PRODUCT)),
    Row("QuantizedBiasAdd", cases=[C(CODES.of(2, 3), CODES.of(3), *RANGES), C(CODES.of(2, 5, 4), CODES.of(4), *RANGES), C(CODES.of(1, 3, 2, 7), CODES.of(7), *RANGES), C(CODES.of(40, 17), CODES.of(17), *RANGES)] + [C(CODES.of(2, 3), CODES.of(3), *r) for r in OTHER_RANGES],
        types=BIAS, errors=[C(U8.of(2, 3), U8.of(2), *map(values, RANGES), types=BIAS[0], says="biases|equal"), C(U8.of(3), U8.of(3), *map(values, RANGES), types=BIAS[0], says="2D|rank"), C(U8.of(2, 3), U8.of(1, 3), *map(values, RANGES), types=BIAS[0], says="1D|rank")]
        + not_scalars(U8.of(2, 3), U8.of(3), first=2, count=4, types=BIAS[0])),
    Row("QuantizedRelu", cases=[C(CODES.of(*s), lo, hi) for s in ((2, 3), (), (0, 2), (5, 70)) for lo, hi in ((-1.0, 1.0), (0.0, 6.0), (-3.0, 20.0), (1.0, 2.0), (-2.0, -1.0))], types=RELU, errors=not_scalars(U8.of(2), first=1, count=2, types=RELU[0])),
    Row("QuantizedRelu6", cases=[C(CODES.of(*s), lo, hi) for s in ((2, 3), (), (0, 2), (5, 70)) for lo, hi in ((-1.0, 1.0), (0.0, 6.0), (-3.0, 20.0), (1.0, 2.0), (-2.0, -1.0), (7.0, 9.0))], types=RELU, errors=not_scalars(U8.of(2), first=1, count=2, types=RELU[0])),
    Row("QuantizedReshape", cases=[C(CODES.of(2, 6), [3, 4], -1.0, 2.0), C(CODES.of(2, 6), [4, -1], -1.0, 2.0), C(CODES.of(1), [], -1.0, 2.0), C(CODES.of(0, 3), [3, 0], -1.0, 2.0), C(CODES.of(6), [-1], -1.0, 2.0)], types={"T": ("quint8", "qint32")},
        errors=[C(U8.of(2, 3), values([4, 2]), values(-1.0), values(2.0), types={"T": "quint8"}, says="reshape"), C(U8.of(2, 3), values([-1, -1]), values(-1.0), values(2.0), types={"T": "quint8"}, says="Only one"), C(U8.of(2, 3), values([4, -1]), values(-1.0), values(2.0), types={"T": "quint8"}, says="multiple|divisible"),
                C(U8.of(2, 3), values([-2, 3]), values(-1.0), values(2.0), types={"T": "quint8"}, says="non-negative|-2|shape")] + not_scalars(U8.of(2), values([2]), first=2, count=2, types={"T": "quint8"})),
    Row("QuantizedConcat", cases=[C(0, [CODES.of(2, 3), CODES.of(1, 3)], [-1.0, -2.0], [1.0, 0.5]), C(1, [CODES.of(2, 3), CODES.of(2, 1), CODES.of(2, 0)], [-1.0, -2.0, 0.0], [1.0, 0.5, 3.0]), C(2, [CODES.of(2, 3, 4), CODES.of(2, 3, 2)], [-1.0, -1.0], [1.0, 1.0])], types={"T": ("quint8", "qint32")},
        errors=[C(values(0), [U8.of(2, 3), U8.of(2, 2)], [values(-1.0), values(-2.0)], [values(1.0), values(0.5)], types={"T": "quint8"}, says="equal|match"), C(values(2), [U8.of(2, 3), U8.of(2, 3)], [values(-1.0), values(-2.0)], [values(1.0), values(0.5)], types={"T": "quint8"}, says="range|rank"),
                C(values(0), [U8.of(2, 3), U8.of(2)], [values(-1.0), values(-2.0)], [values(1.0), values(0.5)], types={"T": "quint8"}, says="[Rr]ank"), C(values(0), [U8.of(2, 3), U8.of(2, 3)], [values([-1.0, 1.0]), values(-2.0)], [values(1.0), values(0.5)], types={"T": "quint8"}, says="num elements|rank")]),
    Row("QuantizedBatchNormWithGlobalNormalization", cases=[C(CODES.of(*s, 3), -3.0, 4.0, CODES.of(3), -1.0, 1.0, CODES.of(3), 0.1, 2.0, CODES.of(3), -1.0, 2.0, CODES.of(3), 0.5, 1.5, variance_epsilon=0.001, scale_after_normalization=scales) for s in ((2, 3, 4), (1, 1, 1)) for scales in (False, True)], types=NORM,
        errors=[C(CODES.of(1, 2, 2, n[0]), values(-3.0), values(4.0), CODES.of(n[1]), values(-1.0), values(1.0), CODES.of(n[2]), values(0.1), values(2.0), CODES.of(n[3]), values(-1.0), values(2.0), CODES.of(n[4]), values(0.5), values(1.5), variance_epsilon=0.001, scale_after_normalization=True, variants=("known",), types=NORM, says="equal|elements")
                for n in ((3, 2, 3, 3, 3), (3, 3, 2, 3, 3), (3, 3, 3, 2, 3), (3, 3, 3, 3, 2))]),
    Row("QuantizedInstanceNorm", cases=[C(CODES.of(2, 3, 4, 3), -3.0, 4.0), C(CODES.of(1, 1, 1, 2), -3.0, 4.0), C(CODES.of(2, 5, 5, 1), 0.0, 4.0, variance_epsilon=0.1), C(CODES.of(1, 4, 4, 16), -1.0, 1.0, output_range_given=True, given_y_min=-2.0, given_y_max=1.5), C(CODES.of(1, 4, 4, 2), -1.0, 1.0, min_separation=20.0)], types={"T": "quint8"}, tol=1e-5,
        compare=lambda a, b: None if a.dtype == b.dtype and a.shape == b.shape and numpy.all(numpy.abs(a.astype(float) - b.astype(float)) <= (1 if a.dtype.names is not None or a.dtype.kind in "ui" else 1e-5)) else "far apart",
        errors=[C(U8.of(2, 2), values(0.0), values(1.0), variants=("known",), types={"T": "quint8"}, says="rank|dim"), C(U8.of(1, 2, 2, 1), values(1.0), values(1.0), types={"T": "quint8"}, says="less than"), C(U8.of(1, 2, 2, 1), values(0.0), values(1.0), output_range_given=True, given_y_min=2.0, given_y_max=1.0, types={"T": "quint8"}, says="less than")]
        + not_scalars(U8.of(1, 2, 2, 1), first=1, count=2, types={"T": "quint8"})),
    Row("QuantizedMaxPool", cases=[C(CODES.of(2, 5, 6, 3), -1.0, 2.0, ksize=[1, 2, 3, 1], strides=[1, 2, 1, 1], padding=p) for p in ("SAME", "VALID")] + [C(CODES.of(1, 3, 3, 4), -1.0, 2.0, ksize=[1, 1, 1, 2], strides=[1, 1, 1, 2], padding="SAME")], types={"T": ("quint8", "qint8")},
        errors=[C(U8.of(2, 2), values(-1.0), values(2.0), ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME", types={"T": "quint8"}, says="rank|4-dim|2 spatial"), C(U8.of(2, 4, 4, 1), values(-1.0), values(2.0), ksize=[2, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME", types={"T": "quint8"}, says="batch"),
                C(U8.of(2, 4, 4, 1), values(-1.0), values(2.0), ksize=[1, 2, 2], strides=[1, 2, 2, 1], padding="SAME", types={"T": "quint8"}, says="ksize")] + not_scalars(U8.of(1, 2, 2, 1), first=1, count=2, types={"T": "quint8"}, ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="SAME")),
    Row("QuantizedAvgPool", cases=[C(CODES.of(2, 5, 6, 3), -1.0, 2.0, ksize=[1, 2, 3, 1], strides=[1, 2, 1, 1], padding=p) for p in ("SAME", "VALID")] + [C(CODES.of(1, 9, 9, 1), -1.0, 2.0, ksize=[1, 9, 9, 1], strides=[1, 1, 1, 1], padding="VALID")], types={"T": ("quint8", "qint8")},
        errors=[C(U8.of(2, 2), values(-1.0), values(2.0), ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME", types={"T": "quint8"}, says="rank|4-dim|2 spatial"), C(U8.of(2, 4, 4, 1), values(-1.0), values(2.0), ksize=[2, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME", types={"T": "quint8"}, says="batch"),
                C(U8.of(2, 4, 4, 2), values(-1.0), values(2.0), ksize=[1, 1, 1, 2], strides=[1, 1, 1, 2], padding="SAME", types={"T": "quint8"}, says="Non-spatial")] + not_scalars(U8.of(1, 2, 2, 1), first=1, count=2, types={"T": "quint8"}, ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="SAME")),
    Row("QuantizedResizeBilinear", cases=[C(g.of(*s), size, -1.0, 2.0, **a) for s, size in (((2, 3, 4, 3), [5, 7]), ((1, 6, 9, 1), [3, 13]), ((1, 4, 5, 2), [4, 5]), ((1, 5, 3, 5), [2, 1])) for a in ({}, {"align_corners": True}, {"half_pixel_centers": True}) for g in (CODES,)], types={"T": ("quint8", "qint32")},
        errors=[C(U8.of(2, 3, 3), values([2, 2]), values(-1.0), values(2.0), types={"T": "quint8"}, says="rank|4-dim"), C(U8.of(1, 3, 3, 1), values([0, 2]), values(-1.0), values(2.0), types={"T": "quint8"}, says="positive"), C(U8.of(1, 3, 3, 1), values([2, 2, 2]), values(-1.0), values(2.0), types={"T": "quint8"}, says="2|two")]
        + not_scalars(U8.of(1, 2, 2, 1), values([2, 2]), first=2, count=2, types={"T": "quint8"})),
    Row("QuantizedResizeBilinear", cases=[C(rand(2, 3, 4, 3), [5, 7], -1.0, 2.0, **a) for a in ({}, {"align_corners": True}, {"half_pixel_centers": True})], types={"T": "float"}, grad=False, name="float"),
    Row("RequantizationRange", cases=[C(g.of(*s), -100.0, 150.0) for g in (CODES, SUMS) for s in ((2, 3), (), (50, 7))] + [C(SUMS.of(4), 1.0, 1.0), C(CODES.of(3), -5.0, -1.0)], types={"Tinput": "qint32"}, errors=not_scalars(SUMS.of(2), first=1, count=2, types={"Tinput": "qint32"})),
    Row("Requantize", cases=[C(g.of(*s), -100.0, 150.0, lo, hi) for g in (CODES, SUMS) for s in ((2, 3), (0,), (50, 7)) for lo, hi in ((-100.0, 150.0), (-0.01, 0.02), (0.0, 0.0), (-1.0, -0.5), (-1.0, -1.0))], types=TO8,
        errors=[C(SUMS.of(2), values(-1.0), values(1.0), values(0.5), values(1.0), types=TO8, says="requested_output_min"), C(SUMS.of(2), values(-1.0), values(1.0), values(-1.0), values(-2.0), types=TO8, says="requested_output_max")] + not_scalars(SUMS.of(2), first=1, count=4, types=TO8)),
    Row("QuantizeDownAndShrinkRange", cases=[C(g.of(*s), -100.0, 150.0) for g in (CODES, SUMS) for s in ((2, 3), (), (50, 7))] + [C(CODES.of(3), -5.0, -1.0)], types=TO8, errors=not_scalars(SUMS.of(2), first=1, count=2, types=TO8)),
]
