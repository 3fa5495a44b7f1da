"""Tensor lists: values, so that what was done to one is not seen in the list that it came from."""

from tests.oracle.table import *

STORED = {"element_dtype": ("bfloat16", "bool", "complex128", "complex64", "double", "float", "half", "int16", "int32", "int64",
                            "int8", "string", "uint16", "uint32", "uint64", "uint8")}
FLOAT = {"element_dtype": ("float",)}


def dtype(b):
    return b.types.get("element_dtype", "float")


def value(b, *shape):
    return b.input(rand(*shape), dtype(b))


def ints(b, numbers):
    return b.const(numpy.array(numbers), "int32")


def stack(b, list_, shape=-1, **attrs):
    return b.op("TensorListStack", list_, ints(b, shape), element_dtype=dtype(b), **attrs)


def empty(b, shape, most=-1):
    return b.op("EmptyTensorList", ints(b, shape), ints(b, most), element_dtype=dtype(b))


def push(b):
    start = empty(b, [-1])
    one = b.op("TensorListPushBack", start, value(b, 2))
    two = b.op("TensorListPushBack", one, value(b, 2))
    other = b.op("TensorListPushBack", one, value(b, 2))
    popped = b.op("TensorListPopBack", two, ints(b, -1), element_dtype=dtype(b))
    again = b.op("TensorListPushBack", popped[0], value(b, 2))
    b.run(fetches=[stack(b, one), stack(b, two), stack(b, other), stack(b, again), popped[1]])
    b.run(fetches=[b.op("TensorListLength", two), b.op("TensorListElementShape", two, shape_type="int64")])
    b.run(fetches=[b.op("TensorListPopBack", start, ints(b, -1), element_dtype=dtype(b))[1]], error=True, says="empty list")
    b.run(fetches=[b.op("TensorListLength", b.op("TensorListPushBack", empty(b, [3]), b.hidden(rand(2).typed(dtype(b)))))], error=True,
          says="incompatible shape")
    full = b.op("TensorListPushBack", empty(b, [-1], 1), value(b, 2))
    b.run(fetches=[b.op("TensorListLength", b.op("TensorListPushBack", full, value(b, 2)))], error=True, says="full list")


def items(b):
    reserved = b.op("TensorListReserve", ints(b, [2]), ints(b, 3), element_dtype=dtype(b))
    set_ = b.op("TensorListSetItem", reserved, ints(b, 1), value(b, 2))
    get = lambda l, i: b.op("TensorListGetItem", l, ints(b, i), ints(b, [2]), element_dtype=dtype(b))
    b.run(fetches=[get(set_, 1), stack(b, set_)] + ([get(set_, 0)] if dtype(b) != "string" else []))
    b.run(fetches=[get(set_, 3)], error=True, says="Trying to access element 3 in a list with 3 elements")
    b.run(fetches=[stack(b, b.op("TensorListSetItem", reserved, ints(b, 5), value(b, 2)))], error=True, says="Trying to modify element 5")
    grown = b.op("TensorListSetItem", reserved, ints(b, 4), value(b, 2), resize_if_index_out_of_bounds=True)
    b.run(fetches=[b.op("TensorListLength", grown), stack(b, grown)])
    b.run(fetches=[stack(b, b.op("TensorListResize", set_, ints(b, 2))), stack(b, b.op("TensorListResize", set_, ints(b, 5)))])
    b.run(fetches=[b.op("TensorListLength", b.op("TensorListResize", set_, ints(b, -1)))], error=True, says="non-negative")
    b.run(fetches=[stack(b, b.op("TensorListReserve", ints(b, [-1]), ints(b, 2), element_dtype=dtype(b)))], error=True,
          says="uninitialized|non-fully-defined")


def rows(b):
    from_ = b.op("TensorListFromTensor", value(b, 3, 2), ints(b, [2]))
    gather = lambda l, i: b.op("TensorListGather", l, ints(b, i), ints(b, [2]), element_dtype=dtype(b))
    b.run(fetches=[gather(from_, [2, 0]), stack(b, from_), stack(b, from_, num_elements=3)])
    b.run(fetches=[b.op("TensorListLength", gather_list(b, from_))])
    b.run(fetches=[stack(b, from_, num_elements=2)], error=True, says="expected a list with 2 elements but got a list with 3")
    b.run(fetches=[gather(from_, [3])], error=True, says="[Ii]ndex 3|element 3")
    scattered = b.op("TensorListScatter", value(b, 2, 2), ints(b, [2, 0]), ints(b, [2]))
    sized = b.op("TensorListScatterV2", value(b, 2, 2), ints(b, [2, 0]), ints(b, [2]), ints(b, 4))
    into = b.op("TensorListScatterIntoExistingList", from_, value(b, 2, 2), ints(b, [1, 0]))
    b.run(fetches=[stack(b, l) for l in (scattered, sized, into)])
    b.run(fetches=[stack(b, b.op("TensorListScatter", value(b, 2, 2), ints(b, [-1, 0]), ints(b, [2])))], error=True, says="non-negative")


def gather_list(b, l):
    return b.op("TensorListResize", l, ints(b, 2))


def joined(b):
    split = b.op("TensorListSplit", value(b, 5, 2), ints(b, [-1, 2]), b.const([2, 0, 3], "int64"))
    b.run(fetches=[b.op("TensorListConcat", split, element_dtype=dtype(b)),
                   b.op("TensorListConcatV2", split, ints(b, [-1, 2]), b.const([], "int64"), element_dtype=dtype(b))])
    bad = b.op("TensorListSplit", value(b, 5, 2), ints(b, [-1, 2]), b.const([2, 1], "int64"))
    b.run(fetches=[b.op("TensorListLength", bad)], error=True, says="Unused values in tensor")
    bad = b.op("TensorListSplit", value(b, 5, 2), ints(b, [-1, 2]), b.const([2, 4], "int64"))
    b.run(fetches=[b.op("TensorListLength", bad)], error=True, says="Attempting to slice")
    scalars = b.op("TensorListPushBack", empty(b, -1), value(b))
    b.run(fetches=[b.op("TensorListConcatV2", scalars, ints(b, -1), b.const([], "int64"), element_dtype=dtype(b))[0]], error=True,
          says="at least vectors|scalar")


def lists(b):
    one = b.op("TensorListPushBack", empty(b, [2]), value(b, 2))
    two = b.op("TensorListFromTensor", value(b, 3, 2), ints(b, [2]))
    both = b.op("TensorListConcatLists", one, two, element_dtype=dtype(b))
    b.run(fetches=[stack(b, both)])


def batch(b):
    one = b.op("TensorListPushBack", empty(b, [2]), value(b, 2))
    packed = b.op("Pack", [one, empty(b, [2])], T="variant")
    pushed = b.op("TensorListPushBackBatch", packed, value(b, 2, 2))
    b.run(fetches=[stack(b, b.op("Unpack", pushed, num=2, T="variant")[0])])


def gradients(b):
    """Through all of them; an element that was set again has no gradient from before."""
    x, y, z = (b.input(rand(*s), "float") for s in ((3, 2), (2,), (5, 2)))
    from_ = b.op("TensorListFromTensor", x, ints(b, [2]))
    set_ = b.op("TensorListSetItem", from_, ints(b, 1), y)
    pushed = b.op("TensorListPushBack", set_, b.op("Mul", y, y))
    popped = b.op("TensorListPopBack", pushed, ints(b, [2]), element_dtype="float")
    item = b.op("TensorListGetItem", pushed, ints(b, 0), ints(b, [2]), element_dtype="float")
    gathered = b.op("TensorListGather", set_, ints(b, [2, 1]), ints(b, [2]), element_dtype="float")
    split = b.op("TensorListSplit", z, ints(b, [-1, 2]), b.const([2, 3], "int64"))
    concat = b.op("TensorListConcatV2", split, ints(b, [-1, 2]), b.const([], "int64"), element_dtype="float")[0]
    scattered = stack(b, b.op("TensorListScatterV2", x, ints(b, [2, 0, 1]), ints(b, [2]), ints(b, 3)))
    resized = stack(b, b.op("TensorListResize", set_, ints(b, 2)), [2])
    into = stack(b, b.op("TensorListScatterIntoExistingList", set_, gathered, ints(b, [0, 1])), [2])
    ys = [b.op("Mul", t, t) for t in (popped[1], item, gathered, concat, scattered, resized, into, stack(b, popped[0], [2]))]
    b.run(fetches=ys)
    b.gradients(ys, [x, y, z])


ROWS = [
    Row("EmptyTensorList", build=push, types=FLOAT, name="push"),
    Row("TensorListPushBack", build=push, types=STORED),
    Row("TensorListPopBack", build=push, types=FLOAT, name="push"),
    Row("TensorListLength", build=push, types=FLOAT, name="push"),
    Row("TensorListElementShape", build=push, types=FLOAT, name="push"),
    Row("TensorListReserve", build=items, types=FLOAT, name="items"),
    Row("TensorListSetItem", build=items, types=STORED),
    Row("TensorListGetItem", build=items, types=FLOAT, name="items"),
    Row("TensorListResize", build=items, types=FLOAT, name="items"),
    Row("TensorListStack", build=rows, types=STORED),
    Row("TensorListFromTensor", build=rows, types=STORED),
    Row("TensorListGather", build=rows, types=STORED),
    Row("TensorListScatter", build=rows, types=STORED),
    Row("TensorListScatterV2", build=rows, types=FLOAT, name="rows"),
    Row("TensorListScatterIntoExistingList", build=rows, types=STORED),
    Row("TensorListConcat", build=joined, types=STORED),
    Row("TensorListConcatV2", build=joined, types=STORED),
    Row("TensorListSplit", build=joined, types=STORED),
    Row("TensorListConcatLists", build=lists, types=FLOAT),
    Row("TensorListPushBackBatch", build=batch, types=STORED),
    Row("TensorListStack", build=gradients, types=FLOAT, name="gradients"),
]
