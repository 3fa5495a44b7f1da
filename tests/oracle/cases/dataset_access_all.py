"""Elements by their index, and what ops compute from whole datasets."""

import tensorflow

from tests.oracle.datasets import *
from tests.oracle.table import *

raw = tensorflow.raw_ops
INT = dict(output_types=["int64"], output_shapes=[[]])


def row(op, build, name=""):
    return Row(op, build=program(build), types=[{}], name=name)


def batched(p, dataset, size=2, drop=False):
    return p.over("BatchDatasetV2", dataset, n64(size), drop, shapes=[[size if drop else None]])


def sliced(p, numbers=(5, 6, 7, 8)):
    return p.op("TensorSliceDataset", [n64(list(numbers))])


def mapped(p, dataset, op="MapDataset", more=()):
    return p.map(dataset, lambda i: i * 10, op=op, more=more, preserve_cardinality=True)


def zipped(p, *datasets):
    return p.op("ZipDataset", list(datasets), types=["int64"] * len(datasets), shapes=[[]] * len(datasets), N=len(datasets))


def repeated(p, dataset, count):
    return p.over("RepeatDataset", dataset, n64(count))


PIPELINES = {
    "range": lambda p: p.numbers(9, 2, 3), "range down": lambda p: p.numbers(-5, 4, -2), "slices": sliced, "tensor": lambda p: p.op("TensorDataset", [n64(9)]),
    "list": lambda p: p.op("ListDataset", [n64(1), n64(2), n64(3)]), "map": lambda p: mapped(p, p.numbers(5)), "parallel map": lambda p: mapped(p, p.numbers(5), "ParallelMapDatasetV2", [n64(2)]),
    "batch": lambda p: batched(p, p.numbers(6), 2, True), "take": lambda p: p.over("TakeDataset", p.numbers(5), n64(3)), "take all": lambda p: p.over("TakeDataset", p.numbers(5), n64(-1)),
    "skip": lambda p: p.over("SkipDataset", p.numbers(5), n64(2)), "shard": lambda p: p.over("ShardDataset", p.numbers(8), n64(3), n64(1)), "concatenate": lambda p: p.over("ConcatenateDataset", p.numbers(3), sliced(p)),
    "zip": lambda p: zipped(p, p.numbers(5), sliced(p)), "repeat": lambda p: repeated(p, p.numbers(3), 2), "prefetch": lambda p: p.over("PrefetchDataset", p.numbers(5), n64(2)),
    "options": lambda p: p.over("OptionsDataset", p.numbers(5), serialized_options=""), "cache": lambda p: p.over("CacheDataset", p.numbers(5), ""), "cache 2": lambda p: p.over("CacheDatasetV2", p.numbers(5), "", p.b.op("DummyMemoryCache")),
    "chain": lambda p: p.over("TakeDataset", mapped(p, p.over("SkipDataset", p.over("ConcatenateDataset", p.numbers(4), sliced(p)), n64(1))), n64(6)),
}
SIZES = {"range": 3, "range down": 5, "slices": 4, "tensor": 1, "list": 3, "batch": 3, "take": 3, "skip": 3, "shard": 3, "concatenate": 7, "zip": 4, "repeat": 6, "chain": 6}


def element(p, dataset, index):
    return p.b.op("GetElementAtIndex", dataset, index, output_types=dataset.spec[0], output_shapes=dataset.spec[1])


def elements(name):
    """Every element, last one first; and those outside."""

    def build(p):
        dataset, size = PIPELINES[name](p), SIZES.get(name, 5)
        for i in reversed(range(size)):
            p.b.run(fetches=[element(p, dataset, n64(i))])
        for i in (-1, size):
            p.b.run(fetches=[element(p, dataset, n64(i))], error=True, says="Index out of range \\[0, %d\\):%d" % (size, i))

    return build


def short_batch(p):
    dataset = batched(p, p.numbers(5))
    for i in (2, 0):
        p.b.run(fetches=[element(p, dataset, n64(i))])


def not_by_index(p):
    endless, unknown = repeated(p, p.numbers(3), -1), p.map(p.numbers(3), lambda i: i + 1)
    p.b.run(fetches=[element(p, endless, n64(0))], error=True, says="infinite cardinality, which does not support random access")
    p.b.run(fetches=[element(p, unknown, n64(0))], error=True, says="unknown cardinality, which does not support random access")
    p.b.run(fetches=[element(p, p.over("UniqueDataset", p.numbers(3)), n64(0))], error=True, says="Random access is not implemented for dataset UniqueDatasetOp::Dataset")


# --- GlobalShuffleDataset


def seeds(p, kind="none", reshuffle=True):
    return p.b.op("DummySeedGenerator") if kind == "none" else p.b.op("AnonymousSeedGenerator", n64(7), n64(8), reshuffle)[0]


def shuffled(p, dataset, seed=3, seed2=4, handle=None, **attrs):
    return p.over("GlobalShuffleDataset", dataset, n64(seed), n64(seed2), handle or seeds(p), **attrs)


def reordered(name):
    return lambda p: p.read(shuffled(p, PIPELINES[name](p)), SIZES.get(name, 5))


def large(p):
    """Blocks of different sizes. Sizes just above a power of two are in docs/differences.md."""
    for size in (1, 2, 3, 255, 256, 65535, 65536, 65538, 70000, 300000, 1 << 24, 1000000007, (1 << 40) + 5, 1 << 62):
        p.read(p.over("TakeDataset", shuffled(p, p.numbers(size)), n64(3)), min(size, 3))


def epochs(p):
    for handle in (None, seeds(p, "own"), seeds(p, "own", False)):
        p.read(repeated(p, shuffled(p, p.numbers(5), handle=handle), 2), 10)
    p.read(repeated(p, shuffled(p, p.numbers(5), reshuffle_each_iteration=False), 2), 10)


def not_reordered(p):
    access = "`global_shuffle` requires all upstream transformations be compatible with random access. Got: FAILED_PRECONDITION: "
    for dataset, says in ((p.over("UniqueDataset", p.numbers(3)), "UniqueDataset does not support random access"),
                          (repeated(p, p.numbers(3), -1), "`repeat\\(-1\\)` does not support random access of tf.data datasets"), (batched(p, p.numbers(3)), "BatchDatasetV2 does not support global shuffling with `drop_remainder=False`")):
        p.read(shuffled(p, dataset), 0, make_error=access + says)
    for dataset, size in ((p.numbers(0), 0), (p.map(p.numbers(3), lambda i: i + 1), -2)):
        p.read(shuffled(p, dataset), 0, make_error="`global_shuffle` requires the input dataset to have a non-empty finite cardinality. Got cardinality %d" % size)


# --- IndexFlatMapDataset


def flattened(p, index_map, cardinality=12, body=lambda x: x * 2, captured=()):
    rows = p.op("TensorSliceDataset", [n64([[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]])], shapes=[[3]])
    return p.over("IndexFlatMapDataset", rows, list(captured), [], n64(cardinality), shapes=[[]], map_func=p.function(body, "int64", *["int64"] * len(captured), shapes=[[3]] + [[]] * len(captured)),
                  index_map_func=p.function(index_map, "int64", shapes=[[]]), Tmap_func_args=["int64"] * len(captured), Tindex_map_func_args=[])


def places(i):
    return i // 3, i % 3


def index_flat_map(p):
    p.read(flattened(p, places), 12)
    p.read(flattened(p, places, body=lambda x, c: x + c, captured=[n64(100)]), 12)
    p.read(flattened(p, lambda i: (tensorflow.cast(i // 3, "int32"), tensorflow.cast(i % 3, "int32"))), 12)
    for size in (12, 5, -1, -2):
        dataset = flattened(p, places, size)
        p.b.run(fetches=[p.b.op("DatasetCardinality", dataset)])
        p.read(dataset, 12)
    p.read(shuffled(p, flattened(p, places)), 12)
    p.read(p.over("TakeDataset", shuffled(p, flattened(p, places)), n64(4)), 4)


def bad_index_flat_map(p):
    p.read(flattened(p, lambda i: i), 0, error="expected to return two int values representing the element index and an offset within the element")
    p.read(flattened(p, lambda i: (tensorflow.cast(i, "float32"), i)), 0, error="expected to return two int32/int64 values representing the element index and an offset")
    p.read(flattened(p, lambda i: (i // 3, i + 5)), 0, error="`index_flat_map` got invalid `index_map_func` which returns offset 5, but the input element has 3 elements")


# --- WeightedFlatMapDataset


def weighted(p, sizes, weights, wrap=lambda d: d):
    inputs = [wrap(p.numbers(100 * i + n, 100 * i)) for i, n in enumerate(sizes)]
    return p.op("WeightedFlatMapDataset", inputs, [values(w, "double") for w in weights], N=len(inputs), M=len(weights))


def weighted_flat_map(p):
    for sizes, weights, count in (([100, 100, 10], [0.2, 0.3, 0.5], 20), ([5, 4], [1.0, 1.0], 8), ([5, 7, 3], [1.0, 2.0, 1.0], 5), ([10, 10, 1], [0.2, 0.3, 0.5], 1), ([0, 4], [1.0, 1.0], 0)):
        dataset = weighted(p, sizes, weights)
        p.b.run(fetches=[p.b.op("DatasetCardinality", dataset)])
        p.read(dataset, count)


def bad_weights(p):
    for weights in ([0.0, 1.0], [1.0, -1.0]):
        p.read(weighted(p, [5, 4], weights), 0, make_error="`weights` must be greater than 0.0. Input %d has a weight of" % weights.index(min(weights)))
    p.read(weighted(p, [5, 4], [1.0, 1.0, 1.0]), 0, make_error="`input_datasets` and `weights` of the WeightedFlatMap must have the same size. Got 2 datasets and 3 weights")
    p.read(weighted(p, [5, 4], [1.0, 1.0], lambda d: repeated(p, d, -1)), 0, make_error="Cardinalities of the inputs must be known. Input 0 has INFINITE cardinality")
    p.read(weighted(p, [5, 4], [1.0, 1.0], lambda d: p.over("UniqueDataset", d)), 0, make_error="Cardinalities of the inputs must be known. Input 0 has UNKNOWN cardinality")


# --- seeds and caches


def random_numbers(p, **attrs):
    """Two readings. In one step, because TensorFlow's iterators reject the op."""
    for handle in (seeds(p), seeds(p, "own"), seeds(p, "own", False)):
        dataset = p.over("TakeDataset", p.op("RandomDatasetV2", n64(3), n64(4), handle, **attrs), n64(3))
        p.b.run(fetches=[p.single(p.over("BatchDatasetV2", repeated(p, dataset, 2), n64(9), False, shapes=[[None]]))])


def deleted(p):
    """TensorFlow 2.21 only deletes handles without a resource."""
    p.b.run(targets=[p.b.op("DeleteMemoryCache", p.b.op("DummyMemoryCache"), p.b.op("AnonymousMemoryCache")[1])])


def counter(p):
    p.b.run(targets=[p.b.op("DummyIterationCounter")])


# --- tables


def table(p, dataset, key="string", value="int64", op="HashTableV2"):
    p.count += 1
    handle = p.b.op(op, shared_name=p.b.name("table%d" % p.count), container="", use_node_name_sharing=False, key_dtype=key, value_dtype=value)
    return handle, p.b.op("InitializeTableFromDataset", handle, dataset)


def pairs(p, keys, numbers):
    return p.op("TensorSliceDataset", [values(keys, "string"), n64(numbers)], types=["string", "int64"], shapes=[[], []])


def filled(p):
    for dataset in (pairs(p, ["a", "b"], [1, 2]), pairs(p, ["a", "b", "a"], [1, 2, 1])):
        handle, fill = table(p, dataset)
        for _ in range(2):
            p.b.run(targets=[fill])
        p.b.run(fetches=[p.b.op("LookupTableFindV2", handle, values(["a", "b", "z"], "string"), n64(-1)), p.b.op("LookupTableSizeV2", handle)])


def not_filled(p):
    good = pairs(p, ["a", "b"], [1, 2])
    for dataset, op, says in ((pairs(p, ["a", "b", "a"], [1, 2, 3]), "HashTableV2", "HashTable has different value for same key. Key a has 1 and trying to add value 3"),
                              (p.over("TakeDataset", good, n64(0)), "HashTableV2", "end of iterator"), (good, "MutableHashTableV2", "is not initializable"),
                              (p.over("AssertCardinalityDataset", good, n64(9)), "HashTableV2", "expected to contain 9 elements but contained only 2 elements")):
        p.b.run(targets=[table(p, dataset, op=op)[1]], error=True, says=says)


def batch_sizes(p):
    two, three = batched(p, p.numbers(9)), batched(p, p.numbers(9), 3)
    f = p.function(lambda i: i, "int64", shapes=[[]])
    batches = [two, p.numbers(3), p.over("ConcatenateDataset", two, two), p.over("ConcatenateDataset", two, three), p.over("ConcatenateDataset", two, p.numbers(3)), p.op("ZipDataset", [two, two], types=["int64"] * 2, shapes=[[None]] * 2, N=2),
               p.over("CacheDatasetV2", two, "", p.b.op("DummyMemoryCache")), p.over("OptionsDataset", two, serialized_options=""), p.over("ShuffleDatasetV3", two, n64(2), n64(1), n64(2), seeds(p)),
               p.over("TakeDataset", repeated(p, three, 2), n64(1)), p.over("MaxIntraOpParallelismDataset", two, n64(1)), p.over("UniqueDataset", two), p.over("PrefetchDataset", two, n64(1)),
               p.over("MapAndBatchDataset", p.numbers(9), [], n64(5), n64(2), False, shapes=[[None]], f=f, Targuments=[]),
               p.b.op("PaddedBatchDatasetV2", p.numbers(9), n64(4), [n64([])], [n64(0)], False, Toutput_types=["int64"], output_shapes=[[None]], N=1)]
    for dataset in batches:
        p.b.run(fetches=[p.b.op("ComputeBatchSize", dataset)])
    p.b.run(fetches=[p.b.op("ComputeBatchSize", p.b.op("OptionalNone"))], error=True, says="Tensor must be a Dataset object")


ROWS = [
    *(row("GetElementAtIndex", elements(name), name) for name in PIPELINES), row("GetElementAtIndex", short_batch, "short batch"), row("GetElementAtIndex", not_by_index, "not by index"),
    *(row("GlobalShuffleDataset", reordered(name), name) for name in PIPELINES), row("GlobalShuffleDataset", large, "sizes"), row("GlobalShuffleDataset", epochs, "epochs"), row("GlobalShuffleDataset", not_reordered, "refused"),
    row("IndexFlatMapDataset", index_flat_map), row("IndexFlatMapDataset", bad_index_flat_map, "errors"), row("WeightedFlatMapDataset", weighted_flat_map), row("WeightedFlatMapDataset", bad_weights, "errors"),
    row("RandomDatasetV2", random_numbers), row("RandomDatasetV2", lambda p: random_numbers(p, rerandomize_each_iteration=True), "new numbers"),
    row("DeleteMemoryCache", deleted),
    row("DummyIterationCounter", counter),
    row("InitializeTableFromDataset", filled), row("InitializeTableFromDataset", not_filled, "errors"), row("ComputeBatchSize", batch_sizes),
]
