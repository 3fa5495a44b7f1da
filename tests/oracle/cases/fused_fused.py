"""Ops that do several at once."""

from tests.oracle.table import *

F = {"T": "float"}
ACTIVATIONS = ("", "Relu", "Relu6", "Elu", "LeakyRelu", "Tanh", "Sigmoid")
T = {"float": 2e-5, "double": 1e-11, "half": 2e-2, "bfloat16": 0.2}
POSITIVE = uniform(0.2, 2)
ONES = [1, 1, 1, 1]


def names(first, *rest):
    return [first] + [r for r in rest if r]


def fused_conv(t):
    def conv(first, args, **attrs):
        return C(rand(2, 5, 6, 3).typed(t), rand(3, 2, 3, 4).typed(t), [a.typed(t) for a in args], [], fused_ops=first, num_args=len(args), num_host_args=0, **{"strides": ONES, "padding": "SAME", **attrs})

    norm = [rand(4), rand(4), rand(4), POSITIVE.of(4)]
    return ([conv(names("BiasAdd", a), [rand(4)]) for a in ACTIVATIONS[:5]] + [conv(names("FusedBatchNorm", a), norm, epsilon=0.01) for a in ("", "Relu", "Relu6", "Elu", "LeakyRelu")]
            + [conv(["BiasAdd"], [rand(4)], strides=[1, 2, 2, 1], padding="VALID"), conv(["BiasAdd", "LeakyRelu"], [rand(4)], leakyrelu_alpha=0.05, dilations=[1, 2, 1, 1])])


EIGHT_BITS = ints(-128, 128)
SCALE, SIDE_SCALE = values(numpy.float32(0.002)).typed("float"), values(numpy.float32(0.5)).typed("float")
MIRRORS = [[0, 0], [1, 2], [2, 1], [0, 0]]
BAD_FUSION = [C(rand(3, 4), rand(4, 5), [], fused_ops=[], types=F, says="at least one"), C(rand(3, 4), rand(4, 5), [rand(5)], fused_ops=["BiasAdd", "Foo"], types=F, says="not implemented"),
              C(rand(3, 4), rand(3, 5), [rand(5)], fused_ops=["BiasAdd"], types=F, says="incompatible|must be")]

ROWS = [
    Row("_FusedMatMul", cases=[C(rand(3, 4), rand(4, 5), [rand(5)], fused_ops=names("BiasAdd", a)) for a in ACTIVATIONS]
        + [C(rand(4, 3), rand(5, 4), [rand(5)], fused_ops=["BiasAdd"], transpose_a=True, transpose_b=True), C(rand(100, 30), rand(30, 70), [rand(70)], fused_ops=["BiasAdd", "Relu"])], tol=T, errors=BAD_FUSION),
    *[Row("_FusedConv2D", cases=fused_conv(t), types={"T": t}, tol=T, name=t) for t in ("float", "double")],
    Row("_FusedConv2D", cases=[C(EIGHT_BITS.of(2, 5, 6, 3), EIGHT_BITS.of(3, 2, 3, 4), [uniform(-20, 20).of(4).typed("float"), EIGHT_BITS.of(2, 5, 6, 4).typed("int8")], [SCALE, SIDE_SCALE], fused_ops=f, num_args=2, num_host_args=2, strides=ONES, padding="SAME")
                               for f in (["BiasAdd"], ["BiasAdd", "Relu"])], types={"T": "int8"}, tol=0, name="int8"),
    # TensorFlow pads all images except the first incorrectly.
    Row("FusedPadConv2D", cases=[C(rand(1, 5, 6, 3), MIRRORS, rand(3, 2, 3, 4), mode=m, strides=s, padding=p, variants=("known",)) for m in ("REFLECT", "SYMMETRIC") for s, p in ((ONES, "VALID"), ([1, 2, 2, 1], "SAME"))], tol=T,
        errors=[C(rand(2, 5, 6, 3), values([[0, 0], [5, 2], [2, 1], [0, 0]]), rand(3, 2, 3, 4), mode="REFLECT", strides=ONES, padding="VALID", variants=("known",), types=F, says="greater than|less than"),
                C(rand(2, 5, 6, 3), values(MIRRORS), rand(3, 2, 2, 4), mode="REFLECT", strides=ONES, padding="VALID", variants=("known",), types=F, says="depth|must be")]),
    Row("FusedResizeAndPadConv2D", cases=[C(rand(1, 4, 3, 3), [5, 6], MIRRORS, rand(3, 2, 3, 4), mode=m, strides=ONES, padding="VALID", resize_align_corners=a, variants=("known",)) for m in ("REFLECT", "SYMMETRIC") for a in (False, True)], tol=T,
        errors=[C(rand(2, 4, 3, 3), values([0, 6]), values(MIRRORS), rand(3, 2, 3, 4), mode="REFLECT", strides=ONES, padding="VALID", variants=("known",), types=F, says="positive")]),
    Row("_UnaryOpsComposition", [uniform(0.1, 0.9)], shapes=((), (5,), (2, 3), (0,), (3000,)), attrs=[{"op_names": ["Sqrt", "Exp", "Relu"]}, {"op_names": ["Neg", "Abs", "Log"]}, {"op_names": ["Sigmoid", "Tanh", "Square", "Rsqrt"]}], tol={"float": 1e-5, "double": 1e-11, "half": 1e-2}),
    Row("_UnaryOpsComposition", cases=[C(uniform(0.1, 0.9).of(7), op_names=[n]) for n in ("Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Elu", "Expm1", "Floor", "Inv", "Log1p", "Reciprocal", "Relu6", "Rint", "Round", "Selu", "Sin", "Sinh", "Tan")
                                       if n != "Acosh"], types={"T": "float"}, name="each",
        errors=[C(rand(2), op_names=[], types=F, says="at least one"), C(rand(2), op_names=["Foo"], types=F, says="Foo")]),
    Row("AccumulateNV2", cases=[C([rand(2, 3)] * n, shape=[2, 3]) for n in (1, 2, 5)] + [C([rand()] * 2, shape=[]), C([rand(0, 2)] * 2, shape=[0, 2])], types={"T": NUMBERS}, tol={"half": 5e-3, "bfloat16": 4e-2}),
]
