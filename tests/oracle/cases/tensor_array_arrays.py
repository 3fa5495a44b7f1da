"""Stacks and TensorArrays: what is stored comes back, and what misuse says; gradients go through arrays of their own."""

from tests.oracle.table import *

V3 = "V3"
FLOAT = {"T": ("float",)}
STORED = ("bfloat16", "bool", "complex128", "complex64", "double", "float", "half", "int16", "int32", "int64", "int8",
          "string", "uint16", "uint32", "uint64", "uint8")


def stack(v):

    def build(b):
        t = b.types.get("T") or b.types.get("elem_type") or "float"
        s = b.op("Stack" + v, *([2] if v else []), elem_type=t)
        first = b.op("StackPush" + v, s, b.input(rand(2), t), T=t)
        second = b.op("StackPush" + v, s, b.input(rand(3, 1), t), T=t, swap_memory=True, control=[first])
        last = b.op("StackPop" + v, s, elem_type=t, control=[second])
        before = b.op("StackPop" + v, s, elem_type=t, control=[last])
        b.run(fetches=[first, second, last, before])
        empty = b.op("StackPop" + v, s, elem_type=t, control=[before])
        b.run(fetches=[empty], error=True, says="is empty when calling Pop")
        closed = b.op("StackClose" + v, s, control=[second])
        b.run(targets=[closed])
        b.run(fetches=[b.op("StackPop" + v, s, elem_type=t, control=[closed])], error=True, says="has already been closed")
        if v:
            third = b.op("StackPush" + v, s, b.input(rand(), t), T=t, control=[second])
            b.run(fetches=[b.op("StackPop" + v, s, elem_type=t, control=[third])], error=True,
                  says="overflowed its max_size \\(2\\)")

    return build


class Array:
    """An array of version v; every op waits for the flow of the one before."""

    def __init__(self, b, v, size=3, dtype=None, **attrs):
        self.b, self.v = b, v
        self.dtype = dtype or b.types.get("T") or b.types.get("dtype") or "float"
        node = b.op("TensorArray" + v, size, dtype=self.dtype, **attrs)
        self.handle, self.flow = node[0], node[1] if v == V3 else b.input(values(0.0, "float"))

    def write(self, index, value):
        self.flow = self.b.op("TensorArrayWrite" + self.v, self.handle, index, value, self.flow, T=self.dtype)[0]
        return self.flow

    def scatter(self, indices, value):
        self.flow = self.b.op("TensorArrayScatter" + self.v, self.handle, indices, value, self.flow, T=self.dtype)[0]
        return self.flow

    def split(self, value, lengths):
        self.flow = self.b.op("TensorArraySplit" + self.v, self.handle, value, lengths, self.flow, T=self.dtype)[0]
        return self.flow

    def input(self, gen):
        return self.b.input(gen, self.dtype)

    def read(self, index, **attrs):
        return self.b.op("TensorArrayRead" + self.v, self.handle, index, self.flow, dtype=self.dtype, **attrs)

    def gather(self, indices, **attrs):
        return self.b.op("TensorArrayGather" + self.v, self.handle, indices, self.flow, dtype=self.dtype, **attrs)

    def concat(self, **attrs):
        return self.b.op("TensorArrayConcat" + self.v, self.handle, self.flow, dtype=self.dtype, **attrs)

    def size(self):
        return self.b.op("TensorArraySize" + self.v, self.handle, self.flow)

    def close(self, **kw):
        return self.b.op("TensorArrayClose" + self.v, self.handle, **kw)


def elements(v):

    def build(b):
        a = Array(b, v)
        x, y = a.input(rand(2)), a.input(rand(2))
        a.write(0, x)
        a.write(2, y)
        b.run(fetches=[a.read(0), a.read(2), a.size()])
        b.run(fetches=[a.read(1)], error=True, says="the element shape is not fully defined")
        b.run(fetches=[a.read(3)], error=True, says="Tried to read from index 3 but array size is: 3")
        twice = b.op("TensorArrayRead" + v, a.handle, 0, a.flow, dtype=a.dtype, control=[a.read(0)])
        b.run(fetches=[twice], error=True, says="Could not read index 0 twice because it was cleared")
        b.run(fetches=[a.write(0, x)], error=True, says="because it has already been written to")
        far = Array(b, v)
        b.run(fetches=[far.write(3, x)], error=True, says="not resizeable and size is: 3")
        small = Array(b, v, element_shape=[3])
        b.run(fetches=[small.write(0, b.hidden(rand(2).typed(a.dtype)))], error=True, says="incompatible with the TensorArray's inferred")
        zeros = Array(b, v, element_shape=[3])
        if a.dtype != "string":
            b.run(fetches=[zeros.read(1)])

    return build


def growing(v):

    def build(b):
        a = Array(b, v, size=0, dynamic_size=True, clear_after_read=False)
        x, y = a.input(rand(2)), a.input(rand(3))
        a.write(1, x)
        a.write(4, y)
        first = a.read(1)
        b.run(fetches=[b.op("TensorArrayRead" + v, a.handle, 1, a.flow, dtype=a.dtype, control=[first]), a.size()])
        b.run(fetches=[a.write(1, x)], error=True, says="already been (read|written)")

    return build


def parts(v):

    def build(b):
        a = Array(b, v)
        a.scatter([2, 0, 1], a.input(rand(3, 2)))
        b.run(fetches=[a.gather([0, 1, 2])])
        b.run(fetches=[a.gather([2, 0])])
        empty = Array(b, v, size=0)
        b.run(fetches=[empty.gather(b.const(numpy.zeros([0]), "int32"), element_shape=[2])])
        b.run(fetches=[empty.gather(b.const(numpy.zeros([0]), "int32"), element_shape=None)], error=True,
              says="size zero, but element shape")
        bad = Array(b, v)
        b.run(fetches=[bad.scatter([0, 3], bad.input(rand(2, 2)))], error=True, says="Max scatter index must be < array size \\(3 vs. 3\\)")
        bad = Array(b, v)
        b.run(fetches=[bad.scatter([0], b.hidden(rand(2, 2).typed(bad.dtype)))], error=True, says="len\\(indices\\)")
        bad = Array(b, v)
        b.run(fetches=[bad.scatter([0], b.hidden(rand().typed(bad.dtype)))], error=True, says="at least a vector|at least")
        uneven = Array(b, v)
        uneven.write(0, uneven.input(rand(2)))
        uneven.write(1, uneven.input(rand(3)))
        b.run(fetches=[uneven.gather([0, 1])], error=True, says="inconsistent shapes")

    return build


def joined(v):

    def build(b):
        a = Array(b, v)
        a.split(a.input(rand(5, 2)), b.const([2, 0, 3], "int64"))
        b.run(fetches=[a.concat()])
        empty = Array(b, v, size=0)
        b.run(fetches=[empty.concat(element_shape_except0=[2])])
        b.run(fetches=[empty.concat()], error=True, says="size zero, but element_shape_except0")
        bad = Array(b, v)
        b.run(fetches=[bad.split(bad.input(rand(5, 2)), b.const([2, 1], "int64"))], error=True, says="sum of lengths")
        bad = Array(b, v)
        b.run(fetches=[bad.split(bad.input(rand(5, 2)), b.const([2, 3], "int64"))], error=True, says="not equal to the size of lengths")
        scalars = Array(b, v, size=1)
        scalars.write(0, scalars.input(rand()))
        b.run(fetches=[scalars.concat()], error=True, says="scalar shape at index 0")

    return build


def pack(b):
    a = Array(b, "", element_shape=[2])
    flow = b.op("TensorArrayUnpack", a.handle, a.input(rand(3, 2)), a.flow, T=a.dtype)
    b.run(fetches=[b.op("TensorArrayPack", a.handle, flow, dtype=a.dtype)])
    b.run(fetches=[b.op("TensorArrayUnpack", a.handle, a.input(rand(2, 2)), a.flow, T=a.dtype)], error=True,
          says="first dimension equal to the array size")


def closing(v):

    def build(b):
        a = Array(b, v, dtype="float")
        a.write(0, b.input(rand(2), "float"))
        closed = a.close(control=[a.flow])
        b.run(targets=[closed])
        after = b.op("TensorArraySize" + v, a.handle, a.flow, control=[closed])
        b.run(fetches=[after], error=True, says="has already been closed")

    return build


def gradient_array(v):
    """Writes to it add up; elements that were not written are zeros of the forward element's shape."""

    def build(b):
        a = Array(b, v, dtype="float")
        a.write(0, b.input(rand(2), "float"))
        a.write(1, b.input(rand(3), "float"))
        if v == V3:
            grad = b.op("TensorArrayGradV3", a.handle, a.flow, source="gradients")
            again = b.op("TensorArrayGradV3", a.handle, a.flow, source="gradients")
            flow = grad[1]
        else:
            grad = b.op("TensorArrayGrad" + v, a.handle, a.flow, source="gradients")
            again = grad
            flow = a.flow
        g = Array.__new__(Array)
        g.b, g.v, g.dtype, g.handle, g.flow = b, v, "float", grad[0], flow
        g.write(0, b.input(rand(2), "float"))
        g.handle = again[0]
        g.write(0, b.input(rand(2), "float"))
        b.run(fetches=[g.read(0), g.read(1), g.size()])
        b.run(fetches=[g.read(2)], error=True, says="the element shape is not fully defined")
        b.run(fetches=[g.write(0, b.input(rand(3), "float"))], error=True, says="existing shape is \\[2\\]")

    return build


def prepended(b):
    a = Array(b, V3, dtype="float", element_shape=[2], identical_element_shapes=True)
    a.write(0, b.input(rand(2), "float"))
    grad = b.op("TensorArrayGradWithShape", a.handle, a.flow, [4], source="gradients")
    b.run(fetches=[b.op("TensorArrayReadV3", grad[0], 0, grad[1], dtype="float"),
                   b.op("TensorArrayReadV3", grad[0], 1, grad[1], dtype="float")])


def gradients(b):
    """Through write, read, scatter, gather, split and concat; an element that is read twice adds up."""
    x, y, z = (b.input(rand(*s), "float") for s in ((3, 2), (2,), (5,)))
    a = Array(b, V3, dtype="float", size=4, clear_after_read=False)
    a.scatter([0, 2, 1], x)
    a.write(3, y)
    read = b.op("Mul", a.read(2), a.read(3))
    all_ = b.op("Mul", a.gather([3, 1, 0]), a.gather([0, 1, 2]))
    c = Array(b, V3, dtype="float")
    c.split(z, b.const([2, 1, 2], "int64"))
    joined_ = c.concat()[0]
    b.run(fetches=[read, all_, joined_])
    b.gradients([read, all_, b.op("Mul", joined_, joined_)], [x, y, z])


TYPES = {"T": STORED}
READ = {"dtype": STORED}
ELEMENTS = {"elem_type": STORED}
EACH = [{"T": t} for t in STORED]
ROWS = [
    Row("Stack", build=stack(""), types={"elem_type": STORED}),
    Row("StackPush", build=stack(""), types=TYPES),
    Row("StackPop", build=stack(""), types={"elem_type": STORED}),
    Row("StackClose", build=stack(""), types=EACH),
    Row("StackV2", build=stack("V2"), types={"elem_type": STORED}),
    Row("StackPushV2", build=stack("V2"), types=TYPES),
    Row("StackPopV2", build=stack("V2"), types={"elem_type": STORED}),
    Row("StackCloseV2", build=stack("V2"), types=EACH),
    Row("TensorArrayGradWithShape", build=prepended),
    Row("TensorArrayPack", build=pack, types=FLOAT),
    Row("TensorArrayUnpack", build=pack, types=TYPES),
    Row("TensorArrayReadV3", build=gradients, types={"dtype": ("float",)}, name="gradients"),
]
for v in ("", "V2", "V3"):
    ROWS += [
        Row("TensorArray" + v, build=growing(v), types=READ),
        Row("TensorArrayWrite" + v, build=elements(v), types=TYPES),
        Row("TensorArrayRead" + v, build=elements(v), types=READ),
        Row("TensorArrayGather" + v, build=parts(v), types=READ),
        Row("TensorArrayScatter" + v, build=parts(v), types=TYPES),
        Row("TensorArrayConcat" + v, build=joined(v), types=READ),
        Row("TensorArraySplit" + v, build=joined(v), types=TYPES),
        Row("TensorArraySize" + v, build=growing(v), types=EACH, name="size"),
        Row("TensorArrayClose" + v, build=closing(v), types=EACH),
        Row("TensorArrayGrad" + v, build=gradient_array(v), types=[{"T": t} for t in ("float", "double", "complex64")]),
    ]
