"""Calls of functions: what they do is done, in the branch that is taken, as often as the loop says."""

import tensorflow

from tests.oracle.table import *

raw = tensorflow.raw_ops


def scalar(b, v, t="int32"):
    return b.input(values(v, t))


def if_(op):

    def build(b):
        t = b.types.get("Tcond", "bool")
        then = b.function("then", lambda x, y: (raw.Mul(x=x, y=y), raw.Neg(x=x)), "float", "float")
        els = b.function("else", lambda x, y: (raw.Sub(x=x, y=y), raw.Exp(x=x)), "float", "float")
        x, y = b.input(rand(3), "float"), b.input(rand(3), "float")
        for c in ((True, False) if t == "bool" else ("a", "") if t == "string" else (1, 0)):
            b.run(fetches=[b.op(op, b.input(values(c, t)), [x, y], Tout=["float", "float"], then_branch=then, else_branch=els)])
        many = b.op(op, b.input(rand(2).typed(t) if t not in ("bool", "string") else values([c], t)), [x, y],
                    Tout=["float", "float"], then_branch=then, else_branch=els)
        b.run(fetches=[many])

    return build


def case(op):

    def build(b):
        branches = [b.function("b%d" % i, f, "float") for i, f in enumerate((lambda x: raw.Neg(x=x), lambda x: raw.Exp(x=x),
                                                                             lambda x: raw.Square(x=x)))]
        x = b.input(rand(3), "float")
        for i in (0, 1, 2, 3, -1):
            b.run(fetches=[b.op(op, scalar(b, i), [x], Tout=["float"], branches=branches)])

    return build


def while_(op):

    def build(b):
        cond = b.function("cond", lambda i, n, x: raw.Less(x=i, y=n), "int32", "int32", "float")
        body = b.function("body", lambda i, n, x: (i + 1, n, x * 2.0 + tensorflow.cast(i, tensorflow.float32)), "int32", "int32", "float")
        x = b.input(rand(3), "float")
        for n in (0, 1, 5):
            b.run(fetches=[b.op(op, [scalar(b, 0), scalar(b, n), x], cond=cond, body=body)])

    return build


def for_(b):
    body = b.function("body", lambda i, x, y: (x + tensorflow.cast(i, tensorflow.float32), y * x), "int32", "float", "float")
    x, y = b.input(rand(2), "float"), b.input(rand(2), "float")
    for start, limit, delta in ((0, 4, 1), (5, 0, -2), (3, 3, 1)):
        b.run(fetches=[b.op("For", scalar(b, start), scalar(b, limit), scalar(b, delta), [x, y], body=body)])


def call(op):

    def build(b):
        inner = lambda x, y: x * y
        nested = tensorflow.function(inner, autograph=False)
        f = b.function("f", lambda x, y: (nested(x, y) + x, x - y), "float", "float")
        x, y = b.input(rand(2, 2), "float"), b.input(rand(2, 2), "float")
        b.run(fetches=[b.op(op, [x, y], Tout=["float", "float"], f=f)])

    return build


def gradient(b):
    f = b.function("f", lambda x, y: (tensorflow.exp(x) * y, x + y), "float", "float")
    args = [b.input(rand(2), "float") for _ in range(4)]
    b.run(fetches=[b.op("SymbolicGradient", args, Tout=["float", "float"], f=f)])


def map_defun(b):
    f = b.function("f", lambda x, y, c: (x * y + c, raw.Neg(x=y)), "float", "float", "float", shapes=[[2], [2], []])
    b.run(fetches=[b.op("MapDefun", [b.input(rand(3, 2), "float"), b.input(rand(3, 2), "float")], [b.input(rand(), "float")],
                        output_types=["float", "float"], output_shapes=[[2], [2]], f=f)])


def to_bool(b):
    t = b.types["T"]
    for v in ([True, False] if t == "bool" else ["a", ""] if t == "string" else [1, 0]):
        b.run(fetches=[b.op("ToBool", b.input(values(v, t)))])
    b.run(fetches=[b.op("ToBool", b.input(rand(0, 2)))])
    b.run(fetches=[b.op("ToBool", b.input(rand(2)))])


def to_bool_errors(b):
    b.run(fetches=[b.op("ToBool", b.input(values(1, "half")))], error=True, says="half cannot be converted to a boolean")


def remote_call(b):
    f = b.function("f", lambda x, y: x * y, "float", "float")
    target = b.const(b"/job:localhost/replica:0/task:0/device:CPU:0", "string")
    b.run(fetches=[b.op("RemoteCall", target, [b.input(rand(2), "float"), b.input(rand(2), "float")], Tout=["float"], f=f)])


def switch_n(b):
    x = b.input(rand(2))
    for i in (0, 1, 2, 5, -1):
        s = b.op("_SwitchN", x, scalar(b, i), num_outs=3)
        b.run(fetches=[b.op("Merge", [b.op("Identity", s[k]) for k in range(3)])])


def device_index(b):
    b.run(fetches=[b.op("DeviceIndex", device_names=["GPU", "CPU"]), b.op("DeviceIndex", device_names=["TPU"])])


def fake_param(b):
    """Its value is nobody's business; its shape is not either, where it is not known."""
    b.run(fetches=[b.op("Shape", b.op("FakeParam", dtype="float", shape=[2, 3]), out_type="int32")])


def to_list(b):
    l = b.op("_ArrayToList", [b.input(rand(2), "float"), b.input(rand(3), "float")], out_types=["float", "float"])
    a = b.op("_ListToArray", [l[0], l[1]], T="float", N=2)
    b.run(fetches=[a])


CONDITIONS = {"Tcond": ("bool", "float", "int32", "int64", "string", "uint8", "double")}
ROWS = [
    Row("If", build=if_("If"), types=CONDITIONS),
    Row("StatelessIf", build=if_("StatelessIf"), types=CONDITIONS),
    Row("_If", build=if_("_If"), types={"Tcond": ("bool",)}),
    Row("Case", build=case("Case")),
    Row("StatelessCase", build=case("StatelessCase")),
    Row("While", build=while_("While")),
    Row("StatelessWhile", build=while_("StatelessWhile")),
    Row("_While", build=while_("_While")),
    Row("For", build=for_),
    Row("PartitionedCall", build=call("PartitionedCall")),
    Row("StatefulPartitionedCall", build=call("StatefulPartitionedCall")),
    Row("SymbolicGradient", build=gradient),
    Row("MapDefun", build=map_defun),
    Row("ToBool", build=to_bool, types={"T": ("bool", "float", "double", "int32", "int64", "uint8", "string", "int16", "int8")}),
    Row("ToBool", build=to_bool_errors, name="errors"),
    Row("RemoteCall", build=remote_call),
    Row("_SwitchN", build=switch_n, types={"T": ("float", "int32", "string")}),
    Row("DeviceIndex", build=device_index),
    Row("FakeParam", build=fake_param),
    Row("_ArrayToList", build=to_list),
    Row("_ListToArray", build=to_list, name="lists"),
]
