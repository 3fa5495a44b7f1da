"""Colours of images."""

from tests.oracle.table import *

RGB = uniform(0, 1)
SHAPES = ((3,), (5, 3), (2, 4, 3), (0, 3), (1, 2, 2, 3))
IMAGES = [C(RGB.of(2, 4, 3), f) for f in (0.0, 0.3, 1.7)] + [C(RGB.of(2, 3, 5, 3), 0.6), C(RGB.of(0, 2, 3), 0.5), C(uniform(-3, 4).of(2, 40, 30, 3), 0.4)]
BAD = [C(RGB.of(4, 3), 0.5, types={"T": "float"}, says="3-D|rank"), C(RGB.of(2, 4, 3), values([0.5, 0.5]), types={"T": "float"}, says="scalar|rank")]
BAD_CHANNELS = [C(RGB.of(2, 4, 2), 0.5, types={"T": "float"}, says="3 channels")]
# Hues that are rounded to 1: red, with a blue just above green.
WHOLE_TURN = [[0.19455159, -0.02788849, -0.02788847], [0.2703846, 0.14750877, 0.14750879], [0.5, 0.1, 0.10000001]]
T = {"float": 2e-5, "double": 1e-9, "half": 8e-3, "bfloat16": 6e-2}

ROWS = [
    Row("RGBToHSV", [RGB], shapes=SHAPES, cases=[C([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.5, 0.5, 0.2], [0.2, 0.5, 0.5], [0.5, 0.2, 0.5]]), C(RGB.of(40, 50, 3))], tol=T,
        grad="tf", grad_tol={"float": 2e-4, "double": 1e-9, "half": 0.3, "bfloat16": 2},
        errors=[C(RGB.of(2, 4), types={"T": "float"}, says="3 channels|must be"), C(RGB.of(), types={"T": "float"}, says="1-?D|rank")]),
    Row("HSVToRGB", [RGB], shapes=SHAPES, tol=T, errors=[C(RGB.of(2, 4), types={"T": "float"}, says="3 channels|must be"), C(RGB.of(), types={"T": "float"}, says="1-?D|rank")]),
    Row("AdjustContrastv2", cases=IMAGES, types={"T": "float"}, errors=BAD),
    Row("AdjustHue", cases=IMAGES + [C(RGB.of(2, 4, 3), -0.9)], types={"T": "float"}, tol=3e-5, errors=BAD + BAD_CHANNELS),
    Row("AdjustSaturation", cases=IMAGES + [C([[WHOLE_TURN]], f) for f in (0.0, 0.8, 1.2)], types={"T": "float"}, tol=3e-5, errors=BAD + BAD_CHANNELS),
    Row("AdjustContrast", cases=[C(uniform(0, 90).of(2, 4, 3), 1.5, 3.0, 60.0), C(uniform(0, 90).of(2, 3, 5, 1), 0.5, 0.0, 100.0)], producer=1,
        errors=[C(rand(4, 3), values(0.5), values(0.0), values(1.0), types={"T": "float"}, says="3-D|rank"), C(rand(2, 4, 3), values(0.5), values([0.0]), values(1.0), types={"T": "float"}, says="scalar|rank")]),
]
