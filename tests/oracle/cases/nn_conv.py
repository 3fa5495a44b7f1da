"""Convolutions."""

from tests.oracle.table import *

F = {"T": "float"}
X, W = uniform(-2, 2), uniform(-1, 1)
HALF_TOL = {"half": 1e-2, "bfloat16": 8e-2}
HALF_GRAD = {"half": 4e-2, "bfloat16": 0.3}
ONE = [1, 1, 1, 1]


def image(*inputs, **attrs):
    return C(*inputs, **({"strides": ONE, "padding": "SAME"} | attrs))


# Sizes, strides and paddings that gradients support.
CASES = [
    image(X.of(2, 5, 4, 3), W.of(3, 3, 3, 2)), image(X.of(2, 5, 4, 3), W.of(3, 3, 3, 2), padding="VALID"),
    image(X.of(1, 6, 7, 2), W.of(2, 3, 2, 4), strides=[1, 2, 2, 1]), image(X.of(1, 6, 7, 2), W.of(3, 2, 2, 4), strides=[1, 2, 3, 1], padding="VALID"),
    image(X.of(2, 4, 4, 1), W.of(1, 1, 1, 3)), image(X.of(2, 4, 4, 2), W.of(1, 1, 2, 3), strides=[1, 2, 2, 1]), image(X.of(1, 3, 3, 2), W.of(5, 5, 2, 2)),
    image(X.of(2, 4, 4, 2), W.of(3, 3, 2, 2), padding="EXPLICIT", explicit_paddings=[0, 0, 2, 1, 0, 1, 0, 0]),
    image(X.of(1, 5, 5, 1), W.of(2, 2, 1, 1), padding="EXPLICIT", explicit_paddings=[0, 0, 3, 0, 1, 4, 0, 0], strides=[1, 2, 1, 1]),
    image(X.of(2, 3, 3, 2), W.of(3, 3, 2, 2), padding="VALID", strides=[1, 3, 3, 1]),
]
# TensorFlow has no CPU gradients of these.
FORWARD_ONLY = [
    image(X.of(2, 6, 7, 2), W.of(3, 2, 2, 3), dilations=[1, 2, 3, 1], grad=False), image(X.of(1, 6, 7, 2), W.of(3, 2, 2, 3), dilations=[1, 2, 2, 1], padding="VALID", grad=False),
    image(X.of(2, 4, 5, 4), W.of(3, 3, 2, 6), grad=False), image(X.of(1, 4, 4, 3), W.of(2, 2, 1, 6), strides=[1, 2, 1, 1], grad=False),
    image(X.of(0, 4, 4, 2), W.of(3, 3, 2, 2), grad=False),
]
WRONG = [
    image(rand(5, 5, 3), rand(2, 2, 3, 1), types=F, says="4-dimensional|rank"), image(rand(1, 5, 5, 3), rand(2, 2, 3), types=F, says="4-dimensional|rank"),
    image(rand(1, 5, 5, 3), rand(2, 2, 2, 4), types=F, says="evenly divisible|not a multiple"),
    image(rand(1, 5, 5, 3), rand(7, 2, 3, 4), padding="VALID", types=F, says="negative|Negative"),
    image(rand(1, 5, 5, 3), rand(2, 2, 3, 4), strides=[1, 2, 1], types=F, says="stride attribute to contain 4 values, but got: 3"),
    image(rand(1, 5, 5, 3), rand(2, 2, 3, 4), strides=[1, 0, 1, 1], types=F, says="Stride must be > 0, but got 0"),
    image(rand(1, 5, 5, 3), rand(2, 2, 3, 4), strides=[2, 1, 1, 1], types=F, says="strides in the batch and depth"),
    image(rand(1, 5, 5, 3), rand(2, 2, 3, 4), dilations=[1, 0, 1, 1], types=F, says="Dilation rate must be >= 1, but got 0"),
    image(rand(1, 5, 5, 3), rand(2, 2, 3, 4), dilations=[1, 1, 1, 2], types=F, says="dilations in the batch and depth"),
    image(rand(1, 5, 5, 3), rand(2, 2, 3, 4), explicit_paddings=[0, 0, 1, 1, 1], padding="EXPLICIT", types=F, says="8 values, but got: 5"),
    image(rand(1, 5, 5, 3), rand(2, 2, 3, 4), explicit_paddings=[0, 0, 1, 1, 1, -1, 0, 0], padding="EXPLICIT", types=F, says="nonnegative"),
    image(rand(1, 5, 5, 3), rand(2, 2, 3, 4), explicit_paddings=[0, 1, 1, 1, 1, 1, 0, 0], padding="EXPLICIT", types=F, says="batch or depth"),
    image(rand(1, 5, 5, 3), rand(2, 2, 3, 4), explicit_paddings=[0, 0, 1, 1, 1, 1, 0, 0], types=F, says="must be empty"),
]
BIG = [image(X.of(3, 20, 21, 8), W.of(5, 5, 8, 16)), image(X.of(3, 20, 21, 8), W.of(3, 3, 8, 16), strides=[1, 2, 2, 1]), image(X.of(40, 14, 14, 16), W.of(3, 3, 16, 8)),
       image(X.of(2, 64, 64, 1), W.of(5, 5, 1, 16))]
# Multiples of 16 channels use another algorithm (ops/conv/winograd.h).
WIDE = [image(X.of(2, 9, 14, 16), W.of(3, 3, 16, 32)), image(X.of(2, 10, 7, 16), W.of(3, 3, 16, 16), padding="VALID")]
# Sums of 400 and 800 terms, with results of some tens.
WIDER = [image(X.of(3, 8, 8, 32), W.of(5, 5, 32, 16)),
         image(X.of(2, 9, 8, 16), W.of(5, 5, 16, 16), padding="EXPLICIT", explicit_paddings=[0, 0, 3, 0, 1, 4, 0, 0])]
BIG_TOL = {"float": 3e-4, "double": 1e-10}

ROWS = [
    Row("Conv2D", cases=CASES + FORWARD_ONLY, errors=WRONG, tol=HALF_TOL, grad_tol=HALF_GRAD),
    Row("Conv2D", cases=BIG, types={"T": FLOATS}, grad="tf", name="big", tol=BIG_TOL, grad_tol={"float": 3e-3, "double": 1e-9}),
    Row("Conv2D", cases=WIDE, types={"T": ("float",)}, grad="tf", name="wide", tol=1e-4, grad_tol=4e-4),
    Row("Conv2D", cases=WIDER, types={"T": ("float",)}, grad="tf", name="wider", tol=4e-4, grad_tol=4e-4),
    Row("Conv2DBackpropInput", cases=[
        image([2, 5, 4, 3], W.of(3, 3, 3, 2), X.of(2, 5, 4, 2)), image([2, 5, 4, 3], W.of(3, 3, 3, 2), X.of(2, 3, 2, 2), padding="VALID"),
        image([1, 6, 7, 2], W.of(2, 3, 2, 4), X.of(1, 3, 4, 4), strides=[1, 2, 2, 1]), image([1, 6, 7, 2], W.of(3, 2, 2, 4), X.of(1, 2, 2, 4), strides=[1, 2, 3, 1], padding="VALID"),
        image([2, 4, 4, 2], W.of(3, 3, 2, 2), X.of(2, 5, 3, 2), padding="EXPLICIT", explicit_paddings=[0, 0, 2, 1, 0, 1, 0, 0]),
        image([5, 4], W.of(3, 3, 3, 2), X.of(2, 5, 4, 2)), image([0, 5, 4, 3], W.of(3, 3, 3, 2), X.of(0, 5, 4, 2), grad=False)],
        errors=[image([2, 5, 5, 3], rand(2, 2, 3, 4), rand(2, 3, 3, 4), padding="VALID", types=F, says="Size of out_backprop doesn't match computed: actual = 3, computed = 4"),
                image([3, 5, 5, 3], rand(2, 2, 3, 4), rand(2, 5, 5, 4), types=F, says="same batch size|must be equal|compatible"),
                image([2, 5, 5, 3], rand(2, 2, 3, 3), rand(2, 5, 5, 4), types=F, says="same out_depth"),
                image([2, 5, 5], rand(2, 2, 3, 3), rand(2, 5, 5, 3), types=F, says="4 values or 2 values, but got: 3")],
        tol=HALF_TOL, grad_tol=HALF_GRAD),
    Row("Conv2DBackpropFilter", cases=[
        image(X.of(2, 5, 4, 3), [3, 3, 3, 2], X.of(2, 5, 4, 2)), image(X.of(2, 5, 4, 3), [3, 3, 3, 2], X.of(2, 3, 2, 2), padding="VALID"),
        image(X.of(1, 6, 7, 2), [2, 3, 2, 4], X.of(1, 3, 4, 4), strides=[1, 2, 2, 1]), image(X.of(1, 6, 7, 2), [3, 2, 2, 4], X.of(1, 2, 2, 4), strides=[1, 2, 3, 1], padding="VALID"),
        image(X.of(2, 4, 4, 2), [3, 3, 2, 2], X.of(2, 5, 3, 2), padding="EXPLICIT", explicit_paddings=[0, 0, 2, 1, 0, 1, 0, 0]), image(X.of(0, 5, 4, 3), [3, 3, 3, 2], X.of(0, 5, 4, 2), grad=False)],
        errors=[image(rand(2, 5, 5, 3), [2, 2, 3, 4], rand(2, 3, 4, 4), padding="VALID", types=F, says="Size of out_backprop doesn't match computed: actual = 3, computed = 4"),
                image(rand(2, 5, 5, 3), [2, 2, 3], rand(2, 5, 5, 4), types=F, says="rank|4-dim")],
        tol=HALF_TOL, grad_tol=HALF_GRAD),
    Row("DepthwiseConv2dNative", cases=[
        image(X.of(2, 5, 4, 3), W.of(3, 3, 3, 2)), image(X.of(2, 5, 4, 3), W.of(3, 3, 3, 1), padding="VALID"), image(X.of(1, 6, 6, 2), W.of(2, 3, 2, 2), strides=[1, 2, 2, 1]),
        image(X.of(2, 4, 4, 2), W.of(3, 3, 2, 2), padding="EXPLICIT", explicit_paddings=[0, 0, 2, 1, 0, 1, 0, 0]), image(X.of(1, 4, 4, 20), W.of(3, 3, 20, 1))],
        tol=HALF_TOL, grad_tol=HALF_GRAD,
        errors=[image(rand(5, 5, 3), rand(2, 2, 3, 1), types=F, says="4-dimensional|rank"), image(rand(1, 5, 5, 3), rand(2, 2, 2, 1), types=F, says="same depth|must be equal")]),
    Row("DepthwiseConv2dNativeBackpropInput", cases=[
        image([2, 5, 4, 3], W.of(3, 3, 3, 2), X.of(2, 5, 4, 6)), image([2, 5, 4, 3], W.of(3, 3, 3, 1), X.of(2, 3, 2, 3), padding="VALID"),
        image([1, 6, 6, 2], W.of(2, 3, 2, 2), X.of(1, 3, 3, 4), strides=[1, 2, 2, 1])], tol=HALF_TOL, grad_tol=HALF_GRAD),
    Row("DepthwiseConv2dNativeBackpropFilter", cases=[
        image(X.of(2, 5, 4, 3), [3, 3, 3, 2], X.of(2, 5, 4, 6)), image(X.of(2, 5, 4, 3), [3, 3, 3, 1], X.of(2, 3, 2, 3), padding="VALID"),
        image(X.of(1, 6, 6, 2), [2, 3, 2, 2], X.of(1, 3, 3, 4), strides=[1, 2, 2, 1])], tol=HALF_TOL, grad_tol=HALF_GRAD),
    # Filters with no output channels.
    Row("Conv2DBackpropInput", cases=[image([1, 2, 2, 1], rand(1, 1, 1, 0), rand(1, 2, 2, 0)), image([1, 2, 2, 1], rand(1, 1, 1, 0), rand(1, 1, 1, 0), strides=[1, 2, 2, 1])],
        types={"T": ("float", "double")}, grad=False, name="of nothing"),
    Row("Conv2DBackpropFilter", cases=[image(rand(1, 2, 2, 1), [1, 1, 1, 0], rand(1, 2, 2, 0))], types={"T": ("float", "double")}, grad=False, name="of nothing"),
]
