"""Softmax and the losses over classes."""

from tests.oracle.table import *

F = {"T": "float"}
LOGITS = uniform(-4, 4)
BIG = values([[1000.0, 999.0, -1000.0], [-3e4, -3e4, -3e4]])
HALF_TOL = {"half": 5e-3, "bfloat16": 4e-2}


def distribution(*shape):
    """Rows that sum to 1."""

    def make(random, size, dtype):
        p = random.uniform(0.1, 1, size)
        return p / p.sum(axis=-1, keepdims=True) if p.size else p

    return Gen(make, shape=shape)


def rows(op):
    return [
        Row(op, cases=[C(LOGITS.of(2, 3)), C(LOGITS.of(4)), C(LOGITS.of(2, 2, 5)), C(LOGITS.of(0, 3)), C(LOGITS.of(3, 1)), C(LOGITS.of(3, 40))],
            tol=HALF_TOL, grad_tol={"half": 2e-2, "bfloat16": 0.1}, errors=[C(rand(), types=F, says=">= 1 dimension|rank")]),
        Row(op, cases=[C(BIG), C(values([[nan, 1.0], [inf, 1.0], [-inf, 1.0], [-inf, -inf]]))], types={"T": FLOATS}, name="special", grad=False),
        Row(op, cases=[C(LOGITS.of(200, 100)), C(LOGITS.of(3, 5000))], types={"T": FLOATS}, name="big", grad=False),
    ]


ROWS = rows("Softmax") + rows("LogSoftmax") + [
    # The second output has no gradient with respect to the labels, so the numeric check covers only
    # the logits.
    Row("SoftmaxCrossEntropyWithLogits", cases=[
        C(LOGITS.of(2, 3), distribution(2, 3), grad="tf"), C(LOGITS.of(3, 20), distribution(3, 20), grad="tf"), C(LOGITS.of(0, 3), distribution(0, 3)),
        C(LOGITS.of(2, 1), distribution(2, 1), grad="tf"), C(LOGITS.of(2, 3), distribution(2, 3).no_gradient())],
        tol=HALF_TOL, grad_tol={"half": 2e-2, "bfloat16": 0.1},
        errors=[C(rand(4, 2), rand(3, 2), types=F, says="broadcastable|must be equal"), C(rand(4, 2, 1), rand(4, 2, 1), types=F, says="2-dim|rank")]),
    # With broadcasting, TensorFlow's gradient has the broadcast shape instead of the input's.
    Row("SoftmaxCrossEntropyWithLogits", cases=[
        C(LOGITS.of(1, 3), distribution(2, 3)), C(LOGITS.of(2, 3), distribution(1, 3)), C(LOGITS.of(2, 1), distribution(2, 3)), C(LOGITS.of(2, 3), values([[0.3], [0.2]]))],
        types={"T": FLOATS}, grad=False, name="broadcast"),
    Row("SoftmaxCrossEntropyWithLogits", cases=[C(values([[1000.0, 0, -1000], [0, 1, 2]]), values([[1.0, 0, 0], [0, 0, 1]])),
                                                C(LOGITS.of(150, 100), distribution(150, 100))], types={"T": FLOATS}, grad=False, name="special"),
    Row("SparseSoftmaxCrossEntropyWithLogits", cases=[
        C(LOGITS.of(2, 3), ints(0, 3).of(2)), C(LOGITS.of(5, 20), ints(0, 20).of(5)), C(LOGITS.of(0, 3), ints(0, 3).of(0)), C(LOGITS.of(2, 1), [0, 0])],
        tol=HALF_TOL, grad_tol={"half": 2e-2, "bfloat16": 0.1},
        errors=[C(rand(2, 3), values([0, 3]), types=F, says="label value of 3 .*\\[0, 3\\).*0 3"), C(rand(2, 3), values([-1, 0]), types=F, says="label value of -1"),
                C(rand(2, 3), values([0]), types=F, says="first dimension|must be equal"), C(rand(2, 0), values([0, 0]), types=F, says="at least one class"),
                C(rand(2, 2, 1), values([0, 0]), types=F, says="2-D|rank"), C(rand(2, 2), values([[0, 1]]), types=F, says="1-D|rank")]),
    Row("SparseSoftmaxCrossEntropyWithLogits", cases=[C(LOGITS.of(200, 100), ints(0, 100).of(200)), C(BIG, values([0, 2]))], types={"T": FLOATS, "Tlabels": INDEX}, grad=False,
        name="big"),
    Row("L2Loss", cases=[C(rand(3)), C(rand(2, 3)), C(rand()), C(rand(0))]),
    Row("L2Loss", cases=[C(rand(10000))], types={"T": FLOATS}, grad=False, name="big", tol={"float": 1e-5, "double": 1e-11}),
]
