"""Queues: what goes in comes out, in which order, and what a closed or misused queue says."""

from tests.oracle.table import *

FIFO, PADDING, PRIORITY, SHUFFLE = "FIFOQueue", "PaddingFIFOQueue", "PriorityQueue", "RandomShuffleQueue"


class Queue:
    """One queue of a program and its ops, in the form (V2 or not) of the op under test."""

    def __init__(self, b, kind, v2, types, shapes, **attrs):
        self.b, self.v2, self.types = b, "V2" if v2 else "", types
        self.handle = b.op(kind + self.v2, component_types=types[kind == PRIORITY:], shapes=shapes[kind == PRIORITY:],
                           **{"shared_name": b.name("q"), **attrs})

    def op(self, name, *inputs, **attrs):
        return self.b.op(name + self.v2, self.handle, *inputs, **attrs)

    def enqueue(self, *components, many=False):
        name = "QueueEnqueueMany" if many else "QueueEnqueue"
        return self.op(name, [self.b.input(c, t) for c, t in zip(components, self.types)])

    def dequeue(self):
        return self.op("QueueDequeue", component_types=self.types)

    def dequeue_many(self, n, up_to=False):
        return self.op("QueueDequeueUpTo" if up_to else "QueueDequeueMany", n, component_types=self.types)

    def close(self, **attrs):
        return self.op("QueueClose", **attrs)


def fifo(kind, v2):

    def build(b):
        types = [b.types.get("T", "float"), "int32" if kind == FIFO else "string"]
        q = Queue(b, kind, v2, types, [[2], []], capacity=10)
        size, closed = q.op("QueueSize"), q.op("QueueIsClosed")
        b.run(fetches=[size, closed])
        b.run(targets=[q.enqueue(rand(2), rand())])
        b.run(targets=[q.enqueue(rand(3, 2), rand(3), many=True)])
        b.run(targets=[q.enqueue(rand(0, 2), rand(0), many=True)])
        b.run(fetches=[size])
        b.run(fetches=[q.dequeue()])
        b.run(fetches=[q.dequeue_many(2)])
        b.run(fetches=[q.dequeue_many(0)])
        b.run(targets=[q.close()])
        b.run(fetches=[closed, size])
        b.run(targets=[q.enqueue(rand(2), rand())], error=True, says="FIFOQueue '.*' is closed.")
        b.run(targets=[q.close()], error=True, says="Queue '.*' is already closed.")
        b.run(targets=[q.close(cancel_pending_enqueues=True)])
        b.run(fetches=[q.dequeue_many(2)], error=True,
              says="FIFOQueue '.*' is closed and has insufficient elements \\(requested 2, current size 1\\)")
        b.run(fetches=[size])
        b.run(fetches=[q.dequeue_many(2, up_to=True)])
        b.run(fetches=[q.dequeue_many(2, up_to=True)], error=True, says="\\(requested 2, current size 0\\)")
        b.run(fetches=[q.dequeue()], error=True, says="\\(requested 1, current size 0\\)")

    return build


def all_types(v2):

    def build(b):
        dtype = b.types["T"]
        for shape in ((2, 3), (), (30, 40)):  # TensorFlow crashes for empty elements
            q = Queue(b, FIFO, v2, [dtype], [list(shape)], shared_name=b.name("q%s" % (shape,)))
            b.run(targets=[q.enqueue(rand(3, *shape), many=True)])
            b.run(targets=[q.enqueue(rand(*shape))])
            b.run(fetches=[q.dequeue()])
            b.run(fetches=[q.dequeue_many(2)])
            b.run(fetches=[q.dequeue_many(1, up_to=True)])
            b.run(targets=[q.close()])

    return build


def other_kinds(kind, v2):
    """Elements of all types in queues that pad, order and shuffle."""

    def build(b):
        dtype = b.types["T"]
        first = "int64" if kind == PRIORITY else "int32"
        more = dict(min_after_dequeue=1, seed=87, seed2=6) if kind == SHUFFLE else {}
        for shape in ((2, 3), (), (30, 40)):
            q = Queue(b, kind, v2, [first, dtype], [[], list(shape)], shared_name=b.name("q%s" % (shape,)), **more)
            b.run(targets=[q.enqueue(values([3, 1, 2, 7, 5]), rand(5, *shape), many=True)])
            b.run(targets=[q.enqueue(values(4), rand(*shape))])
            b.run(fetches=[q.dequeue()])
            b.run(fetches=[q.dequeue_many(3)])
            b.run(targets=[q.close()])
            # TensorFlow's PriorityQueue never returns fewer elements than requested.
            b.run(fetches=[q.dequeue_many(2) if kind == PRIORITY else q.dequeue_many(9, up_to=True)])
            b.run(fetches=[q.dequeue()], error=True, says=kind.replace("Padding", "") + " '.*' is closed and has insufficient elements")

    return build


def blocked(b):
    """Two ops of one step: the one waits for the other."""
    q = Queue(b, FIFO, True, ["int32"], [[]], capacity=2)
    b.run(fetches=[q.dequeue_many(3)], targets=[q.enqueue(values([1, 2, 3]), many=True)])
    b.run(fetches=[q.dequeue()], targets=[q.enqueue(values(4))])
    b.run(fetches=[q.dequeue()], error=True, timeout_ms=300)
    b.run(targets=[q.enqueue(values([1, 2, 3]), many=True)], error=True, timeout_ms=300)
    b.run(fetches=[q.op("QueueSize")])


def any_shape(b):
    q = Queue(b, FIFO, True, ["float", "float"], [])
    b.run(targets=[q.enqueue(rand(2), rand(3, 1))])
    b.run(targets=[q.enqueue(rand(2, 2), rand(2))])
    b.run(fetches=[q.dequeue()])
    b.run(targets=[q.op("QueueEnqueueMany", [b.hidden(rand(2).typed("float")), b.hidden(rand(1).typed("float"))])],
          error=True, says="All input tensors must have the same size in the 0th dimension. Component 1 has 1, and should have 2")
    b.run(fetches=[q.dequeue_many(1)], error=True, says="require the components to have specified shapes")


def unknown_shape(kind):
    """A component shape of unknown rank stands for a scalar."""

    def build(b):
        types = ["int64"] * (kind == PRIORITY) + ["float"]
        q = Queue(b, kind, True, types, [None] * len(types))
        rank = [values([3])] * (kind == PRIORITY)
        b.run(targets=[q.enqueue(*rank, rand(1), many=True)])
        b.run(targets=[q.op("QueueEnqueue", [b.input(values(2), t) for t in types[:-1]] + [b.hidden(rand(2).typed("float"))])], error=True,
              says="Shape mismatch in tuple component %d. Expected \\[\\], got \\[2\\]" % (kind == PRIORITY))
        b.run(fetches=[q.dequeue_many(1)])

    return build


def partial_shape(kind):

    def build(b):
        b.run(fetches=[b.op("QueueSizeV2", b.op(kind + "V2", component_types=["float"], shapes=[[-1, 2]]))], error=True,
              says="Shape \\[\\?,2\\] is not fully defined")

    return build


def misuse(b, v2=True):
    handle = "resource" if v2 else "string_ref"
    q = Queue(b, FIFO, v2, ["float"], [[2]])
    f = lambda *shape: b.hidden(rand(*shape).typed("float"))
    b.run(targets=[q.op("QueueEnqueue", [f(3)])], error=True,
          says="Shape mismatch in tuple component 0. Expected \\[2\\], got \\[3\\]")
    b.run(targets=[q.op("QueueEnqueueMany", [f(3)])], error=True,
          says="Shape mismatch in tuple component 0. Expected \\[3,2\\], got \\[3\\]")
    b.run(targets=[q.op("QueueEnqueue", [f(2), f(2)])], error=True,
          says="Signature mismatch, have: %s, float, float-> expected: %s, float->" % (handle, handle))
    b.run(targets=[q.op("QueueEnqueue", [b.hidden(ints(0, 2).of(2).typed("int32"))])], error=True,
          says="Signature mismatch, have: %s, int32-> expected: %s, float->" % (handle, handle))
    b.run(fetches=[q.op("QueueDequeue", component_types=["int32"])], error=True,
          says="Signature mismatch, have: %s->int32 expected: %s->float" % (handle, handle))
    b.run(fetches=[q.op("QueueDequeueMany", b.hidden(values(-1, "int32")), component_types=["float"])], error=True,
          says="DequeueManyOp requested -1 < 0 elements")
    b.run(fetches=[q.op("QueueDequeue", component_types=["float"], timeout_ms=5)], error=True,
          says="Timeout not supported yet.")
    for op in ("QueueDequeueMany", "QueueDequeueUpTo"):
        b.run(fetches=[q.op(op, 1, component_types=["float"], timeout_ms=5)], error=True, says="Timeout not supported yet.")
    b.run(fetches=[q.op("QueueDequeueUpTo", b.hidden(values(-1, "int32")), component_types=["float"])], error=True,
          says="requested -1 < 0 elements")
    for op in ("QueueEnqueue", "QueueEnqueueMany"):
        b.run(targets=[q.op(op, [f(1, 2) if op.endswith("Many") else f(2)], timeout_ms=5)], error=True, says="Timeout not supported yet.")
    b.run(targets=[q.op("QueueEnqueueMany", [f()])], error=True, says="")
    b.run(fetches=[q.op("QueueSize"), q.op("QueueIsClosed")] if v2 else [q.op("QueueSize")])


def reopened(change, says):
    """A second op with the same name requests another kind of queue."""

    def build(b):
        attrs = dict(component_types=["float"], shapes=[[2]], capacity=3, shared_name=b.name("q"))
        first = b.op("FIFOQueueV2", **attrs)
        kind = change.get("kind", "FIFOQueueV2")
        second = b.op(kind, **{**attrs, **{k: v for k, v in change.items() if k != "kind"}})
        b.run(fetches=[b.op("QueueSizeV2", first)])
        b.run(fetches=[b.op("QueueSizeV2", second)], error=True, says=says)

    return build


def padding(v2):

    def build(b):
        q = Queue(b, PADDING, v2, ["float", "string"], [[-1, 2], [-1]])
        for rows, words in ((1, 2), (3, 0), (2, 1), (0, 1)):
            b.run(targets=[q.enqueue(rand(rows, 2), rand(words))])
        b.run(fetches=[q.dequeue()])
        b.run(fetches=[q.dequeue_many(3)])
        f = b.op("QueueEnqueue" + q.v2, q.handle, [b.hidden(rand(1, 3).typed("float")), b.input(rand(1), "string")])
        b.run(targets=[f], error=True, says="Shape mismatch in tuple component 0. Expected \\[\\?,2\\], got \\[1,3\\]")

    return build


def priority(v2):

    def build(b):
        q = Queue(b, PRIORITY, v2, ["int64", "float"], [[], [2]])
        b.run(targets=[q.enqueue(values([3, -1, 2, 7]), rand(4, 2), many=True)])
        b.run(targets=[q.enqueue(values(1), rand(2))])
        b.run(fetches=[q.dequeue()])
        b.run(fetches=[q.dequeue_many(4)])
        b.run(targets=[q.op("QueueEnqueue", [b.hidden(values([1], "int64")), b.input(rand(2), "float")])], error=True,
              says="Shape mismatch in tuple component 0. Expected \\[\\], got \\[1\\]")

    return build


def shuffle(v2):
    """Equal seeds: the same order."""

    def build(b):
        q = Queue(b, SHUFFLE, v2, ["int32", "string"], [[], [2]], capacity=20, min_after_dequeue=2, seed=87, seed2=6)
        size = q.op("QueueSize")
        b.run(targets=[q.enqueue(values(list(range(12))), rand(12, 2), many=True)])
        b.run(fetches=[q.dequeue()])
        b.run(fetches=[q.dequeue()])
        b.run(fetches=[q.dequeue_many(5)])
        b.run(fetches=[q.dequeue_many(3, up_to=True)])
        b.run(fetches=[q.dequeue()], error=True, timeout_ms=300)
        b.run(fetches=[q.dequeue_many(2)], error=True, timeout_ms=300)
        b.run(fetches=[size])
        b.run(targets=[q.enqueue(values([20, 21, 22]), rand(3, 2), many=True)])
        b.run(targets=[q.close()])
        b.run(fetches=[q.dequeue_many(6)], error=True,
              says="RandomShuffleQueue '.*' is closed and has insufficient elements \\(requested 6, current size 5\\)")
        b.run(fetches=[q.dequeue_many(2)])
        b.run(fetches=[q.dequeue_many(9, up_to=True)])
        b.run(fetches=[q.dequeue()], error=True, says="RandomShuffleQueue '.*' is closed and has insufficient elements")
        b.run(targets=[q.enqueue(values(1), rand(2))], error=True, says="RandomShuffleQueue '.*' is closed.")

    return build


def shuffle_misuse(minimum, capacity, says):

    def build(b):
        q = b.op("RandomShuffleQueueV2", component_types=["float"], capacity=capacity, min_after_dequeue=minimum)
        b.run(fetches=[b.op("QueueSizeV2", q)], error=True, says=says)

    return build


def shuffle_reopened(change, says):

    def build(b):
        attrs = dict(component_types=["float"], capacity=3, shared_name=b.name("q"), min_after_dequeue=1, seed=1, seed2=2)
        first = b.op("RandomShuffleQueueV2", **attrs)
        second = b.op("RandomShuffleQueueV2", **{**attrs, **change})
        b.run(fetches=[b.op("QueueSizeV2", first)])
        b.run(fetches=[b.op("QueueSizeV2", second)], error=bool(says), says=says)

    return build


EACH = [{"T": t} for t in ALL]
ROWS = [Row("FIFOQueueV2", build=blocked, name="blocked"), Row("FIFOQueueV2", build=any_shape, name="any shape"),
        Row("FIFOQueueV2", build=misuse, name="misuse"),
        Row("FIFOQueue", build=lambda b: misuse(b, v2=False), name="misuse")]
for kind in (FIFO, PRIORITY, SHUFFLE):
    ROWS.append(Row(kind + "V2", build=unknown_shape(kind), types=[{}], name="unknown shape"))
    ROWS.append(Row(kind + "V2", build=partial_shape(kind), types=[{}], name="partial shape"))
for v2 in (True, False):
    suffix = "V2" if v2 else ""
    for kind in (FIFO, PADDING):
        ROWS.append(Row(kind + suffix, build=fifo(kind, v2), types=EACH))
    for use in ("QueueEnqueue", "QueueEnqueueMany", "QueueDequeue", "QueueDequeueMany"):
        ROWS.append(Row(use + suffix, build=all_types(v2), types=EACH))
    for use in ("QueueDequeueUpTo", "QueueClose", "QueueIsClosed", "QueueSize"):
        ROWS.append(Row(use + suffix, build=fifo(FIFO, v2), types=EACH))
    for kind in (PADDING, PRIORITY, SHUFFLE):
        ROWS.append(Row(kind + suffix, build=other_kinds(kind, v2), types=EACH, name="types"))
    ROWS.append(Row("PaddingFIFOQueue" + suffix, build=padding(v2), name="padding"))
    ROWS.append(Row("PriorityQueue" + suffix, build=priority(v2)))
    ROWS.append(Row("RandomShuffleQueue" + suffix, build=shuffle(v2)))
ROWS += [Row("FIFOQueueV2", build=reopened(change, says), name="reopened " + " ".join(change)) for change, says in (
    ({"capacity": 4}, "Shared queue '.*' has capacity 3 but requested capacity was 4"),
    ({"component_types": ["int32"]}, "has component types float but requested component types were int32"),
    ({"shapes": [[3]]}, "has component shapes \\[\\[2\\]\\] but requested component shapes were \\[\\[3\\]\\]"),
    ({"kind": "PaddingFIFOQueueV2"}, "Expected FIFOQueue, found PaddingFIFOQueue"),
)]
ROWS += [Row("RandomShuffleQueueV2", build=shuffle_misuse(*case), name="minimum %d of %d" % case[:2]) for case in (
    (-1, 3, "min_after_dequeue -1 must be >= 0"), (3, 3, "min_after_dequeue 3 must be < capacity 3"))]
ROWS += [Row("RandomShuffleQueueV2", build=shuffle_reopened(change, says), name="reopened " + " ".join(change)) for change, says in (
    ({"min_after_dequeue": 2}, "has min_after_dequeue 1 but requested min_after_dequeue was 2."),
    ({"seed": 3}, "has random seeds \\(1, 2\\) but requested seeds are \\(3, 2\\)."),
    ({"seed": 0, "seed2": 0}, None),
)]
