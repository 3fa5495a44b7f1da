"""Calls of functions: their effects happen only in the branch that is taken, once per iteration."""

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


SHAPES = ((3,), (), (0, 2), (30, 40))


def typed_if(op):
    """Branches of one's own shape, over values of every type."""

    def build(b):
        t = b.types["T"]
        then = b.function("then", lambda x, y: (raw.Identity(input=x), y), t, t)
        els = b.function("else", lambda x, y: (y, raw.ExpandDims(input=x, axis=0)), t, t)
        for shape in SHAPES:
            x, y = b.input(rand(*shape), t), b.input(rand(*shape), t)
            for c in (True, False):
                b.run(fetches=[b.op(op, b.input(values(c, "bool")), [x, y], Tout=[t, t], then_branch=then, else_branch=els)])

    return build


def typed_case(op):

    def build(b):
        t = b.types["T"]
        branches = [b.function("b%d" % i, f, t) for i, f in enumerate((
            lambda x: raw.Identity(input=x), lambda x: raw.ExpandDims(input=x, axis=0), lambda x: raw.Pack(values=[x, x], axis=0)))]
        for shape in SHAPES:
            x = b.input(rand(*shape), t)
            for i in (0, 1, 2, 9):
                b.run(fetches=[b.op(op, scalar(b, i), [x], Tout=[t], branches=branches)])

    return build


def typed_while(op):
    """The values change places, or grow."""

    def build(b):
        t = b.types["T"]
        types = ["int32", "int32", t, t]
        cond = b.function("cond", lambda i, n, x, y: raw.Less(x=i, y=n), *types)
        swap = b.function("swap", lambda i, n, x, y: (i + 1, n, y, x), *types)
        grow = b.function("grow", lambda i, n, x, y: (i + 1, n, raw.Pack(values=[x, x], axis=0), y), *types)
        for shape in SHAPES:
            args = lambda n: [scalar(b, 0), scalar(b, n), b.input(rand(*shape), t), b.input(rand(*shape), t)]
            for n in (0, 1, 3):
                b.run(fetches=[b.op(op, args(n), cond=cond, body=swap)])
            unknown = [None] * 4
            more = dict(output_shapes=unknown) if op != "_While" else {}
            b.run(fetches=[b.op(op, args(2), cond=cond, body=grow, **more)])

    return build


def typed_for(b):
    t = b.types["T"]
    body = b.function("body", lambda i, x, y: (y, x), "int32", t, t)
    for shape in SHAPES:
        x, y = b.input(rand(*shape), t), b.input(rand(*shape), t)
        for limits in ((0, 3, 1), (0, 3, 2), (3, 0, -1), (0, 0, 1), (1, 1, 0)):
            b.run(fetches=[b.op("For", *[scalar(b, n) for n in limits], [x, y], body=body)])


def typed_call(op):

    def build(b):
        t = b.types["T"]
        f = b.function("f", lambda x, y: (raw.Pack(values=[x, y], axis=0), y, raw.Identity(input=x)), t, t)
        target = [b.const(b"/job:localhost/replica:0/task:0/device:CPU:0", "string")] if op == "RemoteCall" else []
        for shape in SHAPES:
            b.run(fetches=[b.op(op, *target, [b.input(rand(*shape), t), b.input(rand(*shape), t)], Tout=[t] * 3, f=f)])

    return build


def typed_map(b):
    t = b.types["T"]
    f = b.function("f", lambda x, c: (raw.Pack(values=[x, c], axis=0), x), t, t, shapes=[[2], [2]])
    for n in (3, 1, 60):
        b.run(fetches=[b.op("MapDefun", [b.input(rand(n, 2), t)], [b.input(rand(2), t)], output_types=[t, t],
                            output_shapes=[[2, 2], [2]], f=f)])


def nothing(op):
    """No arguments, and no results."""

    def build(b):
        constant = b.function("constant", lambda: tensorflow.constant([1.0, 2.0]))
        b.run(fetches=[b.op(op, [], Tout=["float"], f=constant)])
        sink = b.function("sink", lambda x: [], "float")
        b.run(targets=[b.op(op, [b.input(rand(2), "float")], Tout=[], f=sink)])

    return build


def in_body(op):
    """An error inside a function is an error of the call."""

    def build(b):
        f = b.function("f", lambda x, shape: raw.Reshape(tensor=x, shape=shape), "float", "int32")
        call = b.op(op, [b.hidden(rand(2).typed("float")), b.hidden(values([3], "int32"))], Tout=["float"], f=f)
        b.run(fetches=[call], error=True, says="Reshape")

    return build


def wrong_signature(op):
    """Wrong argument types, too many arguments, other results, and unknown functions: rejected when
    the graph is built, or as not found."""

    def build(b):
        f = b.function("f", lambda x: x, "float")
        x, i = b.input(rand(2), "float"), b.input(ints(0, 3).of(2), "int32")
        args, more = {"types": ([i], {}), "many": ([x, x], {}), "results": ([x], {"Tout": ["int32"]}),
                      "function": ([x], {"f": "no_such_function"})}[b.types["wrong"]]
        b.run(fetches=[b.op(op, args, **{"Tout": ["float"], "f": f, **more})], error=True, says=op,
              code={"results": "INVALID_ARGUMENT", "function": "NOT_FOUND"}.get(b.types["wrong"]))

    return build


def case_errors(op):

    def build(b):
        f = b.function("f", lambda x, shape: raw.Reshape(tensor=x, shape=shape), "float", "int32")
        g = b.function("g", lambda x, shape: raw.Identity(input=x), "float", "int32")
        x, shape = b.hidden(rand(2).typed("float")), b.hidden(values([3], "int32"))
        call = lambda i, branches: b.op(op, i, [x, shape], Tout=["float"], branches=branches)
        b.run(fetches=[call(scalar(b, 1), [f, g])])
        b.run(fetches=[call(scalar(b, 0), [f, g])], error=True, says="Reshape")
        b.run(fetches=[call(b.hidden(values([0, 1], "int32")), [f, g])], error=True, says="scalar")

    return build


def while_errors(op):

    def build(b):
        types = ["int32", "float", "int32"]
        cond = b.function("cond", lambda i, x, shape: raw.Less(x=i, y=3), *types)
        body = b.function("body", lambda i, x, shape: (i + 1, raw.Reshape(tensor=x, shape=shape), shape), *types)
        bad = b.function("bad", lambda i, x, shape: raw.Less(x=raw.Reshape(tensor=i, shape=shape), y=3), *types)
        args = lambda n: [scalar(b, 0), b.hidden(rand(2).typed("float")), b.hidden(values([n], "int32"))]
        b.run(fetches=[b.op(op, args(2), cond=cond, body=body)])
        b.run(fetches=[b.op(op, args(3), cond=cond, body=body)], error=True, says="Reshape")
        b.run(fetches=[b.op(op, args(5), cond=bad, body=body)], error=True, says="Reshape")

    return build


def for_errors(b):
    body = b.function("body", lambda i, x, shape: (raw.Reshape(tensor=x, shape=shape), shape), "int32", "float", "int32")
    args = lambda n: [b.hidden(rand(2).typed("float")), b.hidden(values([n], "int32"))]
    call = lambda limits, n: b.op("For", *limits, args(n), body=body)
    b.run(fetches=[call([scalar(b, n) for n in (0, 2, 1)], 2)])
    b.run(fetches=[call([scalar(b, n) for n in (0, 2, 1)], 3)], error=True, says="Reshape")
    for limits in ((0, 2, 0), (0, 2, -1), (2, 0, 1)):
        b.run(fetches=[call([scalar(b, n) for n in limits], 2)], error=True, 
              says=r"Invalid start/limit/delta: \] \[%d\] \[%d\] \[%d\]" % limits)
    b.run(fetches=[call([scalar(b, 0), b.hidden(values([2], "int32")), scalar(b, 1)], 2)], error=True, says="scalar")


def conditions_of_while(op):
    """A condition of any type is converted to a bool."""

    def build(b):
        t = b.types["Tcond"]
        # Counts down from 3: true until the value is zero, empty or false.
        value = {"bool": lambda n: raw.Greater(x=n, y=0), "string": lambda n: raw.Substr(input="abc", pos=0, len=n)}.get(
            t, lambda n: tensorflow.cast(n, tensorflow.as_dtype(t)))
        cond = b.function("cond", lambda n, x: value(n), "int32", "float")
        vector = b.function("vector", lambda n, x: raw.Fill(dims=raw.ExpandDims(input=n, axis=0), value=0.0), "int32", "float")
        body = b.function("body", lambda n, x: (n - 1, x * 2.0), "int32", "float")
        for c in (cond, vector):
            b.run(fetches=[b.op(op, [scalar(b, 3), b.input(rand(2), "float")], cond=c, body=body)])

    return build


def gradients_of(which):
    """SymbolicGradient of functions of several outputs, of one that nothing depends on, of many and no elements."""

    def build(b):
        t = b.types["T"]
        if which == "one of two":
            f = b.function("f", lambda x, y: (x * x,), t, t)
            args, outs = [rand(2, 3)] * 3, [t, t]
        elif which == "sums":
            f = b.function("f", lambda x, y: (raw.MatMul(a=x, b=y), tensorflow.reduce_sum(x)), t, t)
            args, outs = [rand(2, 3), rand(3, 2), rand(2, 2), rand()], [t, t]
        else:
            f = b.function("f", lambda x: tensorflow.tanh(x) * x + tensorflow.sigmoid(x), t)
            args, outs = [rand(0, 2) if which == "empty" else rand(40, 30)] * 2, [t]
        b.run(fetches=[b.op("SymbolicGradient", [b.input(a, t) for a in args], Tout=outs, f=f)])

    return build


def map_errors(b):
    f = b.function("f", lambda x: raw.Neg(x=x), "float", shapes=[[2]])
    call = lambda args, **more: b.op("MapDefun", args, [], output_types=["float"], f=f, **{"output_shapes": [[2]], **more})
    b.run(fetches=[call([b.hidden(rand().typed("float"))])], error=True, says="MapDefun")


def switch_n_errors(b):
    x = b.input(rand(2), "float")
    s = b.op("_SwitchN", x, b.hidden(values([0, 1], "int32")), num_outs=2)
    b.run(fetches=[b.op("Merge", [s[0], s[1]])], error=True, says="scalar")


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
    """Its value is unspecified, and so is its shape if it is not known."""
    b.run(fetches=[b.op("Shape", b.op("FakeParam", dtype="float", shape=[2, 3]), out_type="int32")])


def to_list(b):
    l = b.op("_ArrayToList", [b.input(rand(2), "float"), b.input(rand(3), "float")], out_types=["float", "float"])
    a = b.op("_ListToArray", [l[0], l[1]], T="float", N=2)
    b.run(fetches=[a])


EACH = [{"T": t} for t in ALL]
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
CALLS = ("PartitionedCall", "StatefulPartitionedCall")
for op in ("If", "StatelessIf", "_If"):
    ROWS.append(Row(op, build=typed_if(op), types=[{"T": t, "Tcond": "bool"} for t in ALL], name="types"))
for op in ("Case", "StatelessCase"):
    ROWS += [Row(op, build=typed_case(op), types=EACH, name="types"), Row(op, build=case_errors(op), name="errors")]
for op in ("While", "StatelessWhile", "_While"):
    ROWS += [Row(op, build=typed_while(op), types=EACH, name="types"), Row(op, build=while_errors(op), name="errors")]
    ROWS.append(Row(op, build=conditions_of_while(op), types=[{"Tcond": t} for t in CONDITIONS["Tcond"]], name="conditions"))
for op in CALLS:
    ROWS += [Row(op, build=nothing(op), name="nothing"), Row(op, build=in_body(op), name="errors")]
    ROWS += [Row(op, build=wrong_signature(op), types=[{"wrong": w}], name="wrong " + w) for w in ("types", "many", "results", "function")]
ROWS += [Row(op, build=typed_call(op), types=EACH, name="types") for op in CALLS + ("RemoteCall",)]
ROWS += [Row("SymbolicGradient", build=gradients_of(which), types=[{"T": t} for t in ("float", "double")], name=which)
         for which in ("one of two", "sums", "large", "empty")]
ROWS += [
    Row("For", build=typed_for, types=EACH, name="types"),
    Row("For", build=for_errors, name="errors"),
    Row("MapDefun", build=typed_map, types=EACH, name="types"),
    Row("MapDefun", build=map_errors, name="errors"),
    Row("_SwitchN", build=switch_n_errors, types={"T": ("float",)}, name="errors"),
    Row("DeviceIndex", build=lambda b: b.run(fetches=[b.op("DeviceIndex", device_names=[])]), name="no names"),
]
