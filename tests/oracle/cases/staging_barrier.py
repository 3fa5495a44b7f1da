"""Barriers: tuples put together component by component."""

from tests.oracle.table import *

TYPES = ["float", "int32"]


class Barrier:
    """One barrier of a program and its ops."""

    def __init__(self, b, types=TYPES, shapes=((), (2,)), **attrs):
        self.b, self.types = b, types
        self.handle = b.op("Barrier", component_types=types, shapes=[s if s is None else list(s) for s in shapes], shared_name=b.name("b"), **attrs)

    def insert(self, keys, component, data):
        return self.b.op("BarrierInsertMany", self.handle, self.b.input(values(keys, "string")),
                         self.b.input(values(data) if not isinstance(data, Gen) else data, self.types[component]),
                         component_index=component)

    def take(self, n, small=False, **attrs):
        return self.b.op("BarrierTakeMany", self.handle, n, component_types=self.types, allow_small_batch=small, **attrs)

    def sizes(self):
        return [self.b.op("BarrierReadySize", self.handle), self.b.op("BarrierIncompleteSize", self.handle)]

    def close(self, **attrs):
        return self.b.op("BarrierClose", self.handle, **attrs)


def life(b):
    q = Barrier(b)
    sizes = q.sizes()
    b.run(fetches=sizes)
    b.run(targets=[q.insert(["x", "y"], 0, [1, 2])])
    b.run(targets=[q.insert(["z"], 0, [3])])
    b.run(fetches=sizes)
    b.run(targets=[q.insert(["z"], 0, [9])], error=True, says="Key z already has a value for component 0 in barrier")
    b.run(targets=[q.insert(["w", "z", "q"], 0, [9, 8, 7])], error=True, says="Key z already has a value for component 0 in barrier")
    b.run(fetches=sizes)
    b.run(targets=[q.insert(["z", "y"], 1, rand(2, 2))])
    b.run(fetches=sizes)
    b.run(fetches=[q.take(2)])
    b.run(fetches=[q.take(1)], error=True, timeout_ms=300)
    b.run(fetches=[q.take(0)])
    b.run(targets=[q.insert(numpy.empty([0], object), 0, rand(0))])
    b.run(targets=[q.close()])
    b.run(fetches=sizes)
    b.run(targets=[q.insert(["new"], 0, [1])], error=True,
          says="is closed, but attempted to insert a brand new key: new.  Pending enqueues cancelled: 0.  Insertion index: 0.  Number of incomplete keys: 2.")
    b.run(targets=[q.insert(["x"], 1, rand(1, 2))])
    b.run(fetches=sizes)
    b.run(fetches=[q.take(5)], error=True, says="Barrier '.*' is closed and has insufficient elements \\(requested 5, total size 2\\)")
    b.run(fetches=[q.take(5, small=True)])
    b.run(fetches=[q.take(5, small=True)], error=True, says="\\(requested 0, total size 0\\)")
    b.run(targets=[q.close()], error=True, says="Barrier '.*' is already closed.")
    b.run(targets=[q.close(cancel_pending_enqueues=True)])
    b.run(fetches=sizes)
    b.run(targets=[q.insert(["w"], 1, rand(1, 2))], error=True, says="is closed.  Pending enqueues cancelled: 1.  Number of new insertions: 1.  Number of incomplete keys: 0.")
    b.run(targets=[q.close(cancel_pending_enqueues=True)], error=True, says="is already closed")


def closed_empty(b):
    q = Barrier(b)
    b.run(targets=[q.close()])
    b.run(targets=[q.insert(["a"], 0, [1])], error=True, says="Pending enqueues cancelled: 0.  Number of new insertions: 1.  Number of incomplete keys: 0.")
    b.run(targets=[q.insert(numpy.empty([0], object), 0, rand(0))])
    for n, small in ((1, False), (0, False), (3, True)):
        b.run(fetches=[q.take(n, small)], error=True, says="total size 0\\)")


def order(b):
    """Whole tuples come out in the order in which their keys came, not in that in which they became whole."""
    q = Barrier(b, ["int32", "string"], ((), ()))
    for keys in (["a"], ["b"], ["c"]):
        b.run(targets=[q.insert(keys, 0, [len(keys)])])
    for key in ("c", "a", "b"):
        b.run(targets=[q.insert([key], 1, values([key + "!"], "string"))])
    b.run(fetches=[q.take(2)])
    b.run(fetches=[q.take(1)])


def one_step(b):
    """Insert and take in one step: one waits for the other."""
    q = Barrier(b)
    b.run(fetches=[q.take(1)], targets=[q.insert(["a"], 0, [1]), q.insert(["a"], 1, rand(1, 2))])


def all_types(b):
    q = Barrier(b, [b.types["T"]], ((2, 3),))
    b.run(targets=[q.insert(["a"], 0, rand(1, 2, 3))])
    b.run(fetches=[q.take(1)])


def unknown_shape(b):
    """A component shape of unknown rank stands for a scalar."""
    q = Barrier(b, ["float"], (None,))
    b.run(fetches=[q.take(0)])
    b.run(targets=[q.insert(["a", "b"], 0, rand(2))])
    b.run(fetches=[q.take(2)])
    b.run(targets=[q.insert(["c"], 0, rand(1, 3))], error=True, says="Shape mismatch in tuple component .*. Expected \\[\\], got \\[3\\]")


def misuse(b):
    q = Barrier(b)
    f = lambda *shape: b.hidden(rand(*shape).typed("float"))
    k = b.hidden(values(["k"], "string"))
    insert = lambda keys, data, component: b.op("BarrierInsertMany", q.handle, keys, data, component_index=component)
    b.run(targets=[insert(k, f(1), 2)], error=True, says="The component ID is out of range 2 > num_components \\(= 2\\)")
    b.run(targets=[insert(k, f(1), 1)], error=True, says="Signature mismatch, have: string_ref, string, float-> expected: string_ref, string, int32->")
    b.run(targets=[insert(k, f(1, 0), 0)], error=True, says="Tensors with no elements are not supported")
    b.run(fetches=[q.take(b.hidden(values([1], "int32")))], error=True, says="num_elements must be a scalar.")
    b.run(fetches=[q.take(1, timeout_ms=5)], error=True, says="Timeout not supported yet.")
    b.run(fetches=[b.op("BarrierTakeMany", q.handle, 1, component_types=["float"])], error=True,
          says="Signature mismatch, have: string_ref, int32->int64, string, float expected: string_ref, int32->int64, string, float, int32")


def refused(says, **attrs):

    def build(b):
        b.run(fetches=[b.op("BarrierReadySize", b.op("Barrier", **{"component_types": TYPES, "shapes": [[], []], **attrs}))], error=True, says=says)

    return build


def reopened(says, **attrs):

    def build(b):
        made = lambda **more: b.op("Barrier", **{"component_types": TYPES, "shapes": [[], []], "shared_name": b.name("b"), **more})
        first, second = made(), made(**attrs)
        b.run(fetches=[b.op("BarrierReadySize", first)])
        b.run(fetches=[b.op("BarrierReadySize", second)], error=True, says=says)

    return build


ROWS = [Row(op, build=life) for op in ("Barrier", "BarrierTakeMany", "BarrierReadySize", "BarrierIncompleteSize", "BarrierClose")] + [
    Row("BarrierInsertMany", build=all_types, types={"T": ALL}), Row("Barrier", build=closed_empty, types=[{}], name="closed empty"),
    Row("BarrierTakeMany", build=order, types=[{}], name="order"), Row("BarrierTakeMany", build=one_step, types=[{}], name="one step"),
    Row("Barrier", build=unknown_shape, types=[{}], name="unknown shape"),
    Row("Barrier", build=refused("Shape \\[\\?,2\\] is not fully defined", shapes=[[-1, 2], []]), name="partial shape"),
    Row("BarrierInsertMany", build=misuse, types=[{}], name="misuse"),
    Row("Barrier", build=refused("Barrier only accepts capacity=-1.", capacity=3), name="capacity"),
    Row("Barrier", build=refused("All of the component shapes must be specified", shapes=[[]]), name="shapes"),
    Row("Barrier", build=reopened("has component types float, int32 but requested component types were float", component_types=["float"], shapes=[[]]), name="reopened types"),
    Row("Barrier", build=reopened("has component shapes .* but requested component shapes were", shapes=[[], [2]]), name="reopened shapes"),
]
