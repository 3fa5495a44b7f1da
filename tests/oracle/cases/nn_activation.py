"""Activation functions and the ops of their gradients."""

from tests.oracle.table import *

# Away from the kinks, so that difference quotients are accurate.
SMOOTH = away_from_zero(0.3, 5)
SPECIAL = (0, -0.0, 1, -1, 6, 7, inf, -inf, nan)
F = {"T": "float"}
UNLIKE = [C(rand(3), rand(4), types=F, says="same", variants=["unknown"])]

ROWS = [
    Row("Relu", [SMOOTH.edges(0, 1, 100)], shapes=ELEMENTWISE),
    Row("Relu", [SMOOTH.edges(*SPECIAL)], shapes=[(2,)], types={"T": ALL_FLOATS}, name="special"),
    Row("ReluGrad", [uniform(), SMOOTH.edges(0, 1, 7)], shapes=ELEMENTWISE, errors=UNLIKE),
    Row("Relu6", [SMOOTH.edges(0, 1, 6, 7, 100)], shapes=ELEMENTWISE),
    Row("Relu6", [SMOOTH.edges(*SPECIAL)], shapes=[(2,)], types={"T": ALL_FLOATS}, name="special"),
    Row("Relu6Grad", [uniform(), SMOOTH.edges(0, 1, 6, 7)], shapes=ELEMENTWISE, errors=UNLIKE),
    Row("LeakyRelu", [SMOOTH.edges(*SPECIAL)], shapes=ELEMENTWISE, attrs=[{}, {"alpha": 0.5}, {"alpha": 0.0}]),
    Row("LeakyReluGrad", [uniform(), SMOOTH.edges(0, 1, -1)], shapes=ELEMENTWISE, attrs=[{}, {"alpha": 0.5}], errors=UNLIKE),
    Row("Elu", [SMOOTH.edges(*SPECIAL, -1e-4, -100)], shapes=ELEMENTWISE),
    Row("EluGrad", [uniform(), away_from_zero(0.3, 0.9).edges(0, 1, -1)], shapes=ELEMENTWISE, errors=UNLIKE),
    Row("Selu", [SMOOTH.edges(*SPECIAL, -100)], shapes=ELEMENTWISE),
    # TensorFlow loses small exponentials of 16-bit types in intermediate results.
    Row("Selu", [SMOOTH.edges(-1e-4)], shapes=[(2,)], types={"T": FLOATS}, name="small"),
    Row("SeluGrad", [uniform(), away_from_zero(0.3, 0.9).edges(0, 1, -1)], shapes=ELEMENTWISE, errors=UNLIKE),
    Row("Softplus", [uniform(-5, 5).edges(*SPECIAL, 20, -20, 50, -50, 1e-4)], shapes=ELEMENTWISE, tol={"bfloat16": 4e-2}),
    Row("SoftplusGrad", [uniform(), uniform(-5, 5).edges(0, 20, -20, 100, -100, inf, -inf, nan)], shapes=ELEMENTWISE,
        errors=UNLIKE),
    Row("Softsign", [uniform(-5, 5).edges(0, 1, -1, 1e6, -1e4)], shapes=ELEMENTWISE),
    Row("SoftsignGrad", [uniform(), uniform(-5, 5).edges(0, 1, -1, 100)], shapes=ELEMENTWISE, errors=UNLIKE),
]
