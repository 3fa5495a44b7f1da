"""Constants, placeholders and ops that hand on their input."""

import numpy

from tests.oracle.table import *


def placeholder(b):
    fed = b.input(rand(2, 3))
    x = b.op("Placeholder", shape=[-1, 3])
    b.run(fetches=[b.op("Identity", x)], feeds={x[0]: numpy.ones((4, 3))})
    b.run(fetches=[b.op("Identity", x)], feeds={}, error=True, says="You must feed a value for placeholder tensor")
    b.run(fetches=[b.op("Identity", fed)])


def placeholder_scalar(b):
    x = b.op("Placeholder")
    b.run(fetches=[b.op("Identity", x)], feeds={}, error=True, says="You must feed a value for placeholder tensor")


def with_default(b):
    x = b.op("PlaceholderWithDefault", b.input([[1, 2, 3]]), shape=[-1, 3])
    y = b.op("Identity", x)
    b.run(fetches=[y])
    b.run(fetches=[y], feeds={x[0]: numpy.zeros((2, 3))})


ROWS = [
    Row("Const", cases=[C(value=numpy.array([[1, 2], [3, 4]], "float32"), dtype="float"),
                        C(value=numpy.array(7, "int64"), dtype="int64"), C(value=numpy.zeros((0, 3), "float64"), dtype="double"),
                        C(value=numpy.array([True, False]), dtype="bool"), C(value=numpy.array([b"a", b""], object), dtype="string")]),
    Row("HostConst", cases=[C(value=numpy.array([1, 2, 3], "int32"), dtype="int32"), C(value=numpy.array(2.5, "float32"), dtype="float")]),
    Row("Placeholder", build=placeholder, types={"T": ("float",), "dtype": ("float",)}),
    Row("Placeholder", build=placeholder_scalar, types={"T": ("float",), "dtype": ("float",)}, name="any_shape"),
    Row("PlaceholderWithDefault", build=with_default, types={"T": ("float",), "dtype": ("float",)}),
    Row("PlaceholderWithDefault", cases=[C(rand(2, 3), shape=[2, 3]), C(rand(2, 3), shape=[-1, 3]), C(rand(2, 3), shape=None)],
        errors=[C(rand(2, 3), shape=[3, 3], types={"dtype": "float"}, variants=["known"], says="must be|Incompatible|not compatible")],
        name="shapes"),
    Row("Identity", [uniform()], shapes=ELEMENTWISE),
    Row("IdentityN", cases=[C([rand(2).typed("float"), ints(0, 9).of(3).typed("int32"), strings("a", "b").of(2)]),
                            C([rand(2, 3).typed("double")]), C([rand(0).typed("half"), rand().typed("complex64")])]),
    Row("StopGradient", [uniform()], shapes=ELEMENTWISE),
    Row("PreventGradient", cases=[C(rand(2, 3)), C(rand(0), message="no")], grad=False),
    Row("GuaranteeConst", cases=[C([1.5, 2.5], types={"T": "float"}), C([[1], [2]], types={"T": "int32"})]),
    Row("DeepCopy", [uniform()], shapes=((2, 3), (0,), ())),
    Row("DebugGradientIdentity", [uniform()], shapes=((2, 3), (0,))),
    Row("EnsureShape", cases=[C(rand(2, 3), shape=[2, 3]), C(rand(2, 3), shape=[-1, 3]), C(rand(), shape=[]),
                              C(rand(0, 2), shape=[-1, -1])],
        errors=[C(rand(2, 3), shape=[2, 2], types={"T": "float"}, says="not compatible with expected shape|must be equal|Incompatible"),
                C(rand(2, 3), shape=[2], types={"T": "float"}, says="not compatible with expected shape|rank|Incompatible")]),
]
