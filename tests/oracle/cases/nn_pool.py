"""Pools."""

from tests.oracle.table import *

F = {"T": "float"}
X = distinct()
D = uniform(-2, 2)
HALF_TOL = {"half": 5e-3, "bfloat16": 4e-2}
HALF_GRAD = {"half": 2e-2, "bfloat16": 0.15}


def pool(*inputs, **attrs):
    return C(*inputs, **({"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "SAME"} | attrs))


CASES = [
    pool(X.of(2, 4, 4, 3)), pool(X.of(2, 5, 3, 2)), pool(X.of(2, 5, 3, 2), padding="VALID"), pool(X.of(1, 5, 6, 2), ksize=[1, 3, 2, 1], strides=[1, 1, 2, 1]),
    pool(X.of(1, 5, 6, 2), ksize=[1, 3, 3, 1], strides=[1, 2, 1, 1], padding="VALID"), pool(X.of(1, 5, 5, 1), ksize=[1, 2, 2, 1], strides=[1, 3, 3, 1]),
    pool(X.of(1, 3, 3, 2), ksize=[1, 5, 5, 1], strides=[1, 1, 1, 1]), pool(X.of(0, 4, 4, 2)), pool(X.of(1, 4, 4, 2), ksize=[1, 1, 1, 1], strides=[1, 1, 1, 1])]
WRONG = [
    pool(rand(4, 4, 3), types=F, says="4-dim|rank"), pool(rand(2, 4, 4, 3), ksize=[2, 1, 1, 1], types=F, says="batch dimension"),
    pool(rand(2, 4, 4, 3), strides=[1, 0, 2, 1], types=F, says="Stride must be > 0"), pool(rand(2, 4, 4, 3), ksize=[1, 2, 2, 1, 1], types=F, says="ksize"),
    pool(rand(1, 5, 5, 1), ksize=[1, 7, 7, 1], strides=[1, 1, 1, 1], padding="VALID", types=F, says="negative|Negative")]

ROWS = [
    Row("MaxPool", cases=CASES + [
        pool(X.of(2, 3, 3, 4), ksize=[1, 1, 1, 2], strides=[1, 1, 1, 2], grad=False), pool(X.of(1, 3, 3, 6), ksize=[1, 1, 1, 3], strides=[1, 1, 1, 3], padding="VALID", grad=False),
        pool(X.of(2, 5, 5, 3), strides=[1, 1, 1, 1], padding="EXPLICIT", explicit_paddings=[0, 0, 1, 0, 0, 1, 0, 0])],
        errors=WRONG + [
            pool(rand(2, 4, 4, 4), ksize=[1, 2, 2, 2], strides=[1, 2, 2, 2], types=F, says="exactly one of"),
            pool(rand(2, 4, 4, 4), ksize=[1, 1, 1, 3], strides=[1, 1, 1, 3], types=F, says="evenly divide"),
            pool(rand(2, 4, 4, 4), ksize=[1, 1, 1, 2], strides=[1, 1, 1, 1], types=F, says="equal the depth stride"),
            pool(rand(2, 5, 5, 3), padding="EXPLICIT", explicit_paddings=[0, 0, 2, 0, 0, 1, 0, 0], types=F, says="Top padding 2 needs to be smaller than the window size 2")],
        grad_tol=HALF_GRAD),
    Row("MaxPool", cases=[pool(D.of(6, 30, 31, 17)), pool(D.of(6, 30, 31, 17), ksize=[1, 3, 3, 1])], types={"T": FLOATS}, grad="tf", name="big"),
    Row("MaxPoolV2", cases=[
        C(X.of(2, 5, 3, 2), [1, 2, 2, 1], [1, 2, 2, 1], padding="SAME"), C(X.of(2, 5, 3, 2), [1, 3, 2, 1], [1, 1, 2, 1], padding="VALID")],
        errors=[C(rand(2, 4, 4, 3), [1, 2, 2], [1, 2, 2, 1], padding="SAME", types=F, says="4 dimensions|must be 4|must be equal")], grad_tol=HALF_GRAD),
    Row("MaxPoolGrad", cases=[
        pool(X.of(2, 4, 4, 3), D.of(2, 2, 2, 3), D.of(2, 2, 2, 3)), pool(X.of(1, 5, 3, 2), D.of(1, 5, 3, 2), D.of(1, 5, 3, 2), strides=[1, 1, 1, 1]),
        pool(X.of(1, 6, 6, 1), D.of(1, 2, 2, 1), D.of(1, 2, 2, 1), strides=[1, 3, 3, 1], padding="VALID")],
        grad=False,
        errors=[pool(rand(2, 4, 4, 3), rand(2, 4, 4, 3), rand(2, 2, 2, 3), types=F, says="Expected orig_output shape to be \\[2,2,2,3\\], but got \\[2,4,4,3\\]"),
                pool(rand(2, 4, 4, 3), rand(2, 2, 2, 3), rand(2, 2, 4, 3), types=F, says="Expected grad shape to be \\[2,2,2,3\\], but got \\[2,2,4,3\\]")]),
    Row("MaxPoolGradV2", cases=[C(X.of(2, 4, 4, 3), D.of(2, 2, 2, 3), D.of(2, 2, 2, 3), [1, 2, 2, 1], [1, 2, 2, 1], padding="SAME")], grad=False),
    Row("AvgPool", cases=CASES, errors=WRONG + [pool(rand(2, 4, 4, 4), ksize=[1, 1, 1, 2], strides=[1, 1, 1, 2], types=F, says="Non-spatial")], tol=HALF_TOL, grad_tol=HALF_GRAD),
    Row("AvgPoolGrad", cases=[
        pool([2, 4, 4, 3], D.of(2, 2, 2, 3)), pool([1, 5, 3, 2], D.of(1, 5, 3, 2), strides=[1, 1, 1, 1]), pool([1, 7, 5, 1], D.of(1, 3, 2, 1), padding="VALID"),
        pool([0, 4, 4, 3], D.of(0, 2, 2, 3))],
        errors=[pool([2, 4, 3], rand(2, 2, 2, 3), types=F, says="4 elements|rank"), pool([2, 5, 5, 3], rand(2, 5, 5, 3), padding="VALID", types=F, says="Expected grad shape")],
        tol=HALF_TOL, grad_tol=HALF_GRAD),
]


def second_gradient(v2):
    """orig_output has to be the pool of orig_input."""

    def build(b):
        x, sizes = b.input(X.of(2, 5, 4, 3)), {"ksize": [1, 3, 2, 1], "strides": [1, 2, 1, 1]}
        y = b.op("MaxPool", x, padding="SAME", **sizes)
        grad = b.input(D.of(2, 5, 4, 3))
        if v2:
            second = b.op("MaxPoolGradGradV2", x, y, grad, sizes["ksize"], sizes["strides"], padding="SAME")
        else:
            second = b.op("MaxPoolGradGrad", x, y, grad, padding="SAME", **sizes)
        b.run(fetches=[second])
        if not v2 and b.types["T"] in ALL_FLOATS:
            b.gradients([second], [grad])


    return build


POOLED = tuple(t for t in REALS if t not in ("uint32", "uint64"))
ROWS += [
    Row("MaxPoolGradGrad", build=second_gradient(False), types={"T": POOLED}, grad_tol=HALF_GRAD),
    Row("MaxPoolGradGradV2", build=second_gradient(True), types={"T": POOLED}),
    # Integer gradients wrap around.
    Row("MaxPoolGrad", cases=[C(values([[[[1], [9], [2]]]]), values([[[[9], [9]]]]), values([[[[2147483647], [1]]]]), ksize=[1, 1, 2, 1], strides=[1, 1, 1, 1], padding="VALID")],
        types={"T": "int32"}, name="wraps"),
    Row("AvgPool", cases=[C(rand(1, 2, 2, 1), ksize=[1, 2147483647, 2147483647, 1], strides=[1, 1, 1, 1], padding="SAME")], types={"T": "float"}, grad=False, name="far windows"),
]
