"""Convolutions and pools over volumes."""

from tests.oracle.table import *

F = {"T": "float"}
ONE = [1, 1, 1, 1, 1]
TWO = [1, 2, 2, 2, 1]
MIXED = [1, 2, 1, 3, 1]
# TensorFlow rounds sums of half and bfloat16 at every addition.
T = {"float": 1e-4, "double": 1e-11, "half": 3e-2, "bfloat16": 0.25}

# (input, filter, output) of each setting.
SETTINGS = [
    ((1, 3, 4, 5, 2), (2, 2, 3, 2, 3), (1, 2, 3, 3, 3), dict(strides=ONE, padding="VALID")),
    ((2, 3, 4, 5, 2), (2, 3, 1, 2, 2), (2, 3, 4, 5, 2), dict(strides=ONE, padding="SAME")),
    ((1, 4, 5, 6, 1), (3, 2, 3, 1, 2), (1, 2, 3, 3, 2), dict(strides=TWO, padding="SAME")),
    ((1, 5, 4, 7, 3), (2, 1, 3, 3, 1), (1, 2, 4, 2, 1), dict(strides=MIXED, padding="VALID")),
    ((2, 2, 3, 3, 4), (1, 1, 1, 4, 5), (2, 2, 3, 3, 5), dict(strides=ONE, padding="SAME")),
]
LARGE = ((1, 9, 12, 11, 7), (3, 3, 3, 7, 9), (1, 9, 12, 11, 9), dict(strides=ONE, padding="SAME"))


def convs(*order, sizes=None, large={"T": FLOATS}):
    """Cases with these inputs (0: input, 1: filter, 2: output's gradient). `sizes` is the one that
    is given by its shape."""
    inputs = lambda s: [list(s[i]) if i == sizes else rand(*s[i]) for i in order]
    return [C(*inputs(s), **s[3]) for s in SETTINGS] + [C(*inputs(LARGE), types=large, **LARGE[3])]


POOLS = [dict(ksize=[1, 2, 2, 2, 1], strides=TWO, padding="VALID"), dict(ksize=[1, 3, 2, 2, 1], strides=ONE, padding="SAME"), dict(ksize=[1, 2, 3, 1, 1], strides=MIXED, padding="SAME"),
         dict(ksize=[1, 1, 1, 1, 1], strides=ONE, padding="VALID")]
POOLED = {0: (2, 2, 2, 2, 2), 1: (2, 4, 4, 5, 2), 2: (2, 2, 4, 2, 2), 3: (2, 4, 4, 5, 2)}
VOLUME = (2, 4, 4, 5, 2)
BAD_POOLS = [C(rand(4, 4, 5, 2), **POOLS[0], types=F, says="5|rank"), C(rand(*VOLUME), ksize=[2, 1, 1, 1, 1], strides=ONE, padding="VALID", types=F, says="batch dimension"),
             C(rand(*VOLUME), ksize=[1, 1, 1, 1, 2], strides=ONE, padding="VALID", types=F, says="depth dimension"), C(rand(*VOLUME), ksize=[1, 5, 1, 1, 1], strides=ONE, padding="VALID", types=F, variants=("known",), says="[Nn]egative")]

ROWS = [
    Row("Conv3D", cases=convs(0, 1) + [C(rand(0, 3, 4, 5, 2), rand(2, 2, 3, 2, 3), strides=ONE, padding="VALID")], tol=T, grad_tol=T,
        errors=[C(rand(3, 4, 5, 2), rand(2, 2, 3, 2, 3), strides=ONE, padding="VALID", types=F, says="5|rank"), C(rand(1, 3, 4, 5, 2), rand(2, 2, 3, 3, 3), strides=ONE, padding="VALID", types=F, says="channels|must be|multiple"),
                C(rand(1, 3, 4, 5, 2), rand(2, 2, 3, 2, 3), strides=[1, 1, 1, 1, 2], padding="VALID", types=F, says="depth dimension"), C(rand(1, 3, 4, 5, 2), rand(4, 2, 3, 2, 3), strides=ONE, padding="VALID", types=F, variants=("known",), says="[Nn]egative"),
                C(rand(1, 3, 4, 5, 2), rand(2, 2, 3, 2, 3), strides=[1, 0, 1, 1, 1], padding="VALID", types=F, says="larger than 0|> 0")]),
    Row("Conv3DBackpropInputV2", cases=convs(0, 1, 2, sizes=0, large={"T": FLOATS, "Tshape": "int32"}), tol=T, grad_tol=T,
        errors=[C(values([1, 3, 4, 5]), rand(2, 2, 3, 2, 3), rand(1, 2, 3, 3, 3), strides=ONE, padding="VALID", types=F, says="5|rank"), C(values([1, 3, 4, 5, 2]), rand(2, 2, 3, 2, 3), rand(1, 2, 3, 2, 3), strides=ONE, padding="VALID", types=F, says="out_backprop")]),
    Row("Conv3DBackpropFilterV2", cases=convs(0, 1, 2, sizes=1), tol=T, grad_tol=T,
        errors=[C(rand(1, 3, 4, 5, 2), values([2, 2, 3, 2]), rand(1, 2, 3, 3, 3), strides=ONE, padding="VALID", types=F, says="5|rank"), C(rand(1, 3, 4, 5, 2), values([2, 2, 3, 2, 3]), rand(1, 2, 2, 3, 3), strides=ONE, padding="VALID", types=F, says="out_backprop")]),
    Row("Conv3DBackpropInput", cases=convs(0, 1, 2), tol=T, producer=9),
    Row("Conv3DBackpropFilter", cases=convs(0, 1, 2), tol=T, producer=9),
    Row("Conv", cases=convs(0, 1) + [C(rand(2, 5, 6, 3), rand(3, 2, 3, 4), strides=[1, 1, 2, 1], padding="SAME"), C(rand(2, 5, 6, 3), rand(3, 2, 3, 4), strides=[1, 1, 1, 1], padding="SAME", dilations=[1, 2, 2, 1]),
                                     C(rand(2, 5, 6, 3), rand(3, 2, 3, 4), strides=[1, 1, 1, 1], padding="EXPLICIT", explicit_paddings=[0, 0, 1, 2, 0, 1, 0, 0]),
                                     C(rand(3, 2, 5, 6, 3), rand(3, 2, 3, 4), strides=[1, 1, 1, 1], padding="VALID", batch_dims=2), C(rand(5, 6, 3), rand(3, 2, 3, 4), strides=[1, 1, 1, 1], padding="VALID", batch_dims=0)], tol=T,
        errors=[C(rand(2, 5, 6, 4), rand(3, 2, 2, 4), strides=[1, 1, 1, 1], padding="SAME", groups=2, types=F, says="[Gg]roup"), C(rand(2, 5, 4), rand(3, 4, 4), strides=[1, 1, 1], padding="SAME", types=F, says="2 or 3 spatial|rank 4 or 5"),
                C(rand(2, 5, 6, 4), rand(3, 2, 4, 4), strides=[1, 1], padding="SAME", types=F, says="4")]),
    Row("AvgPool3D", cases=[C(rand(*VOLUME), **a) for a in POOLS] + [C(rand(0, 4, 4, 5, 2), **POOLS[0])], tol=T, errors=BAD_POOLS),
    Row("AvgPool3DGrad", cases=[C(list(VOLUME), rand(*POOLED[i]), **a) for i, a in enumerate(POOLS)], tol=T, errors=[C(values([2, 4, 4, 5]), rand(2, 2, 2, 2, 2), **POOLS[0], types=F, says="5|rank")]),
    Row("MaxPool3D", cases=[C(distinct(0.1).of(*VOLUME), **a) for a in POOLS] + [C(rand(0, 4, 4, 5, 2), **POOLS[0])], tol={"float": 1e-6, "bfloat16": 0}, errors=BAD_POOLS),
    Row("MaxPool3DGrad", cases=[C(ints(0, 4).of(*VOLUME).no_gradient(), ints(2, 4).of(*POOLED[i]).no_gradient(), rand(*POOLED[i]), **a) for i, a in enumerate(POOLS)], types=[{"T": t, "TInput": t} for t in ("float", "bfloat16")], tol={"float": 1e-6, "bfloat16": 3e-2}, grad="tf",
        errors=[C(rand(*VOLUME), rand(2, 2, 2, 2, 2), rand(2, 2, 2, 2, 1), **POOLS[0], types={"T": "float", "TInput": "float"}, says="[Ee]xpected")]),
    Row("MaxPool3DGradGrad", cases=[C(ints(0, 4).of(*VOLUME).no_gradient(), ints(2, 4).of(*POOLED[i]).no_gradient(), rand(*VOLUME), **a) for i, a in enumerate(POOLS)], tol={"float": 1e-6, "bfloat16": 0}, grad="tf",
        errors=[C(rand(*VOLUME), rand(2, 2, 2, 2, 2), rand(2, 4, 4, 5, 1), **POOLS[0], types=F, says="[Ee]xpected|must be")]),
]
