"""Staging areas and staging maps. A wait in TensorFlow blocks a thread forever, so other tests
cover waits."""

from tests.oracle.table import *

TYPES = ["float", "int32"]


def pair(b):
    return [b.input(rand(2), "float"), b.input(rand(), "int32")]


def area(b):
    attrs = dict(shared_name=b.name("s"), capacity=3)
    op = lambda name, *inputs, dtypes=TYPES, **more: b.op(name, *inputs, dtypes=dtypes, **{**attrs, **more})
    put = lambda: b.op("Stage", pair(b), **attrs)
    size = op("StageSize")
    b.run(fetches=[size])
    for _ in range(3):
        b.run(targets=[put()])
    b.run(fetches=[size])
    b.run(fetches=[op("StagePeek", 0)])
    b.run(fetches=[op("StagePeek", 2)])
    b.run(fetches=[op("StagePeek", b.hidden(values([1], "int32")))], error=True, says="index must be scalar")
    b.run(fetches=[op("Unstage")])
    b.run(fetches=[op("StagePeek", 0)])
    b.run(fetches=[op("StageSize", capacity=7, dtypes=["float"])])
    b.run(fetches=[op("StagePeek", 0, dtypes=["float"])], error=True, says="Mismatch stage/unstage: 2 vs. 1")
    b.run(targets=[op("StageClear")])
    b.run(fetches=[size])


def area_types(b):
    dtype = b.types["T"]
    attrs = dict(shared_name=b.name("s"))
    b.run(targets=[b.op("Stage", [b.input(rand(2, 3), dtype)], **attrs)])
    b.run(fetches=[b.op("StagePeek", 0, dtypes=[dtype], **attrs)])
    b.run(fetches=[b.op("Unstage", dtypes=[dtype], **attrs)])


def area_memory(b):
    attrs = dict(shared_name=b.name("s"), memory_limit=16)
    b.run(targets=[b.op("Stage", [b.input(rand(5), "float")], **attrs)], error=True,
          says="Attempted to insert tensors with combined size of '20' bytes into Staging Area with a memory limit of '16'.")
    b.run(targets=[b.op("Stage", [b.input(rand(4), "float")], **attrs)])
    b.run(fetches=[b.op("StageSize", dtypes=["float"], **attrs)])


def by_node_name(b):
    """Without a shared name the name of the node is that of the area."""
    stage = b.op("Stage", [b.input(rand(2), "float")], name="put")
    b.run(targets=[stage])
    b.run(fetches=[b.op("StageSize", dtypes=["float"], shared_name=stage.name)])


def one_step(b):
    attrs = dict(shared_name=b.name("s"))
    b.run(targets=[b.op("Stage", pair(b), **attrs)])
    get = b.op("Unstage", dtypes=TYPES, **attrs)
    b.run(fetches=[get], targets=[b.op("Stage", pair(b), control=[get], **attrs)])
    b.run(fetches=[b.op("Unstage", dtypes=TYPES, **attrs)])


def named(kind, name, b, attrs):
    """An op of a map."""
    return lambda *inputs, **more: b.op(kind + name, *inputs, **{**attrs, **more})


def store(kind):

    def build(b):
        attrs = dict(shared_name=b.name("m"))
        stage, size, incomplete, unstage, peek, no_key, clear = [
            named(kind, n, b, attrs) for n in ("MapStage", "MapSize", "MapIncompleteSize", "MapUnstage", "MapPeek", "MapUnstageNoKey", "MapClear")]
        key = lambda k: values(k, "int64")
        put = lambda k, indices, data: stage(key(k), indices, data, dtypes=TYPES)
        f, i = lambda: b.input(rand(2), "float"), lambda: b.input(rand(), "int32")
        sizes = [size(dtypes=TYPES), incomplete(dtypes=TYPES)]
        b.run(fetches=sizes)
        b.run(targets=[put(5, [0, 1], pair(b))])
        b.run(targets=[put(5, [0, 1], pair(b))])  # the first stays
        b.run(targets=[put(3, [0], [f()])])
        b.run(fetches=sizes)
        b.run(targets=[put(3, [0], [f()])], error=True, says="The tensor for index '0' for key '3' was already initialized '2'.")
        b.run(targets=[put(3, [1], [i()])])
        b.run(fetches=sizes)
        b.run(fetches=[peek(key(5), [0, 1], dtypes=TYPES)])
        b.run(fetches=[peek(key(5), [1], dtypes=["int32"])])
        b.run(fetches=[peek(key(5), [2], dtypes=["int32"])], error=True, says="Index '2' for key '5' was out of bounds '2'.")
        b.run(fetches=[unstage(key(5), [0], dtypes=["float"])])
        b.run(fetches=[peek(key(5), [0], dtypes=["float"])], error=True, says="Tensor at index '0' for key '5' has already been removed.")
        b.run(fetches=sizes)
        b.run(fetches=[unstage(key(5), [1], dtypes=["int32"])])
        b.run(fetches=sizes)
        b.run(fetches=[no_key([0, 1], dtypes=TYPES)])
        b.run(targets=[put(7, [0, 1], pair(b)), put(8, [1], [i()])])
        b.run(fetches=sizes)
        b.run(targets=[clear(dtypes=TYPES)])
        b.run(fetches=sizes)
        b.run(targets=[put(9, [1, 0], pair(b))], error=True, says="Indices are not strictly ordered")
        b.run(targets=[put(9, [7], [f()])], error=True, says="Index '7' for key '9' was out of bounds '2'.")
        b.run(targets=[put(9, values([], "int32"), [f()])], error=True, says="Indices are empty")
        b.run(targets=[put([1, 2], [0, 1], pair(b))], error=True, says="key must be an int64 scalar, got tensor with shape: \\[2\\]")
        b.run(targets=[put(numpy.zeros([0], int), [0, 1], pair(b))], error=True, says="key must not be empty")
        b.run(targets=[put([4], [0, 1], pair(b))])
        b.run(fetches=[unstage(key([4]), [0, 1], dtypes=TYPES)], error=True, says="key must be an int64 scalar: \\[1\\]")
        b.run(fetches=[unstage(key(4), [0, 1], dtypes=TYPES)])

    return build


def store_types(kind):

    def build(b):
        dtype = b.types["T"]
        attrs = dict(shared_name=b.name("m"))
        b.run(targets=[b.op(kind + "MapStage", values(1, "int64"), [0], [b.input(rand(2, 3), dtype)], dtypes=[dtype], **attrs)])
        b.run(fetches=[b.op(kind + "MapUnstage", values(1, "int64"), [0], dtypes=[dtype], **attrs)])

    return build


def store_memory(kind):

    def build(b):
        attrs = dict(shared_name=b.name("m"), memory_limit=16)
        put = lambda n: b.op(kind + "MapStage", values(1, "int64"), [0], [b.input(rand(n), "float")], dtypes=TYPES, **attrs)
        b.run(targets=[put(5)], error=True, says="combined size of '20' bytes into Staging Area with a memory limit of '16'.")
        b.run(targets=[put(4)])
        b.run(fetches=[b.op(kind + "MapIncompleteSize", dtypes=TYPES, **attrs)])

    return build


def smallest_first(b):
    attrs = dict(shared_name=b.name("m"))
    for k in (9, -4, 3):
        b.run(targets=[b.op("OrderedMapStage", values(k, "int64"), [0, 1], pair(b), dtypes=TYPES, **attrs)])
    for _ in range(3):
        b.run(fetches=[b.op("OrderedMapUnstageNoKey", [0, 1], dtypes=TYPES, **attrs)])


EACH = [{"T": t} for t in ALL]
ROWS = [Row(op, build=area) for op in ("StagePeek", "StageSize", "StageClear")] + [
    Row("Stage", build=area_types, types=EACH), Row("Unstage", build=area_types, types=EACH), Row("Stage", build=area_memory, name="memory"),
    Row("Stage", build=by_node_name, name="by node name"), Row("Unstage", build=one_step, name="one step"),
    Row("OrderedMapUnstageNoKey", build=smallest_first, name="smallest first")]
for kind in ("", "Ordered"):
    ROWS += [Row(kind + "Map" + op, build=store(kind)) for op in ("Size", "IncompleteSize", "Peek", "UnstageNoKey", "Clear")]
    ROWS += [Row(kind + "Map" + op, build=store_types(kind), types=EACH) for op in ("Stage", "Unstage")]
    ROWS.append(Row(kind + "MapStage", build=store_memory(kind), name="memory"))
