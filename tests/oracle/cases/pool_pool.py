"""Pools that tell places, and pools of random windows."""

from tests.oracle.table import *

F = {"T": "float"}
WINDOWS = [dict(ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID"), dict(ksize=[1, 3, 2, 1], strides=[1, 1, 2, 1], padding="SAME"), dict(ksize=[1, 2, 3, 1], strides=[1, 1, 1, 1], padding="SAME", include_batch_in_index=True)]
POOLED = [(2, 2, 2, 3), (2, 4, 3, 3), (2, 4, 5, 3)]
IMAGE = (2, 4, 5, 3)
# Indices of POOLED that lie in their image.
PLACES = [ints(0, 60).of(*s) for s in POOLED[:2]] + [values(numpy.arange(120).reshape(2, 4, 5, 3)[:, ::-1].copy())]
FT = {"T": "float", "Targmax": "int64"}
RATIOS = [dict(pooling_ratio=[1.0, 1.4, 1.6, 1.0]), dict(pooling_ratio=[1.0, 2.0, 1.5, 1.0], overlapping=True), dict(pooling_ratio=[1.0, 1.3, 2.7, 1.0], pseudo_random=True)]
SEEDS = [dict(deterministic=True, seed=3, seed2=5, **r) for r in RATIOS] + [dict(deterministic=True, seed=11, seed2=0, pseudo_random=True, overlapping=True, pooling_ratio=[1.0, 1.7, 1.2, 1.0])]
BAD_RATIOS = [C(rand(6, 7, 2), types=F, says="4|rank", **RATIOS[0]), C(rand(2, 6, 7, 2), pooling_ratio=[1.0, 0.5, 1.6, 1.0], types=F, says="smaller than 1"), C(rand(2, 6, 7, 2), pooling_ratio=[1.0, 1.5, 1.6, 2.0], types=F, says="channel"),
              C(rand(2, 6, 7, 2), seed=3, types=F, says="deterministic", **RATIOS[0])]
ROWS_AT, COLUMNS_AT = values([0, 2, 3, 5], "int64"), values([0, 1, 3, 4, 6], "int64")
NUMBERED = numpy.arange(60).reshape(1, 5, 6, 2)
GREATEST = values(NUMBERED[:, [1, 2, 4]][:, :, [0, 2, 3, 5]].copy())
# TensorFlow's static shape has as many borders as cells, which is wrong.
FRACTIONAL = dict(static_shapes=False)

ROWS = [
    Row("MaxPoolWithArgmax", cases=[C(distinct(0.1).of(*IMAGE), **w) for w in WINDOWS], tol=0, grad="tf",
        errors=[C(rand(4, 5, 3), types=FT, says="4|rank", **WINDOWS[0]), C(rand(0, 4, 5, 3), types=FT, says="empty", **WINDOWS[0]), C(rand(*IMAGE), ksize=[2, 1, 1, 1], strides=[1, 1, 1, 1], padding="VALID", types=FT, says="batch dimension"), C(rand(*IMAGE), ksize=[1, 5, 1, 1], strides=[1, 1, 1, 1], padding="VALID", variants=("known",), types=FT, says="[Nn]egative")]),
    Row("MaxPoolWithArgmax", cases=[C(ints(0, 3).of(*IMAGE), **w) for w in WINDOWS], tol=0, grad=False, types={"T": ("float", "int32"), "Targmax": "int64"}, name="ties"),
    Row("MaxPoolGradWithArgmax", cases=[C(rand(*IMAGE), rand(*POOLED[i]), PLACES[i], **w) for i, w in enumerate(WINDOWS)], types={"T": REALS, "Targmax": "int64"}, tol={"float": 1e-6, "double": 1e-12, "half": 5e-3, "bfloat16": 5e-2},
        errors=[C(rand(*IMAGE), rand(2, 2, 2, 2), ints(0, 3).of(2, 2, 2, 2), types=FT, says="[Ee]xpected", **WINDOWS[0])]),
    Row("FractionalMaxPool", cases=[C(distinct(0.1).of(2, 6, 7, 2), **s) for s in SEEDS] + [C(distinct(0.1).of(1, 13, 17, 3), **s) for s in SEEDS], grad="tf", errors=BAD_RATIOS, **FRACTIONAL),
    Row("FractionalAvgPool", cases=[C(uniform(0, 9).of(2, 6, 7, 2), **s) for s in SEEDS] + [C(uniform(0, 9).of(1, 13, 17, 3), **s) for s in SEEDS], grad="tf", errors=BAD_RATIOS, **FRACTIONAL),
    Row("FractionalMaxPool", cases=[C(rand(2, 6, 7, 2), **r) for r in RATIOS[:1]], compare="shapes", grad=False, types={"T": "float"}, name="random", **FRACTIONAL),
    Row("FractionalMaxPoolGrad", cases=[C(values(NUMBERED), GREATEST, rand(1, 3, 4, 2), ROWS_AT, COLUMNS_AT)],
        errors=[C(rand(5, 6, 2), rand(1, 3, 4, 2), rand(1, 3, 4, 2), ROWS_AT, COLUMNS_AT, types=F, says="4|rank"), C(rand(1, 5, 6, 2), rand(1, 3, 4, 2), rand(1, 3, 3, 2), ROWS_AT, COLUMNS_AT, types=F, says="same")]),
    Row("FractionalAvgPoolGrad", cases=[C([1, 5, 6, 2], uniform(0, 9).of(1, 3, 4, 2), ROWS_AT, COLUMNS_AT), C([1, 5, 6, 2], uniform(0, 9).of(1, 3, 4, 2), ROWS_AT, COLUMNS_AT, overlapping=True)],
        errors=[C(values([1, 5, 6], "int64"), rand(1, 3, 4, 2), ROWS_AT, COLUMNS_AT, types=F, says="4|rank"), C(values([1, 5, 6, 2], "int64"), rand(3, 4, 2), ROWS_AT, COLUMNS_AT, types=F, says="4|rank")]),
]
