"""Boxes in images, projections and glimpses."""

from tests.oracle.table import *

GRID = values([[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1], [0.0, -0.1, 1.0, 0.9], [0.0, 10.0, 1.0, 11.0], [0.0, 10.1, 1.0, 11.1], [0.0, 100.0, 1.0, 101.0], [1.0, 1.0, 0.0, 0.0]])
SCORES = values([0.9, 0.75, 0.6, 0.95, 0.5, 0.3, 0.2])
MANY = uniform(0, 1).of(60, 4)
MANY_SCORES = distinct(0.01).of(60)
NONE = (values(numpy.zeros((0, 4))), values(numpy.zeros((0,))))
F = {"T": "float"}
FT = {"T": "float", "T_threshold": "float"}
T2 = [{"T": a, "T_threshold": b} for a in ("float", "half") for b in ("float", "half")]


def cases(*thresholds, **attrs):
    return [C(GRID, SCORES, n, *thresholds, **attrs) for n in (3, 0, 30)] + [C(MANY, MANY_SCORES, 20, *thresholds, **attrs), C(*NONE, 3, *thresholds, **attrs)]


def bad(types, *thresholds):
    tail = [values(v) for v in thresholds]
    return [C(rand(5), rand(5), values(3), *tail, types=types, says="2-D|rank"), C(rand(5, 3), rand(5), values(3), *tail, types=types, says="4 columns|must be"),
            C(rand(5, 4), rand(6), values(3), *tail, types=types, says="incompatible|must be"), C(rand(5, 4), rand(5), values([3]), *tail, types=types, says="0-D|rank"),
            C(rand(5, 4), rand(5), values(-3), *tail, types=types, says="negative")]


SHARE = [C(rand(5, 4), rand(5), values(3), values(1.5), values(0.0), types=FT, says=r"\[0, 1\]")]
PIXELS = uniform(0, 1)
BATCH = PIXELS.of(2, 8, 2, 4)
ONE = PIXELS.of(2, 8, 1, 4)
CLASSES = distinct(0.01).of(2, 8, 2)
IMAGE_SIZE = values([40, 60, 3])
OBJECTS = values([[[0.1, 0.2, 0.5, 0.6], [0.4, 0.4, 0.9, 0.95]]])
TURN = values([[0.9, -0.2, 0.5, 0.15, 1.1, -0.3, 0.01, -0.02]])
TURNS = values([[1.0, 0.0, 1.0, 0.0, 1.0, -1.0, 0.0, 0.0], [0.5, 0.3, 0.0, -0.4, 0.8, 2.0, 0.0, 0.03]])
NO_NOISE = dict(uniform_noise=False, noise="zero")


def projections(*fill):
    return [C(rand(2, 5, 6, 2), t, [4, 7], *fill, interpolation=i, fill_mode=m) for t in (TURN, TURNS) for i in ("NEAREST", "BILINEAR") for m in ("CONSTANT", "REFLECT", "WRAP", "NEAREST")]


def bad_projections(*fill):
    t = {"dtype": "float"}
    return [C(rand(5, 6, 2), TURN, values([4, 7]), *fill, interpolation="NEAREST", types=t, says="rank"), C(rand(2, 5, 6, 2), rand(2, 7), values([4, 7]), *fill, interpolation="NEAREST", types=t, says="must be|x 8"),
            C(rand(2, 5, 6, 2), TURN, values([4]), *fill, interpolation="NEAREST", types=t, says="two elements|must be"), C(rand(2, 5, 6, 2), TURN, values([0, 4]), *fill, interpolation="NEAREST", types=t, says="positive")]


GLIMPSES = [C(rand(2, 6, 7, 2), [3, 4], values([[0.0, 0.0], [0.2, -0.1]]), **NO_NOISE), C(rand(2, 6, 7, 2), [3, 4], values([[-0.9, 0.9], [1.2, -1.1]]), **NO_NOISE),
            C(rand(1, 6, 7, 1), [3, 4], values([[2.0, 1.0]]), centered=False, normalized=False, **NO_NOISE), C(rand(1, 6, 7, 1), [3, 4], values([[-1.0, 2.0]]), normalized=False, **NO_NOISE),
            C(rand(1, 6, 7, 1), [3, 4], values([[0.3, 0.4]]), centered=False, **NO_NOISE), C(rand(1, 4, 4, 1), [9, 9], values([[0.0, 0.0]]), **NO_NOISE), C(rand(1, 4, 4, 1), [0, 2], values([[0.0, 0.0]]), **NO_NOISE)]
BAD_GLIMPSES = [C(rand(6, 7, 2), values([3, 4]), rand(2, 2), says="4-dim|rank"), C(rand(2, 6, 7, 2), values([3]), rand(2, 2), says="size 2|must be"), C(rand(2, 6, 7, 2), values([3, 4]), rand(3, 2), says="batch|must be"),
                C(rand(2, 6, 7, 2), values([3, 4]), rand(2, 3), says="2|must be"), C(rand(2, 6, 7, 2), values([3, 4]), rand(2, 2), noise="zero", says="uniform_noise"), C(rand(2, 6, 7, 2), values([3, 4]), rand(2, 2), uniform_noise=False, noise="pink", says="could only be")]
BAD_CROPS = [C(values([40, 60]), OBJECTS, says="3|must be", types={"T": "int32"}), C(IMAGE_SIZE, rand(2, 4), says="rank|batch", types={"T": "int32"}), C(IMAGE_SIZE, values([[[0.1, 0.2, 0.5, 1.6]]]), says=r"\[0.0, 1.0\]", types={"T": "int32"}),
             C(IMAGE_SIZE, values(numpy.zeros((1, 0, 4))), says="No bounding boxes", types={"T": "int32"}), C(IMAGE_SIZE, OBJECTS, area_range=[0.1, 1.5], says="(?i)area.range", types={"T": "int32"}),
             C(IMAGE_SIZE, OBJECTS, aspect_ratio_range=[-0.1, 1.5], says="(?i)aspect.ratio.range", types={"T": "int32"}), C(IMAGE_SIZE, OBJECTS, max_attempts=0, says="(?i)max.attempts", types={"T": "int32"})]
SIGNED_SIZES = {"T": ("uint8", "int8", "int16", "int32", "int64")}


def crops(*covered, **seeds):
    return [C(IMAGE_SIZE, OBJECTS, *covered, **seeds), C(IMAGE_SIZE, OBJECTS, *covered, area_range=[0.4, 0.9], aspect_ratio_range=[0.5, 2.0], max_attempts=5, **seeds),
            C(values([7, 9, 1]), values(numpy.zeros((1, 0, 4))), *covered, use_image_if_no_bounding_boxes=True, **seeds)]


ROWS = [
    Row("NonMaxSuppression", cases=cases() + cases(iou_threshold=0.0) + cases(iou_threshold=0.9), errors=bad(None) + [C(rand(5, 4), rand(5), values(3), iou_threshold=1.5, says=r"\[0, 1\]")]),
    Row("NonMaxSuppressionV2", cases=cases(0.5) + cases(0.3), types=T2, errors=bad(FT, 0.5)),
    Row("NonMaxSuppressionV3", cases=cases(0.5, 0.4) + cases(0.3, -1.0), types=T2, errors=bad(FT, 0.5, 0.1) + SHARE),
    Row("NonMaxSuppressionV4", cases=cases(0.5, 0.4) + cases(0.3, -1.0, pad_to_max_output_size=True), types=T2, errors=bad(FT, 0.5, 0.1) + SHARE),
    Row("NonMaxSuppressionV5", cases=cases(0.5, 0.4, 0.0) + cases(0.3, 0.1, 0.0, pad_to_max_output_size=True) + cases(0.5, 0.01, 0.5), tol={"float": 1e-5, "half": 2e-3}, errors=bad(F, 0.5, 0.1, 0.0)),
    Row("NonMaxSuppressionWithOverlaps", cases=[C(uniform(0, 1).of(9, 9), distinct(0.1).of(9), n, 0.5, -9.0) for n in (3, 20)] + [C(values(numpy.zeros((0, 0))), values(numpy.zeros(0)), 2, 0.5, 0.0)],
        errors=[C(rand(3, 4), rand(3), values(2), values(0.5), values(0.0), says="square|must be"), C(rand(3, 3), rand(4), values(2), values(0.5), values(0.0), says="incompatible|must be")]),
    Row("CombinedNonMaxSuppression", cases=[C(BATCH, CLASSES, 3, 5, 0.5, -9.0), C(ONE, CLASSES, 3, 9, 0.3, -9.0, pad_per_class=True), C(uniform(-1, 2).of(2, 8, 1, 4), CLASSES, 8, 30, 0.6, -0.01, clip_boxes=False)],
        errors=[C(rand(2, 8, 4), CLASSES, values(3), values(5), values(0.5), values(0.0), says="batch|rank|4-D"), C(rand(2, 8, 3, 4), CLASSES, values(3), values(5), values(0.5), values(0.0), says="third dimension"),
                C(BATCH, CLASSES, values(0), values(5), values(0.5), values(0.0), says="positive"), C(BATCH, CLASSES, values(3), values(5), values(1.5), values(0.0), says=r"\[0, 1\]")]),
    Row("DrawBoundingBoxes", cases=[C(rand(2, 8, 9, c), uniform(-0.2, 1.2).of(2, 12, 4)) for c in (1, 3, 4)] + [C(rand(1, 8, 9, 3), values([[[0.1, 0.2, 0.6, 0.7], [0.0, 0.0, 1.0, 1.0], [2.0, 2.0, 3.0, 3.0]]])), C(rand(1, 8, 9, 3), rand(1, 0, 4))],
        errors=[C(rand(8, 9, 3), rand(1, 2, 4), types=F, says="rank"), C(rand(1, 8, 9, 2), rand(1, 2, 4), types=F, says="depth"), C(rand(1, 8, 9, 3), rand(2, 2, 4), types=F, says="batch"), C(rand(1, 8, 9, 3), rand(1, 2, 3), types=F, says="must be|boxes, 4")]),
    Row("DrawBoundingBoxesV2", cases=[C(rand(2, 8, 9, c), uniform(-0.2, 1.2).of(2, 5, 4), rand(3, 4)) for c in (1, 3, 4)] + [C(rand(1, 8, 9, 3), uniform(0, 1).of(1, 2, 4), rand(0, 3))],
        errors=[C(rand(1, 8, 9, 3), rand(1, 2, 4), rand(2, 2), types=F, says="channels"), C(rand(1, 8, 9, 3), rand(1, 2, 4), rand(4), types=F, says="2-D|rank")]),
    Row("ExtractGlimpse", cases=GLIMPSES, errors=BAD_GLIMPSES),
    Row("ExtractGlimpse", cases=[C(rand(2, 6, 7, 2), [9, 4], rand(2, 2)), C(rand(2, 6, 7, 2), [9, 4], rand(2, 2), noise="gaussian", uniform_noise=False)], compare="shapes", name="noise"),
    Row("ExtractGlimpseV2", cases=GLIMPSES, errors=BAD_GLIMPSES),
    Row("ImageProjectiveTransformV2", cases=projections(), tol={"float": 1e-4, "double": 1e-4, "half": 8e-3, "bfloat16": 4e-2}, grad="tf", grad_tol={"float": 1e-3, "double": 1e-3, "half": 2e-2, "bfloat16": 0.1}, errors=bad_projections()),
    Row("ImageProjectiveTransformV3", cases=projections(2.0), tol={"float": 1e-4, "double": 1e-4, "half": 8e-3, "bfloat16": 4e-2}, grad="tf", grad_tol={"float": 1e-3, "double": 1e-3, "half": 2e-2, "bfloat16": 0.1}, errors=bad_projections(values(2.0))),
    Row("SampleDistortedBoundingBox", cases=crops(seed=3, seed2=5) + crops(seed=11, min_object_covered=0.7), types=SIGNED_SIZES, errors=BAD_CROPS),
    Row("SampleDistortedBoundingBoxV2", cases=crops(0.1, seed=3, seed2=5) + crops(0.6, seed=9), types=SIGNED_SIZES, errors=[C(IMAGE_SIZE, OBJECTS, values(-1.0), types={"T": "int32"}, says="non-negative")]),
    Row("StatelessSampleDistortedBoundingBox", cases=[C(IMAGE_SIZE, OBJECTS, v, [3, 4 + i], max_attempts=20) for i, v in enumerate((0.1, 0.6, 0.9))], types={"T": SIGNED_SIZES["T"], "Tseed": INDEX},
        errors=[C(IMAGE_SIZE, OBJECTS, values(0.1), values([1, 2, 3]), types={"T": "int32", "Tseed": "int32"}, says="2|must be")]),
]
