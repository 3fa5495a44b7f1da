"""Batches of concurrent steps. A step of its own is a batch."""

import tensorflow

from tests.oracle.table import *

raw = tensorflow.raw_ops
LIMITS = dict(num_batch_threads=1, batch_timeout_micros=2000, grad_timeout_micros=1000)


def batch(b):
    """Ids are arbitrary, so only their shapes are compared."""
    t = b.types["T"]
    x, y = b.input(rand(3, 2), t), b.input(rand(3), "int32")
    for most in (3, 8):
        made = b.op("Batch", [x, y], max_batch_size=most, shared_name=b.name("b"), **LIMITS)
        b.run(fetches=[made[0], made[1]])
        b.run(fetches=[made[2], made[3]], compare="shapes")
        b.run(fetches=[b.op("StridedSlice", made[2], [0, 1], [1, 3], [1, 1])])
        parts = b.op("Unbatch", made[0], made[2], made[3], timeout_micros=100000, shared_name=b.name("u"))
        b.run(fetches=[parts])
        b.run(fetches=[b.op("UnbatchGrad", made[0], made[2], b.input(rand(3, 2), t), made[3], shared_name=b.name("g"))])


def padded(b):
    x = b.input(rand(3, 2), "float")
    made = b.op("Batch", [x], max_batch_size=8, allowed_batch_sizes=[2, 5, 8], shared_name=b.name("b"), **LIMITS)
    b.run(fetches=[made[0]])
    b.run(fetches=[b.op("StridedSlice", made[1], [0, 1], [1, 3], [1, 1])])
    b.run(fetches=[b.op("Unbatch", made[0], made[1], made[2], timeout_micros=100000, shared_name=b.name("u"))])
    for inputs, more, says in (([b.hidden(rand().typed("float"))], {}, "at least one dimension"), ([b.hidden(rand(2).typed("float")), b.hidden(rand(3).typed("float"))], {}, "equal 0th-dimension"), ([x], {"max_batch_size": 2}, "larger than"),
                               ([x], {"allowed_batch_sizes": [5, 2, 8]}, "increasing"), ([x], {"allowed_batch_sizes": [2, 5]}, "must equal max_batch_size")):
        bad = b.op("Batch", inputs, **{**LIMITS, "max_batch_size": 8, "shared_name": b.name("c%d" % len(more)), **more})
        b.run(fetches=[bad[0]], error=True, says=says)


def unbatch(b):
    """The step 7 has the rows of step 8 too."""
    t = b.types["T"]
    attrs = dict(timeout_micros=20000000, shared_name=b.name("u"))
    take = lambda data, index, key: b.op("Unbatch", b.hidden(data.typed(t)), b.hidden(index), b.hidden(values(key).typed("int64")), **attrs)
    index = values([[7, 0, 2], [8, 2, 3]]).typed("int64")
    none = values(numpy.zeros((0, 3))).typed("int64")
    b.run(fetches=[take(rand(3, 2), index, 7)])
    b.run(fetches=[take(rand(0, 2), none, 8)])
    b.run(fetches=[take(rand(1, 2), index, 7)], error=True, says="Wrong shape for index")
    b.run(fetches=[take(rand(3, 2), values([[7, 0], [8, 2]]).typed("int64"), 7)], error=True, says="Wrong shape for index")
    b.run(fetches=[take(rand(3, 2), index, [7])], error=True, says="scalar")
    late = b.op("Unbatch", b.hidden(rand(0, 2).typed(t)), b.hidden(none), b.hidden(values(9).typed("int64")), timeout_micros=1000, shared_name=b.name("v"))
    b.run(fetches=[late], error=True, says="did not arrive")


def unbatch_grad(b):
    t = b.types["T"]
    add = lambda data, index, grad, key: b.op("UnbatchGrad", b.hidden(data.typed(t)), b.hidden(index), b.hidden(grad.typed(t)), b.hidden(values(key).typed("int64")), shared_name=b.name("g"))
    none = values(numpy.zeros((0, 3))).typed("int64")
    index = values([[7, 0, 2], [8, 2, 3]]).typed("int64")
    b.run(fetches=[add(rand(0, 2), none, rand(1, 2), 8)])
    b.run(fetches=[add(rand(3, 2), index, rand(2, 2), 7)])
    b.run(fetches=[add(rand(3, 2), none, rand(2, 2), 9)], error=True, says="batch_index is empty")
    b.run(fetches=[add(rand(3, 2), index, rand(2, 2), [9])], error=True, says="scalar")


def function(b):
    f = b.function("f", lambda x, y, c: (raw.Mul(x=x, y=c), raw.AddV2(x=y, y=y)), "float", "int32", "float")
    limits = dict(num_batch_threads=1, batch_timeout_micros=1000, f=f)
    call = lambda x, y, **more: b.op("BatchFunction", [x, y], [b.input(rand(), "float")], Tout=["float", "int32"], shared_name=b.name("f"), **{**limits, "max_batch_size": 8, **more})
    x, y = b.input(rand(3, 2), "float"), b.input(rand(3), "int32")
    b.run(fetches=[call(x, y)])
    b.run(fetches=[call(x, y, allowed_batch_sizes=[2, 4, 8])])
    b.run(fetches=[call(x, y, allowed_batch_sizes=[4, 2, 8])], error=True, says="increasing")
    b.run(fetches=[call(x, y, allowed_batch_sizes=[2, 4])], error=True, says="max_batch_size")


ROWS = [
    Row("Batch", build=batch, types={"T": ("float", "string", "int64")}),
    Row("Batch", build=padded, name="padded"),
    Row("Unbatch", build=unbatch, types={"T": ("float", "string")}),
    Row("UnbatchGrad", build=unbatch_grad, types={"T": ("float", "int32")}),
    Row("BatchFunction", build=function),
]
