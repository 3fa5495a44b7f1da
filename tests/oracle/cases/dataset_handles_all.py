"""Datasets with seeds and caches behind handles; iterators without a name."""

import tensorflow

from tests.oracle.datasets import *
from tests.oracle.table import *

INT = dict(output_types=["int64"], output_shapes=[[]])


def generator(p, kind, reshuffle, seed=1, seed2=2):
    if kind == "none":
        return p.b.op("DummySeedGenerator")
    return p.b.op("AnonymousSeedGenerator", n64(seed), n64(seed2), reshuffle)[0]


def shuffled(op, kind, n, size, epochs, **attrs):
    """Read twice, with all its epochs."""

    @program
    def build(p):
        reshuffle = attrs.get("reshuffle_each_iteration", True)
        seeds = () if op == "ShuffleDatasetV2" else (n64(3), n64(5))
        mixed = p.over(op, p.numbers(n), n64(size), *seeds, generator(p, kind, reshuffle), **attrs)
        dataset = p.over("RepeatDataset", mixed, n64(epochs))
        p.read(dataset, n * epochs)
        p.read(mixed, n)

    return build


def shuffled_and_repeated(op, n, size, count, kind=None, take=None, **attrs):

    @program
    def build(p):
        handle = [] if kind is None else [generator(p, kind, attrs.get("reshuffle_each_iteration", True))]
        mixed = p.over(op, p.numbers(n), n64(size), n64(3), n64(5), n64(count), *handle, **attrs)
        p.read(mixed if take is None else p.over("TakeDataset", mixed, n64(take)), n * count if take is None else take)

    return build


def refused(op, says, *inputs, **attrs):

    @program
    def build(p):
        p.read(p.over(op, p.numbers(3), *[i(p) if callable(i) else i for i in inputs], **attrs), 0, make_error=says)

    return build


@of_all
def same_elements(ours, theirs):
    """Random seeds: in any order."""
    a, b = sorted(ours.tolist()), sorted(theirs.tolist())
    return None if a == b else "%s, TensorFlow has %s" % (a, b)


@program
def in_any_order(p):
    """Without a generator there are random seeds."""
    for dataset in (p.over("ShuffleDatasetV2", p.numbers(9), n64(4), generator(p, "none", True)),
                    p.over("ShuffleDatasetV3", p.numbers(9), n64(4), n64(0), n64(0), generator(p, "none", True)),
                    p.over("ShuffleAndRepeatDataset", p.numbers(3), n64(4), n64(0), n64(0), n64(3))):
        p.b.run(fetches=[p.single(p.over("BatchDatasetV2", dataset, n64(99), False, shapes=[[None]]))], compare=same_elements)


@program
def shared_seeds(p):
    """Two datasets take seeds from one generator in turn."""
    b = p.b
    handle = generator(p, "own", True)
    first, second = (p.over("ShuffleDatasetV3", p.numbers(6), n64(6), n64(0), n64(0), handle) for _ in range(2))
    p.read(p.over("ConcatenateDataset", first, second), 12)


def cached(kind):

    @program
    def build(p):
        handle = p.b.op("DummyMemoryCache") if kind == "none" else p.b.op("AnonymousMemoryCache")[0]
        mixed = p.over("ShuffleDataset", p.numbers(4), n64(4), n64(1), n64(2))
        p.read(p.over("RepeatDataset", p.over("CacheDatasetV2", mixed, "", handle), n64(3)), 12)

    return build


@program
def one_cache(p):
    """One dataset reads the elements that another one cached."""
    handle = p.b.op("AnonymousMemoryCache")[0]
    first, second = p.over("CacheDatasetV2", p.numbers(2), "", handle), p.over("CacheDatasetV2", p.numbers(9, 4), "", handle)
    p.read(p.over("ConcatenateDataset", first, second), 4)


def anonymous(op):

    @program
    def build(p):
        b = p.b
        made = b.op(op, **INT)
        begin = b.op("MakeIterator", p.numbers(4, 2), made)
        get = b.op("IteratorGetNext", made, control=[begin], **INT)
        then = b.op("IteratorGetNext", made, control=[get], **INT)
        for _ in range(2):  # a new one in each iteration
            b.run(fetches=[get, then])
        b.run(fetches=[b.op("IteratorGetNext", made, control=[then], **INT)], error=True, says="End of sequence")
        b.run(fetches=[b.op("IteratorGetNext", made, **INT)], error=True, says="has not been initialized")

    return build


@program
def deleted(p):
    b = p.b
    iterator = b.op("AnonymousIteratorV2", **INT)
    begin = b.op("MakeIterator", p.numbers(4), iterator[0])
    get = b.op("IteratorGetNext", iterator[0], control=[begin], **INT)
    b.run(fetches=[get], targets=[b.op("DeleteIterator", iterator[0], iterator[1], control=[get])])


@program
def in_functions(p):
    """Handles in functions, as tf.data creates them."""
    raw = tensorflow.raw_ops

    def body(i):
        numbers = raw.RangeDataset(start=i, stop=i + 4, step=tensorflow.constant(1, "int64"), **INT)
        mixed = raw.ShuffleDatasetV3(input_dataset=numbers, buffer_size=tensorflow.constant(3, "int64"), seed=i + 1, seed2=i, seed_generator=raw.DummySeedGenerator(), **INT)
        return raw.CacheDatasetV2(input_dataset=mixed, filename="", cache=raw.DummyMemoryCache(), **INT)

    p.read(p.map(p.numbers(3), body, op="FlatMapDataset"), 12)


def row(op, build, name=""):
    return Row(op, build=build, types=[{}], name=name)


KEEP = dict(reshuffle_each_iteration=False)
ROWS = [
    row("ShuffleDatasetV2", shuffled("ShuffleDatasetV2", "own", 20, 7, 3)), row("ShuffleDatasetV3", shuffled("ShuffleDatasetV3", "own", 20, 7, 3)),
    row("ShuffleDatasetV3", shuffled("ShuffleDatasetV3", "none", 20, 100, 3), "own seeds"), row("ShuffleDatasetV3", shuffled("ShuffleDatasetV3", "none", 9, 4, 2, **KEEP), "the same again"),
    row("ShuffleDatasetV2", refused("ShuffleDatasetV2", "buffer_size must be greater than zero", n64(0), lambda p: generator(p, "own", True)), "no buffer"),
    row("ShuffleDatasetV3", in_any_order, "no seeds"), row("ShuffleDatasetV3", in_functions, "in functions"), row("AnonymousSeedGenerator", shared_seeds),
    row("DummySeedGenerator", in_any_order), row("DeleteIterator", deleted),
    row("ShuffleAndRepeatDataset", shuffled_and_repeated("ShuffleAndRepeatDataset", 20, 7, 3)), row("ShuffleAndRepeatDataset", shuffled_and_repeated("ShuffleAndRepeatDataset", 4, 100, 5), "wide"),
    row("ShuffleAndRepeatDataset", shuffled_and_repeated("ShuffleAndRepeatDataset", 10, 4, 3, **KEEP), "the same again"),
    row("ShuffleAndRepeatDataset", shuffled_and_repeated("ShuffleAndRepeatDataset", 5, 9, -1, take=33), "for ever"), row("ShuffleAndRepeatDataset", shuffled_and_repeated("ShuffleAndRepeatDataset", 0, 9, -1, take=0), "empty"),
    row("ShuffleAndRepeatDataset", refused("ShuffleAndRepeatDataset", "count must be greater than zero or equal to -1.", n64(1), n64(1), n64(1), n64(0)), "no count"),
    row("ShuffleAndRepeatDataset", refused("ShuffleAndRepeatDataset", "buffer_size must be greater than zero", n64(0), n64(1), n64(1), n64(1)), "no buffer"),
    row("ShuffleAndRepeatDatasetV2", shuffled_and_repeated("ShuffleAndRepeatDatasetV2", 12, 5, 3, kind="own")), row("ShuffleAndRepeatDatasetV2", shuffled_and_repeated("ShuffleAndRepeatDatasetV2", 12, 5, 3, kind="none"), "own seeds"),
    row("CacheDatasetV2", cached("own")), row("CacheDatasetV2", cached("none"), "own cache"), row("AnonymousMemoryCache", one_cache), row("DummyMemoryCache", cached("none")),
    row("AnonymousIterator", anonymous("AnonymousIterator")), row("AnonymousIteratorV2", anonymous("AnonymousIteratorV2")), row("AnonymousIteratorV3", anonymous("AnonymousIteratorV3")),
]
