"""Images at another size, and boxes of them."""

from tests.oracle.table import *

F = {"T": "float"}
SIZES = [
    C(rand(2, 3, 4, 2), [6, 5]), C(rand(1, 4, 4, 1), [2, 3]), C(rand(1, 5, 7, 3), [3, 3], align_corners=True),
    C(rand(1, 3, 3, 1), [1, 1]), C(rand(1, 1, 1, 2), [3, 2], align_corners=True), C(rand(0, 3, 3, 1), [2, 2]),
    C(rand(1, 17, 23, 3), [40, 9])]
HALF_PIXELS = [C(rand(2, 3, 4, 1), [5, 6], half_pixel_centers=True), C(rand(1, 9, 8, 3), [4, 3], half_pixel_centers=True)]
BAD_SIZES = [
    C(rand(3, 3, 1), values([2, 2]), types=F, says="4-dim|rank"), C(rand(1, 3, 3, 1), values([0, 2]), types=F, says="positive"),
    C(rand(1, 3, 3, 1), values([2]), types=F, says="two elements|equal|must be 2"), C(rand(1, 0, 3, 1), values([2, 2]), types=F, says="non-zero")]
BAD_CENTERS = [C(rand(1, 3, 3, 1), values([2, 2]), align_corners=True, half_pixel_centers=True, types=F, says="half_pixel_centers")]
BOXES = values([[0.0, 0.0, 1.0, 1.0], [0.1, 0.2, 0.8, 0.7], [0.9, 0.8, 0.2, 0.1], [-0.3, 0.2, 0.6, 1.4]])
OWNERS = values([0, 1, 0, 1])
CROPPED = ("uint8", "uint16", "int8", "int16", "int32", "int64", "half", "float", "double")
TG = {"float": 2e-5, "half": 4e-3, "bfloat16": 3e-2, "double": 1e-5}
# The result is float, so the gradient of a double also passes through float.
RESIZED = dict(tol=2e-5, grad="tf", grad_tol=TG)
TRANSLATED = [C(rand(2, 5, 6, 2), [7, 8], values([1.5, 1.2]), values([0.3, -0.4])), C(rand(1, 9, 8, 1), [4, 3], values([0.5, 0.4]), values([0.0, 0.0])),
              C(rand(1, 9, 8, 1), [4, 3], values([0.5, 0.4]), values([0.0, 0.0]), antialias=False), C(rand(1, 5, 6, 1), [4, 4], values([0.2, 3.0]), values([5.0, -9.0]))]
TRANSLATED += [C(rand(1, 5, 6, 1), [7, 4], values([1.5, 0.7]), values([0.3, -0.4]), kernel_type=k)
               for k in ("lanczos1", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic")]

ROWS = [
    Row("ResizeBilinear", cases=SIZES + HALF_PIXELS, errors=BAD_SIZES + BAD_CENTERS, **RESIZED),
    Row("ResizeNearestNeighbor", cases=SIZES + HALF_PIXELS, grad="tf", grad_tol=TG, errors=BAD_SIZES + BAD_CENTERS),
    Row("ResizeBicubic", cases=SIZES + HALF_PIXELS, errors=BAD_SIZES + BAD_CENTERS, **RESIZED),
    Row("ResizeArea", cases=SIZES, errors=BAD_SIZES, tol=2e-5),
    Row("ResizeBilinearGrad", cases=[C(rand(2, 6, 5, 2), rand(2, 3, 4, 2)), C(rand(1, 2, 3, 1), rand(1, 4, 4, 1), align_corners=True), C(rand(1, 5, 6, 1), rand(1, 3, 4, 1), half_pixel_centers=True)], tol=TG,
        errors=[C(rand(2, 6, 5), rand(2, 3, 4, 2), types=F, says="4-dim|rank")]),
    Row("ResizeBicubicGrad", cases=[C(rand(2, 6, 5, 2), rand(2, 3, 4, 2)), C(rand(1, 2, 3, 1), rand(1, 4, 4, 1), align_corners=True), C(rand(1, 5, 6, 1), rand(1, 3, 4, 1), half_pixel_centers=True)], tol=TG,
        errors=[C(rand(2, 6, 5), rand(2, 3, 4, 2), types=F, says="4-dim|rank")]),
    Row("ResizeNearestNeighborGrad", cases=[C(rand(2, 6, 5, 2), [3, 4]), C(rand(1, 2, 3, 1), [4, 4], align_corners=True), C(rand(1, 5, 6, 1), [3, 4], half_pixel_centers=True)], tol=TG,
        errors=[C(rand(2, 6, 5), values([3, 4]), types=F, says="4-dim|rank")]),
    Row("CropAndResize", cases=[C(rand(2, 5, 6, 2), BOXES, OWNERS, [3, 4]), C(rand(2, 5, 6, 1), BOXES, OWNERS, [1, 2], extrapolation_value=3.5), C(rand(2, 5, 6, 1), BOXES, OWNERS, [3, 3], method="nearest"),
                                C(rand(2, 5, 6, 1), rand(0, 4), ints(0, 2).of(0), [3, 3])],
        tol=2e-5, grad="tf", grad_tol={"float": 1e-4, "half": 8e-3, "double": 1e-4},
        errors=[C(rand(2, 5, 6, 2), BOXES, values([0, 1, 2, 0]), values([3, 4]), types=F, says="outside"), C(rand(2, 5, 6, 2), BOXES, values([0, 1]), values([3, 4]), types=F, says="one element a box|equal|incompatible"), C(rand(2, 5, 6, 2), BOXES, OWNERS, values([0, 4]), types=F, says="positive")]
        + [C(rand(1, 4, 4, 3), values([[v, 0, 1, 1]]).typed("float"), values([0]), values([2, 2]), method=m, types=F, says="not finite") for v in (nan, inf, -inf) for m in ("bilinear", "nearest")]),
    Row("CropAndResizeGradImage", cases=[C(rand(4, 3, 4, 2), BOXES, OWNERS, [2, 5, 6, 2]), C(rand(4, 3, 3, 1), BOXES, OWNERS, [2, 5, 6, 1], method="nearest")], tol=TG,
        errors=[C(rand(4, 3, 4, 2), BOXES, OWNERS, values([2, 5, 6]), types=F, says="4 elements|rank|equal")]),
    Row("CropAndResizeGradBoxes", cases=[C(rand(4, 3, 4, 2), rand(2, 5, 6, 2), BOXES, OWNERS), C(rand(4, 1, 1, 1), rand(2, 5, 6, 1), BOXES, OWNERS)], tol=1e-4,
        errors=[C(rand(3, 3, 4, 2), rand(2, 5, 6, 2), BOXES, OWNERS, types=F, says="incompatible")]),
    Row("ScaleAndTranslate", cases=TRANSLATED, tol=5e-5, types=F, grad="tf", grad_tol=1e-4,
        errors=[C(rand(5, 6, 2), values([7, 8]), values([1.5, 1.2]), values([0.3, -0.4]), types=F, says="4-dim|rank"), C(rand(1, 5, 6, 2), values([7, 8]), values([0.0, 1.2]), values([0.3, -0.4]), types=F, says="greater than zero"),
                C(rand(1, 5, 6, 2), values([7, 8]), values([1.0]), values([0.3, -0.4]), types=F, says="two elements|must be 2|equal"), C(rand(1, 5, 6, 2), values([7, 8]), values([1.0, 1.0]), values([0.3, -0.4]), kernel_type="spline", types=F, says="kernel type"),
                C(rand(1, 5, 6, 2), values([0, 8]), values([1.0, 1.0]), values([0.3, -0.4]), types=F, says="positive")]),
    # TensorFlow's gradient fails for other types.
    Row("ScaleAndTranslate", cases=TRANSLATED[:4], tol=5e-5, types={"T": tuple(t for t in REALS if t not in ("float", "uint32", "uint64"))}, grad=False, name="other types"),
    Row("ScaleAndTranslateGrad", cases=[C(rand(2, 7, 8, 2), rand(2, 5, 6, 2), values([1.5, 1.2]), values([0.3, -0.4])), C(rand(1, 4, 3, 1), rand(1, 9, 8, 1), values([0.5, 0.4]), values([0.0, 0.0]), antialias=False),
                                        C(rand(1, 4, 3, 1), rand(1, 9, 8, 1), values([0.5, 0.4]), values([0.2, 0.0]), kernel_type="triangle")], tol=5e-5,
        errors=[C(rand(7, 8, 2), rand(2, 5, 6, 2), values([1.5, 1.2]), values([0.3, -0.4]), types=F, says="4-dim|rank")]),
]
