"""tf.data: datasets and iterators, element by element."""

import gzip
import os

import tensorflow

from tests.oracle.datasets import *
from tests.oracle.table import *

LINES, MORE = file("lines", b"a\r\nbb\n\nc"), file("more", b"last\n")
LINES_GZIP = file("lines.gz", gzip.compress(b"x\ny\n"))
FIXED, FIXED_GZIP = file("fixed", b"HH123456F"), file("fixed.gz", gzip.compress(b"HH123456F"))
RECORDS, RECORDS_ZLIB = records("records", "", [b"one", b"", b"x" * 500]), records("records.z", "ZLIB", [b"packed"])
NONE = ("", n64(0))
SECOND = 12 + 3 + 4  # offset of the second record
MISSING = os.path.join(FOLDER, "missing")
raw = tensorflow.raw_ops


@program
def tensors(p):
    p.read(p.op("TensorDataset", [p.b.input(rand(2, 3), "float"), p.b.input(rand(), "string")], types=["float", "string"], shapes=[[2, 3], []]), 1)


@program
def slices(p):
    p.read(p.op("TensorSliceDataset", [p.b.input(rand(3, 2), "float"), p.b.input(rand(3), "string")], types=["float", "string"], shapes=[[2], []]), 3)
    p.read(p.op("TensorSliceDataset", [p.b.input(rand(0, 2), "int32")], types=["int32"], shapes=[[2]]), 0)


@program
def ranges(p):
    p.read(p.numbers(3), 3)
    p.read(p.numbers(-4, 3, -3), 3)
    p.read(p.numbers(0, 3), 0)
    p.read(p.op("RangeDataset", n64(0), n64(4), n64(3), types=["int32"]), 2)
    p.read(p.numbers(3, step=0), 0, make_error="step must be a non-zero integer.")


def files(op, *inputs, steps, error=None):

    @program
    def build(p):
        p.read(file_dataset(p, op, *inputs), steps, error=error)

    return build


def file_dataset(p, op, names, *inputs):
    node = p.b.op(op, values(names, "string"), *inputs)
    node.spec = (["string"], [[]])
    return node


def from_offsets(names, offsets, error=None):
    """All in one step, because TensorFlow's iterators reject the op."""

    @program
    def build(p):
        dataset = file_dataset(p, "TFRecordDatasetV2", names, *NONE, values(offsets, "int64"))
        p.b.run(fetches=[p.single(p.over("BatchDatasetV2", dataset, n64(99), False, shapes=[[None]]))], error=bool(error), says=error)

    return build


def one(op, steps, *inputs, of=5, **attrs):
    """A dataset over 0, 1, …"""

    @program
    def build(p):
        p.read(p.over(op, p.numbers(of), *inputs, **attrs), steps)

    return build


def refused(op, says, *inputs, **attrs):

    @program
    def build(p):
        p.read(p.over(op, p.numbers(3), *inputs, **attrs), 0, make_error=says)

    return build


@program
def for_ever(p):
    p.read(p.over("TakeDataset", p.over("RepeatDataset", p.numbers(2), n64(-1)), n64(5)), 5)
    p.read(p.over("RepeatDataset", p.numbers(0), n64(-1)), 0)


@program
def concatenated(p):
    p.read(p.over("ConcatenateDataset", p.numbers(2), p.numbers(9, 7)), 4)


@program
def zipped(p):
    p.read(p.op("ZipDataset", [p.numbers(3), p.numbers(9, 5)], types=["int64", "int64"], shapes=[[], []]), 3)


@program
def batches(p):
    rows = p.op("TensorSliceDataset", [p.b.input(rand(5, 2), "float"), p.b.input(rand(5), "string")], types=["float", "string"], shapes=[[2], []])
    out = dict(types=["float", "string"], shapes=[[-1, 2], [-1]])
    p.read(p.over("BatchDatasetV2", rows, n64(2), False, **out), 3)
    p.read(p.over("BatchDatasetV2", rows, n64(2), True, **out), 2)
    p.read(p.over("ParallelBatchDataset", rows, n64(3), n64(2), False, **out), 2)
    p.read(p.over("UnbatchDataset", p.over("BatchDatasetV2", rows, n64(3), False, **out), types=["float", "string"], shapes=[[2], []]), 5)


@program
def ragged_batch(p):
    """Rows that do not fit into one batch."""
    rows = p.map(p.numbers(3), lambda i: tensorflow.fill([i], i), shapes=[[-1]])
    p.read(p.over("BatchDatasetV2", rows, n64(2), False, shapes=[[-1, -1]]), 0, error="Cannot batch tensors with different shapes in component 0. First element had shape \\[0\\] and element 1 had shape \\[1\\].")


def padded(op, wanted, drop, steps):

    @program
    def build(p):
        rows = p.map(p.numbers(5), lambda i: (tensorflow.fill([i], i), tensorflow.strings.as_string(i)), types=["int64", "string"], shapes=[[-1], []])
        node = p.b.op(op, rows, n64(2), [n64(wanted), values(numpy.zeros([0], int), "int64")], [values(-1, "int64"), values("", "string")],
                      *([drop] if op.endswith("V2") else []), output_shapes=[[-1, -1], [-1]])
        node.spec = (["int64", "string"], [[-1, -1], [-1]])
        p.read(node, steps, error=None if wanted != [2] else "Attempted to pad to a smaller size than the input element")

    return build


def mapped(op, *more, **attrs):

    @program
    def build(p):
        twice = p.map(p.numbers(5), lambda i: i * 2 + 1, op=op, more=more, **attrs)
        p.read(twice, 5)
        b = p.b
        captured = b.input(rand(2), "float")
        p.read(p.map(p.numbers(3), lambda i, c: (tensorflow.cast(i, "float32") * c, tensorflow.strings.as_string(i)), types=["float", "string"], shapes=[[2], []],
                     op=op, captured=[captured], more=more, **attrs), 3)

    return build


@program
def map_fails(p):
    """An element that is an error, and those behind it."""
    divided = p.map(p.numbers(4), lambda i: 6 // (i - 1))
    types, shapes = divided.spec
    b = p.b
    iterator = b.op("IteratorV2", shared_name=b.name("it"), container="", output_types=types, output_shapes=shapes)
    get = b.op("IteratorGetNext", iterator, output_types=types, output_shapes=shapes)
    b.run(targets=[b.op("MakeIterator", divided, iterator)])
    b.run(fetches=[get])
    b.run(fetches=[get], error=True, says="Integer division by zero")
    b.run(fetches=[get])
    b.run(fetches=[get])
    b.run(fetches=[get], error=True, says="End of sequence")
    p.read(p.over("IgnoreErrorsDataset", divided), 3)


def chosen(op, *more):

    @program
    def build(p):
        f = p.function(lambda i: i % 3 < 2, "int64", shapes=[[]])
        p.read(p.over(op, p.numbers(7), [], *more, predicate=f, Targuments=[]), 2 if op == "TakeWhileDataset" else 5)

    return build


def interleaved(op, *more, cycle=None):

    @program
    def build(p):
        body = lambda i: raw.RangeDataset(start=i * 10, stop=i * 10 + i, step=tensorflow.constant(1, "int64"), output_types=["int64"], output_shapes=[[]])
        p.read(p.map(p.numbers(5), body, op=op, more=more), 10)

    return build


def shuffled(n, size, seed, seed2, times, **attrs):

    @program
    def build(p):
        mixed = p.over("ShuffleDataset", p.numbers(n), n64(size), n64(seed), n64(seed2), **attrs)
        p.read(p.over("RepeatDataset", mixed, n64(times)), n * times)

    return build


@program
def cached(p):
    p.read(p.over("RepeatDataset", p.over("CacheDataset", p.numbers(3), ""), n64(2)), 6)


@program
def prefetched(p):
    for size in (0, 1, 3, -1):
        p.read(p.over("PrefetchDataset", p.numbers(5), n64(size)), 5)
    inner = p.over("TakeDataset", p.over("PrefetchDataset", p.numbers(5), n64(2)), n64(2))
    p.read(p.over("RepeatDataset", inner, n64(3)), 6)


@program
def iterators(p):
    b, first, second = p.b, p.numbers(2), p.numbers(9, 8)
    spec = dict(output_types=["int64"], output_shapes=[[]])
    iterator = b.op("IteratorV2", shared_name=b.name("it"), container="", **spec)
    get = b.op("IteratorGetNext", iterator, **spec)
    b.run(fetches=[get], error=True, says="the iterator has not been initialized")
    b.run(targets=[b.op("MakeIterator", first, iterator)])
    b.run(fetches=[get])
    b.run(fetches=[b.op("IteratorGetNextSync", iterator, **spec)])
    b.run(fetches=[get], error=True, says="End of sequence")
    b.run(targets=[b.op("MakeIterator", second, iterator)])
    b.run(fetches=[get])
    b.run(fetches=[get], error=True, says="End of sequence")


def by_handle(from_handle, kind):

    @program
    def build(p):
        b = p.b
        spec = dict(output_types=["int64"], output_shapes=[[]])
        iterator = b.op(kind, shared_name=b.name("it"), container="", **spec)
        b.run(targets=[b.op("MakeIterator", p.numbers(3), iterator)])
        same = b.op(from_handle, b.op("IteratorToStringHandle", iterator), **spec)
        b.run(fetches=[b.op("IteratorGetNext", same, **spec)])
        b.run(fetches=[b.op("IteratorGetNext", iterator, **spec)])
        wrong = b.op(from_handle, "nonsense", **spec)
        b.run(fetches=[b.op("IteratorGetNext", wrong, **spec)], error=True, says="Could not parse string_handle")

    return build


@program
def one_shot(p):
    spec = dict(output_types=["int64"], output_shapes=[[]])
    one_, zero = lambda: tensorflow.constant(1, "int64"), lambda: tensorflow.constant(0, "int64")
    f = p.function(lambda: raw.TakeDataset(input_dataset=raw.RangeDataset(start=zero(), stop=zero() + 5, step=one_(), **spec), count=one_() * 2, **spec))
    get = p.b.op("IteratorGetNext", p.b.op("OneShotIterator", dataset_factory=f, **spec), **spec)
    for _ in range(2):
        p.b.run(fetches=[get])
    p.b.run(fetches=[get], error=True, says="End of sequence")


@program
def old_ops(p):
    """TensorFlow's iterators reject these old ops, which work without an iterator."""
    single_of = lambda dataset: p.b.op("DatasetToSingleElement", dataset, output_types=dataset.spec[0], output_shapes=dataset.spec[1])
    p.b.run(fetches=[single_of(p.over("BatchDataset", p.numbers(3), n64(5), shapes=[[-1]]))])
    padded_ = p.b.op("PaddedBatchDataset", p.numbers(3), n64(5), [values(numpy.zeros([0], int), "int64")], [values(-1, "int64")], output_shapes=[[-1]])
    padded_.spec = (["int64"], [[-1]])
    p.b.run(fetches=[single_of(padded_)])
    p.b.run(fetches=[single_of(file_dataset(p, "FixedLengthRecordDataset", [FIXED], n64(2), n64(6), n64(1), n64(0)))])
    f = p.function(lambda i: i > 3, "int64", shapes=[[]])
    p.b.run(fetches=[single_of(p.over("ParallelFilterDataset", p.numbers(5), [], n64(2), predicate=f, Targuments=[]))])


@program
def single(p):
    spec = dict(output_types=["int64"], output_shapes=[[]])
    element = lambda n: p.b.op("DatasetToSingleElement", p.numbers(n), **spec)
    p.b.run(fetches=[element(1)])
    p.b.run(fetches=[element(0)], error=True, says="Dataset was empty.")
    p.b.run(fetches=[element(2)], error=True, says="Dataset had more than one element.")
    other = p.b.op("DatasetToSingleElement", p.numbers(1), output_types=["int32"], output_shapes=[[]])
    p.b.run(fetches=[other], error=True, says="Data type mismatch at component 0: expected int32 but got int64")


# --- whole graphs, as tf.compat.v1.data writes them

v1 = tensorflow.compat.v1


def double_first(a, b):
    return a * 2, b


def large(a, b):
    return a > 2


def parsed(record):
    return v1.io.parse_single_example(record, {"x": v1.io.FixedLenFeature([2], tensorflow.float32), "y": v1.io.VarLenFeature(tensorflow.int64)})


def to_dense(features):
    return features["x"], v1.sparse.to_dense(features["y"])


def training_input(one_shot_iterator):

    def build(b):
        with tensorflow.Graph().as_default() as graph:
            data = v1.data.Dataset.from_tensor_slices((numpy.arange(9, dtype=numpy.float32), numpy.arange(18).reshape(9, 2)))
            data = data.map(double_first, num_parallel_calls=2).filter(large).shuffle(4, seed=7).batch(3).repeat(2).prefetch(1)
            iterator = (v1.data.make_one_shot_iterator if one_shot_iterator else v1.data.make_initializable_iterator)(data)
            x, y = iterator.get_next()
            loss = tensorflow.reduce_sum(x) + tensorflow.cast(tensorflow.reduce_sum(y), "float32")
        wanted = [x, y, loss] + ([] if one_shot_iterator else [iterator.initializer])
        x, y, loss, *initializer = taken_over(b, graph, *wanted)
        if initializer:
            b.run(targets=initializer)
        for _ in range(6):
            b.run(fetches=[x, y, loss])
        b.run(fetches=[loss], error=True, says="End of sequence")

    return build


def example_input(b):
    from tensorflow.core.example import example_pb2
    from tensorflow.core.example import feature_pb2

    feature = feature_pb2.Feature
    examples = [example_pb2.Example(features=feature_pb2.Features(feature={
        "x": feature(float_list=feature_pb2.FloatList(value=[i, i + 0.5])),
        "y": feature(int64_list=feature_pb2.Int64List(value=range(i)))})).SerializeToString() for i in range(5)]
    path = records("examples", "GZIP", examples)
    with tensorflow.Graph().as_default() as graph:
        data = v1.data.TFRecordDataset([path], compression_type="GZIP").map(parsed).map(to_dense).padded_batch(2, ([2], [-1]))
        iterator = v1.data.make_initializable_iterator(data)
        x, y = iterator.get_next()
    x, y, initializer = taken_over(b, graph, x, y, iterator.initializer)
    for _ in range(2):  # epochs
        b.run(targets=[initializer])
        for _ in range(3):
            b.run(fetches=[x, y])
        b.run(fetches=[x], error=True, says="End of sequence")


def row(op, build, name=""):
    return Row(op, build=build, types=[{}], name=name)


ROWS = [
    row("OneShotIterator", training_input(True), "exported"), row("MakeIterator", training_input(False), "exported"), row("TFRecordDataset", example_input, "exported"),
    row("TensorDataset", tensors), row("TensorSliceDataset", slices), row("RangeDataset", ranges),
    row("TextLineDataset", files("TextLineDataset", [LINES, MORE], *NONE, steps=5)), row("TextLineDataset", files("TextLineDataset", LINES_GZIP, "GZIP", n64(0), steps=2), "gzip"),
    row("TextLineDataset", files("TextLineDataset", [MORE, MISSING], *NONE, steps=1, error="missing; No such file or directory"), "missing"),
    row("TFRecordDataset", files("TFRecordDataset", [RECORDS, RECORDS], *NONE, steps=6)), row("TFRecordDataset", files("TFRecordDataset", RECORDS_ZLIB, "ZLIB", n64(0), steps=1), "zlib"),
    row("TFRecordDatasetV2", from_offsets([RECORDS, RECORDS], [0, SECOND])), row("TFRecordDatasetV2", from_offsets([RECORDS, RECORDS], []), "no offsets"),
    row("TFRecordDatasetV2", from_offsets([RECORDS], [SECOND + 1], error="corrupted record"), "between records"),
    row("FixedLengthRecordDataset", old_ops), row("PaddedBatchDataset", old_ops), row("ParallelFilterDataset", old_ops), row("BatchDataset", old_ops),
    row("FixedLengthRecordDatasetV2", files("FixedLengthRecordDatasetV2", [FIXED_GZIP], n64(2), n64(3), n64(1), n64(0), "GZIP", steps=2)),
    row("FixedLengthRecordDatasetV2", files("FixedLengthRecordDatasetV2", [FIXED], n64(2), n64(4), n64(1), n64(0), "", steps=0, error="Excluding the header \\(2 bytes\\) and footer \\(1 bytes\\), input file .* has body length 6 bytes, which is not an exact multiple"), "excess"),
    row("RepeatDataset", for_ever, "for ever"), row("ConcatenateDataset", concatenated), row("ZipDataset", zipped),
    row("PrefetchDataset", prefetched), row("CacheDataset", cached), row("IteratorV2", iterators), row("MakeIterator", iterators), row("IteratorGetNext", iterators),
    row("IteratorGetNextSync", iterators), row("OneShotIterator", one_shot), row("DatasetToSingleElement", single), row("IteratorToStringHandle", by_handle("IteratorFromStringHandleV2", "IteratorV2")),
    row("IteratorFromStringHandleV2", by_handle("IteratorFromStringHandleV2", "IteratorV2")), row("IteratorFromStringHandle", by_handle("IteratorFromStringHandle", "Iterator")),
    row("Iterator", by_handle("IteratorFromStringHandle", "Iterator")), row("BatchDatasetV2", ragged_batch, "shapes"), row("IgnoreErrorsDataset", map_fails),
    row("PaddedBatchDatasetV2", padded("PaddedBatchDatasetV2", [-1], True, 2)),
    row("PaddedBatchDatasetV2", padded("PaddedBatchDatasetV2", [5], False, 3), "to a size"), row("PaddedBatchDatasetV2", padded("PaddedBatchDatasetV2", [2], False, 1), "too small"),
    row("MapDataset", mapped("MapDataset")), row("ParallelMapDataset", mapped("ParallelMapDataset", values(2, "int32"))), row("ParallelMapDatasetV2", mapped("ParallelMapDatasetV2", n64(3))),
    row("FilterDataset", chosen("FilterDataset")), row("TakeWhileDataset", chosen("TakeWhileDataset")),
    row("FlatMapDataset", interleaved("FlatMapDataset")), row("InterleaveDataset", interleaved("InterleaveDataset", n64(2), n64(1))),
    row("InterleaveDataset", interleaved("InterleaveDataset", n64(3), n64(2)), "blocks"), row("InterleaveDataset", interleaved("InterleaveDataset", n64(9), n64(1)), "wide"),
    row("ParallelInterleaveDatasetV2", interleaved("ParallelInterleaveDatasetV2", n64(2), n64(2), n64(2))),
    row("ParallelInterleaveDatasetV3", interleaved("ParallelInterleaveDatasetV3", n64(2), n64(1), n64(2))),
    row("ParallelInterleaveDatasetV4", interleaved("ParallelInterleaveDatasetV4", n64(2), n64(1), n64(1), n64(1), n64(2))),
    row("ShuffleDataset", shuffled(20, 7, 3, 5, 3)), row("ShuffleDataset", shuffled(20, 100, 3, 5, 2, reshuffle_each_iteration=False), "the same again"),
    row("ShuffleDataset", shuffled(5, 1, 1, 2, 2), "buffer of one"), row("ShuffleDataset", refused("ShuffleDataset", "buffer_size must be greater than zero", n64(0), n64(1), n64(2)), "no buffer"),
    row("ModelDataset", one("ModelDataset", 5)), row("OptimizeDataset", one("OptimizeDataset", 5, values([], "string"))), row("OptionsDataset", one("OptionsDataset", 5, serialized_options="")),
    row("FinalizeDataset", one("FinalizeDataset", 5)), row("BatchDataset", refused("BatchDataset", "Batch size must be greater than zero.", n64(0)), "no size"),
    row("ShardDataset", one("ShardDataset", 2, n64(3), n64(1), of=6)), row("ShardDataset", refused("ShardDataset", "Index must be between 0 and 2", n64(3), n64(3)), "index"),
]
ROWS += [row(op, batches) for op in ("BatchDatasetV2", "ParallelBatchDataset", "UnbatchDataset")]
ROWS += [row("TakeDataset", one("TakeDataset", steps, n64(n)), "%d" % n) for n, steps in ((-1, 5), (0, 0), (2, 2), (9, 5))]
ROWS += [row("SkipDataset", one("SkipDataset", steps, n64(n)), "%d" % n) for n, steps in ((-1, 0), (0, 5), (2, 3), (9, 0))]
ROWS += [row("RepeatDataset", one("RepeatDataset", steps, n64(n), of=2), "%d" % n) for n, steps in ((0, 0), (1, 2), (3, 6))]
