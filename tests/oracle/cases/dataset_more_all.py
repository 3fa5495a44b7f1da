"""Datasets of tf.data.experimental and of older releases, and the older names of datasets."""

import os

import numpy
import tensorflow

from tests.oracle.datasets import *
from tests.oracle.table import *

raw = tensorflow.raw_ops
INT = dict(output_types=["int64"], output_shapes=[[]])
NAMES = [file("listed%d" % i, b"") for i in range(2)]


def over(op, steps, *inputs, of=7, error=None, make_error=None, **attrs):
    """A dataset over 0, 1, …"""

    def build(p):
        p.read(p.over(op, p.numbers(of), *inputs, **attrs), steps, error=error, make_error=make_error)

    return build


def several(*builds):

    def build(p):
        for one in builds:
            one(p)

    return build


# --- parallel interleaves


def interleave(op, sizes, cycle, block, *more, make_error=None):
    """Dataset i has sizes[i] elements."""

    def build(p):
        body = lambda i: raw.RangeDataset(start=i * 10, stop=i * 10 + tensorflow.constant(sizes, "int64")[i], step=tensorflow.constant(1, "int64"), **INT)
        p.read(p.map(p.numbers(len(sizes)), body, op=op, more=[n64(cycle), n64(block), *more]), sum(sizes), make_error=make_error)

    return build


def interleaves(op, *more):
    """All datasets of a cycle end in one round: otherwise TensorFlow's order depends on the timing of its threads."""
    return several(*(interleave(op, sizes, cycle, block, *more) for sizes, cycle, block in (
        ([3, 1, 0, 4, 2], 1, 2), ([2, 2, 2, 2, 2, 2], 3, 1), ([4, 4, 4, 4], 2, 2), ([], 2, 1), ([2], 4, 3), ([0, 0, 2], 2, 2), ([4, 4, 4], 3, 4))))


SLOPPY = (False, n64(2), n64(1))


def bad_interleaves(op, *sloppy):
    buffers = (*sloppy, n64(2), n64(1))
    return several(interleave(op, [1], 0, 1, *buffers, make_error="`cycle_length` must be > 0"), interleave(op, [1], 1, 0, *buffers, make_error="`block_length` must be > 0"),
                   interleave(op, [1], 1, 1, *sloppy, n64(0), n64(1), make_error="`buffer_output_elements` must be"),
                   interleave(op, [1], 1, 1, *sloppy, n64(1), n64(-1), make_error="`prefetch_input_elements` must be"))


def failing_interleave(op, *more):

    def build(p):
        body = lambda i: raw.RangeDataset(start=i, stop=i + 2, step=i - 1, **INT)
        dataset = p.map(p.numbers(1, 0), body, op=op, more=[n64(2), n64(1), *more])
        p.read(dataset, 0)
        p.read(p.map(p.numbers(2, 1), body, op=op, more=[n64(2), n64(1), *more]), 0, error="step must be a non-zero integer")

    return build


# --- batches and windows


def rebatched(sizes, drop, steps, of=10, by=4, error=None):

    def build(p):
        batches = p.over("BatchDatasetV2", p.numbers(of), n64(by), False, shapes=[[None]])
        p.read(p.over("RebatchDatasetV2", batches, n64(sizes), drop), steps, error=error)

    return build


def rebatched_components(p):
    rows = p.op("TensorSliceDataset", [p.b.input(rand(5, 2, 3), "float"), p.b.input(rand(5, 2), "string")], types=["float", "string"], shapes=[[2, 3], [2]])
    p.read(p.over("RebatchDatasetV2", rows, n64([3]), False, shapes=[[-1, 3], [-1]]), 4)


def sliding(op, size, shift, stride, steps, make_error=None, **attrs):
    return over(op, steps, n64(size), n64(shift), n64(stride), shapes=[[None]], make_error=make_error, **attrs)


# --- caches in files


def cached_in_file(op, *cache):

    def build(p):
        b = p.b
        folder = os.path.join(FOLDER, "cache")
        os.makedirs(folder, exist_ok=True)
        dataset = p.over(op, p.op("TensorSliceDataset", [n64([4, 5, 6]), values(["a", "b", "c"], "string")], types=["int64", "string"], shapes=[[], []]), os.path.join(folder, op + b.name("c").replace("/", "_")), *(c(p) for c in cache))
        p.read(p.over("RepeatDataset", dataset, n64(2)), 6)
        p.read(dataset, 3)

    return build


def cached_nowhere(p):
    p.read(p.over("CacheDataset", p.numbers(2), os.path.join(FOLDER, "none", "cache")), 0, error="No such file or directory")


# --- older names


def older(op, make):
    """Both names of a dataset have the same elements."""
    return Row("Experimental" + op, build=program(lambda p: make(p, "Experimental" + op)), types=[{}])


def made(*inputs, steps=7, **attrs):
    return lambda p, op: p.read(p.over(op, p.numbers(7), *inputs, **attrs), steps)


def batched(p, shapes=((None,),)):
    return p.over("BatchDatasetV2", p.numbers(6), n64(4), False, shapes=shapes)


def applied(body, *more, steps=7, attr="f", shapes=None, **attrs):

    def make(p, op):
        f = p.function(body, "int64", shapes=[[]])
        p.read(p.over(op, p.numbers(7), [], *more, shapes=shapes, Targuments=[], **{attr: f}, **attrs), steps)

    return make


def scanned(p, op):
    f = p.function(lambda s, i: (s + i, s * i), "int64", "int64", shapes=[[], []])
    p.read(p.over(op, p.numbers(5), [values(1, "int64")], [], f=f, Tstate=["int64"], Targuments=[]), 5)


def reduced(p, op):
    functions = dict(key_func=p.function(lambda i: i % 2, "int64", shapes=[[]]), init_func=p.function(lambda k: k * 100, "int64", shapes=[[]]),
                     reduce_func=p.function(lambda s, i: s + i, "int64", "int64", shapes=[[], []]), finalize_func=p.function(lambda s: s * 2, "int64", shapes=[[]]))
    p.read(p.over(op, p.numbers(7), [], [], [], [], **functions, **{"T%s_other_arguments" % f: [] for f in functions}), 2)


def windowed(p, op):
    functions = dict(key_func=p.function(lambda i: i % 2, "int64", shapes=[[]]),
                     reduce_func=p.function(lambda k, w: raw.TakeDataset(input_dataset=w, count=tensorflow.constant(1, "int64"), **INT), "int64", "variant", shapes=[[], []]),
                     window_size_func=p.function(lambda k: k + 2, "int64", shapes=[[]]))
    p.read(p.over(op, p.numbers(7), [], [], [], **functions, **{"T%s_other_arguments" % f: [] for f in functions}), 3)


def parsed(p, op):
    example = tensorflow.train.Example(features=tensorflow.train.Features(feature={"x": tensorflow.train.Feature(int64_list=tensorflow.train.Int64List(value=[3, 4]))}))
    one = p.op("TensorDataset", [values([example.SerializeToString()], "string")], types=["string"], shapes=[[1]])
    p.read(p.over(op, one, n64(1), [values([0, 0], "int64")], types=["int64"], shapes=[[1, 2]], sparse_keys=[], dense_keys=["x"], sparse_types=[], Tdense=["int64"], dense_shapes=[[2]]), 1)


def random_numbers(p, op):
    """In one step, because TensorFlow's iterators reject the op."""
    p.b.run(fetches=[p.single(p.over("BatchDatasetV2", p.over("TakeDataset", p.op(op, n64(3), n64(4)), n64(6)), n64(9), False, shapes=[[None]]))])


def directed(p, op):
    p.read(p.over(op, p.op("TensorSliceDataset", [n64([0, 1, 0])]), [p.numbers(2), p.numbers(9, 7)]), 3)


def listed(p, op):
    node = p.b.op(op, values(NAMES[0][:-1] + "*", "string"))
    node.spec = (["string"], [[]])
    p.read(node, 2)


def cardinality(p, op):
    p.b.run(fetches=[p.b.op(op, p.numbers(4))])


def to_sparse(p, op):
    rows = p.map(p.numbers(2), lambda i: tensorflow.fill([i], i), shapes=[[None]])
    dataset = p.over(op, rows, n64(2), n64([3]), types=["variant"], shapes=[[3]])
    p.b.run(fetches=[p.b.op("DeserializeSparse", p.single(dataset), Tserialized="variant", dtype="int64")])


def thread_pool(p, op):
    handle = p.b.op(op, num_threads=2, display_name="pool", shared_name=p.b.name("pool"))
    p.read(p.over("ThreadPoolDataset", p.numbers(3), handle), 3)


def on_thread_pool(p, op):
    p.read(p.over(op, p.numbers(3), p.b.op("ThreadPoolHandle", num_threads=2, display_name="pool", shared_name=p.b.name("pool"))), 3)


def device(op):

    def build(p):
        p.b.run(fetches=[p.b.op(op, p.b.op("IteratorV2", shared_name=p.b.name("it"), container="", **INT))])

    return build


# --- others


def lists(p):
    p.read(p.op("ListDataset", [values(1, "int64"), values("a", "string"), values(2, "int64"), values("b", "string")], types=["int64", "string"], shapes=[[], []]), 2)


def wrapped(p):
    node = p.b.op("UnwrapDatasetVariant", p.b.op("WrapDatasetVariant", p.numbers(3)))
    node.spec = (["int64"], [[]])
    p.read(node, 3)


def fastest(p):
    p.read(p.op("ChooseFastestDataset", [p.numbers(3), p.numbers(3)], num_experiments=2), 3)


def row(op, build, name=""):
    return Row(op, build=program(build), types=[{}], name=name)


def strings(*texts):
    return values(list(texts), "string")


TOO_MANY, TOO_FEW = "expected to contain 2 elements but contained at least 3 elements", "expected to contain 9 elements but contained only 7 elements"
ROWS = [
    row("LegacyParallelInterleaveDatasetV2", interleaves("LegacyParallelInterleaveDatasetV2", n64(2), n64(1))),
    row("LegacyParallelInterleaveDatasetV2", interleaves("LegacyParallelInterleaveDatasetV2", n64(1), n64(0)), "without prefetching"),
    row("LegacyParallelInterleaveDatasetV2", bad_interleaves("LegacyParallelInterleaveDatasetV2"), "arguments"),
    row("LegacyParallelInterleaveDatasetV2", failing_interleave("LegacyParallelInterleaveDatasetV2", n64(2), n64(1)), "errors"),
    row("ParallelInterleaveDataset", interleaves("ParallelInterleaveDataset", *SLOPPY)), row("ParallelInterleaveDataset", bad_interleaves("ParallelInterleaveDataset", False), "arguments"),
    row("ExperimentalParallelInterleaveDataset", interleaves("ExperimentalParallelInterleaveDataset", *SLOPPY)),
    row("AssertCardinalityDataset", over("AssertCardinalityDataset", 7, n64(7))), row("AssertCardinalityDataset", over("AssertCardinalityDataset", 2, n64(2), error=TOO_MANY), "more"),
    row("AssertCardinalityDataset", over("AssertCardinalityDataset", 7, n64(9), error=TOO_FEW), "fewer"), row("AssertCardinalityDataset", over("AssertCardinalityDataset", 1, n64(-1), of=1, error="an infinite number of elements but contained only 1 element"), "infinite"),
    row("AutoShardDataset", over("AutoShardDataset", 2, n64(3), n64(1))), row("AutoShardDataset", over("AutoShardDataset", 3, n64(3), n64(0), auto_shard_policy=2), "by data"),
    row("AutoShardDataset", over("AutoShardDataset", 7, n64(3), n64(0), auto_shard_policy=-1), "off"), row("AutoShardDataset", over("AutoShardDataset", 7, n64(1), n64(0)), "one worker"),
    row("AutoShardDataset", several(over("AutoShardDataset", 0, n64(0), n64(0), make_error="num_workers must be greater than zero"), over("AutoShardDataset", 0, n64(3), n64(3), make_error="index must be between 0 and 2")), "arguments"),
    row("RebatchDatasetV2", several(rebatched([2], False, 5), rebatched([2], True, 5), rebatched([1, 2], False, 7), rebatched([3, 1], True, 4), rebatched([0, 2], False, 11), rebatched([20], False, 1), rebatched([20], True, 0))),
    row("RebatchDatasetV2", rebatched_components, "components"), row("RebatchDatasetV2", over("RebatchDatasetV2", 0, n64([2]), False, error="Input element must have a non-scalar value in each component."), "scalars"),
    row("SamplingDataset", several(*(over("SamplingDataset", steps, values(rate, "float"), n64(3), n64(4), of=20) for rate, steps in ((0.0, 0), (0.3, 5), (0.7, 13), (1.0, 20))))),
    row("SlidingWindowDataset", several(sliding("SlidingWindowDataset", 3, 1, 1, 5), sliding("SlidingWindowDataset", 3, 2, 2, 2), sliding("SlidingWindowDataset", 3, 1, 1, 7, drop_remainder=False))),
    row("SlidingWindowDataset", several(sliding("SlidingWindowDataset", 0, 1, 1, 0, make_error="Window size must be greater than zero."), sliding("SlidingWindowDataset", 1, 1, 0, 0, make_error="window_stride must be greater than zero.")), "arguments"),
    row("CacheDataset", cached_in_file("CacheDataset"), "in a file"), row("CacheDatasetV2", cached_in_file("CacheDatasetV2", lambda p: p.b.op("DummyMemoryCache")), "in a file"), row("CacheDataset", cached_nowhere, "missing folder"),
    row("MaxIntraOpParallelismDataset", over("MaxIntraOpParallelismDataset", 7, n64(2))), row("MaxIntraOpParallelismDataset", over("MaxIntraOpParallelismDataset", 0, n64(-1), make_error="`max_intra_op_parallelism` must be >= 0"), "negative"),
    row("PrivateThreadPoolDataset", over("PrivateThreadPoolDataset", 7, n64(2))), row("PrivateThreadPoolDataset", over("PrivateThreadPoolDataset", 0, n64(-1), make_error="`num_threads` must be >= 0"), "negative"),
    row("NonSerializableDataset", over("NonSerializableDataset", 7)), row("OptimizeDatasetV2", over("OptimizeDatasetV2", 7, strings(), strings(), strings())),
    row("RewriteDataset", over("RewriteDataset", 7, "replicate_on_split")), row("ThreadPoolHandle", lambda p: thread_pool(p, "ThreadPoolHandle")),
    row("ThreadPoolDataset", lambda p: on_thread_pool(p, "ThreadPoolDataset")), row("ChooseFastestDataset", fastest), row("ListDataset", lists), row("WrapDatasetVariant", wrapped), row("UnwrapDatasetVariant", wrapped),
    row("IteratorGetDevice", device("IteratorGetDevice")), row("ExperimentalIteratorGetDevice", device("ExperimentalIteratorGetDevice")),
    older("AutoShardDataset", made(n64(3), n64(1), steps=2)), older("DatasetCardinality", cardinality), older("DenseToSparseBatchDataset", to_sparse), older("DirectedInterleaveDataset", directed),
    older("IgnoreErrorsDataset", made()), older("ParseExampleDataset", parsed), older("RebatchDataset", lambda p, op: p.read(p.over(op, batched(p), n64(2)), 4)),
    older("SlidingWindowDataset", made(n64(3), n64(1), n64(1), steps=5, shapes=[[None]])), older("UnbatchDataset", lambda p, op: p.read(p.over(op, batched(p), shapes=[[]]), 6)), older("UniqueDataset", made()),
    older("GroupByReducerDataset", reduced), older("GroupByWindowDataset", windowed), older("MapAndBatchDataset", applied(lambda i: i * 2, n64(3), n64(2), False, steps=3, shapes=[[None]])),
    older("ScanDataset", scanned), older("TakeWhileDataset", applied(lambda i: i < 3, steps=3, attr="predicate")),
    older("MatchingFilesDataset", listed), older("RandomDataset", random_numbers), older("ChooseFastestDataset", lambda p, op: p.read(p.op(op, [p.numbers(3), p.numbers(3)], num_experiments=2), 3)),
    older("MaxIntraOpParallelismDataset", made(n64(2))), older("NonSerializableDataset", made()), older("PrivateThreadPoolDataset", made(n64(2))), older("ThreadPoolDataset", on_thread_pool), older("ThreadPoolHandle", thread_pool),
]
