"""Saved and restored positions of iterators."""

import os

import tensorflow

from tests.oracle.datasets import *
from tests.oracle.table import *


def saved(b, position):
    """The position after its way through a checkpoint, as tf.train.Saver saves iterators."""
    path = os.path.join(FOLDER, b.prefix.replace("/", "_") + "position")
    b.run(targets=[b.op("SaveV2", path, ["position", "x"], ["", ""], [position, b.const(2.0, "float")])])
    return b.op("RestoreV2", path, ["position"], [""], dtypes=["variant"])


def resumed(make, before, after, error_at=(), through=lambda b, position: position):
    """A second iterator continues where the first one is. Then the first one continues."""

    def build(p):
        b = p.b
        dataset = make(p)
        types, shapes = dataset.spec
        spec = dict(output_types=types, output_shapes=shapes)
        first, second = (b.op("IteratorV2", shared_name=b.name(name), container="", **spec) for name in ("first", "second"))
        get, get_second = (b.op("IteratorGetNext", iterator, **spec) for iterator in (first, second))
        b.run(targets=[b.op("MakeIterator", dataset, first)])
        for step in range(before):
            b.run(fetches=[get], error=step in error_at)
        b.run(targets=[b.op("MakeIterator", dataset, second)])
        b.run(fetches=[get_second], error=0 in error_at)
        b.run(targets=[b.op("DeserializeIterator", second, through(b, b.op("SerializeIterator", first)))])
        for one in (get_second, get):
            for step in range(before, before + after):
                b.run(fetches=[one], error=step in error_at)
            b.run(fetches=[one], error=True, says="End of sequence")

    return program(build)


def shuffled(p, n=20, size=7, **attrs):
    return p.over("ShuffleDataset", p.numbers(n), n64(size), n64(3), n64(5), **attrs)


def batched(p, dataset, size=3):
    return p.over("BatchDatasetV2", dataset, n64(size), False, shapes=[[None]])


def repeated(p, dataset, times=2):
    return p.over("RepeatDataset", dataset, n64(times))


def prefetched(p, dataset, size=3):
    return p.over("PrefetchDataset", dataset, n64(size))


def training(p):
    rows = p.map(repeated(p, shuffled(p)), lambda i: i * 2 + 1)
    return prefetched(p, batched(p, rows))


def filtered(p):
    f = p.function(lambda i: i % 3 < 2, "int64", shapes=[[]])
    return p.over("FilterDataset", p.numbers(12), [], predicate=f, Targuments=[])


def interleaved(p):
    body = lambda i: tensorflow.raw_ops.RangeDataset(start=i * 10, stop=i * 10 + 3, step=tensorflow.constant(1, "int64"), output_types=["int64"], output_shapes=[[]])
    return p.map(shuffled(p, 5, 5), body, op="InterleaveDataset", more=[n64(2), n64(1)])


def scanned(p):
    f = p.function(lambda s, i: (s + i, s * i), "int64", "int64", shapes=[[], []])
    return p.over("ScanDataset", p.numbers(6), [values(1, "int64")], [], f=f, Tstate=["int64"], Targuments=[])


def zipped(p):
    return p.op("ZipDataset", [prefetched(p, shuffled(p, 9)), prefetched(p, shuffled(p, 9, 4, reshuffle_each_iteration=False))], types=["int64", "int64"], shapes=[[], []])


def reshuffled(p):
    return p.over("ShuffleAndRepeatDataset", p.numbers(8), n64(4), n64(3), n64(5), n64(3))


def random_numbers(p):
    return p.over("TakeDataset", p.op("RandomDataset", n64(3), n64(4)), n64(6))


def failing(p):
    return p.map(p.numbers(5), lambda i: 6 // (i - 1))


def uninitialized(b):
    spec = dict(output_types=["int64"], output_shapes=[[]])
    first, second = (b.op("IteratorV2", shared_name=b.name(name), container="", **spec) for name in ("first", "second"))
    b.run(fetches=[b.op("IteratorToStringHandle", first)], compare="shapes")
    b.run(targets=[b.op("SerializeIterator", first)], error=True, says="Save\\(\\) failed because the iterator has not been initialized")
    b.run(targets=[b.op("MakeIterator", Pipeline(b).numbers(3), first)])
    b.run(targets=[b.op("DeserializeIterator", second, b.op("SerializeIterator", first))], error=True, says="Restore\\(\\) failed because the iterator has not been initialized")


def row(name, build, op="SerializeIterator"):
    return Row(op, build=build, types=[{}], name=name)


ROWS = [
    row("", resumed(training, 4, 10)), row("after the end", resumed(lambda p: batched(p, p.numbers(7)), 3, 0)), row("filter", resumed(filtered, 3, 5)), row("interleave", resumed(interleaved, 5, 10)),
    row("scan", resumed(scanned, 2, 4)), row("zip", resumed(zipped, 4, 5)), row("second epoch", resumed(lambda p: repeated(p, shuffled(p, 6, 3)), 8, 4)), row("shuffle and repeat", resumed(reshuffled, 10, 14)),
    row("random", resumed(random_numbers, 2, 4)), row("errors", resumed(failing, 3, 2, error_at=(1,))), row("uninitialized", uninitialized),
    row("", resumed(training, 4, 10, through=saved), "SaveV2"), row("variant", resumed(training, 4, 10, through=saved), "RestoreV2"),
    row("", resumed(training, 1, 13), "DeserializeIterator"), row("cache", resumed(lambda p: repeated(p, p.over("CacheDataset", p.numbers(4), "")), 6, 2), "DeserializeIterator"),
]
