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


def placeholder_of_old_graph(b):
    """Up to version 21, [] meant any shape."""
    x = b.op("Placeholder", shape=[])
    b.run(fetches=[b.op("MatMul", x, b.const(numpy.ones((3, 2)), "float"))], feeds={x[0]: numpy.ones((4, 3))})


def placeholder_of_newer_graph(b):
    x = b.op("Placeholder", shape=[])
    b.run(fetches=[b.op("Identity", x)], feeds={x[0]: numpy.ones((4, 3))}, error=True, says="which has shape")


def constant_handle(b):
    handle = b.op("VarHandleOp", dtype="float", shape=[2], shared_name=b.name("v"))
    b.run(targets=[b.op("AssignVariableOp", handle, b.input(rand(2).typed("float")))])
    b.run(fetches=[b.op("ReadVariableOp", b.op("GuaranteeConst", handle), dtype="float")], error=True)


def snapshot_of_variable(b):
    v = b.op("VariableV2", shape=[2], dtype="float")
    b.run(targets=[b.op("Assign", v, b.input(rand(2)))])
    snapshot = b.op("Snapshot", v)
    b.run(fetches=[snapshot, b.op("AssignAdd", v, b.input(rand(2)), control=[snapshot])])


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
    *[Row("Placeholder", build=build, types=[{"T": "float", "dtype": "float"}], producer=producer, name="version %d" % producer)
      for producer, build in ((8, placeholder_of_old_graph), (21, placeholder_of_old_graph), (22, placeholder_of_newer_graph))],
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
    Row("GuaranteeConst", build=constant_handle, types=[{}], name="handle"),
    Row("Snapshot", [uniform()], shapes=((2, 3), (0,), ())),
    Row("Snapshot", build=snapshot_of_variable, types=[{"T": "float"}], name="variable"),
    Row("DeepCopy", [uniform()], shapes=((2, 3), (0,), ())),
    Row("DebugGradientIdentity", [uniform()], shapes=((2, 3), (0,))),
    Row("EnsureShape", cases=[C(rand(2, 3), shape=[2, 3]), C(rand(2, 3), shape=[-1, 3]), C(rand(), shape=[]),
                              C(rand(0, 2), shape=[-1, -1])],
        errors=[C(rand(2, 3), shape=[2, 2], types={"T": "float"}, says="not compatible with expected shape|must be equal|Incompatible"),
                C(rand(2, 3), shape=[2], types={"T": "float"}, says="not compatible with expected shape|rank|Incompatible")]),
]
