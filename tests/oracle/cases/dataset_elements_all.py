"""Datasets that choose elements, put them together or take them apart; their cardinalities and options."""

import os

import numpy
import tensorflow

from tests.oracle.datasets import *
from tests.oracle.table import *
from tensorflow.core.example import example_pb2
from tensorflow.core.example import feature_pb2
from tensorflow.core.framework import dataset_options_pb2

raw = tensorflow.raw_ops


def batched(dataset, types=("int64",), shapes=((None,),)):
    """All elements as one batch, in a function."""
    return raw.BatchDatasetV2(input_dataset=dataset, batch_size=tensorflow.constant(100, "int64"), drop_remainder=tensorflow.constant(False), output_types=types, output_shapes=shapes)


# --- WindowDataset


def windows(p, dataset, size, shift, stride, drop):
    n = len(dataset.spec[0])
    return p.over("WindowDataset", dataset, n64(size), n64(shift), n64(stride), drop, types=["variant"] * n, shapes=[[]] * n)


def read_windows(p, dataset, size, shift, stride, drop, steps, error=None):
    """Each window as one tensor."""
    made = windows(p, dataset, size, shift, stride, drop)
    p.read(p.map(made, lambda w: raw.DatasetToSingleElement(dataset=batched(w), output_types=["int64"], output_shapes=[[None]]), types=["int64"], shapes=[[None]]), steps, error=error)


@program
def window(p):
    for size, shift, stride, drop, steps in ((3, 3, 1, False, 3), (3, 1, 1, False, 7), (3, 1, 1, True, 5), (3, 2, 2, False, 4), (2, 5, 1, False, 2), (2, 9, 1, True, 1), (3, 2, 2, True, 2),
                                             (9, 1, 1, True, 0), (9, 4, 1, False, 2), (1, 1, 1, True, 7)):
        read_windows(p, p.numbers(7), size, shift, stride, drop, steps)
    read_windows(p, p.numbers(0), 2, 1, 1, False, 0)
    pairs = p.map(p.numbers(5), lambda i: (i, tensorflow.strings.as_string(i)), types=["int64", "string"], shapes=[[], []])
    p.read(p.map(windows(p, pairs, 2, 2, 1, False), lambda a, b: raw.ZipDataset(input_datasets=[a, batched(b, ["string"])], output_types=["int64", "string"], output_shapes=[[], [None]]),
                 op="FlatMapDataset", types=["int64", "string"], shapes=[[], [None]]), 3)


@program
def window_errors(p):
    """An error affects only its own windows."""
    for shift, errors in ((1, (False, True, True, False, False)), (2, (False, True, False))):
        made = windows(p, p.map(p.numbers(6), lambda i: 6 // (i - 2)), 2, shift, 1, True)
        b = p.b
        iterator = b.op("IteratorV2", shared_name=b.name("it%d" % shift), container="", output_types=["variant"], output_shapes=[[]])
        get = b.op("IteratorGetNext", iterator, output_types=["variant"], output_shapes=[[]])
        count = b.op("DatasetCardinality", get)
        b.run(targets=[b.op("MakeIterator", made, iterator)])
        for error in errors:
            b.run(fetches=[count], error=error, says="Integer division by zero" if error else None)
        b.run(fetches=[count], error=True, says="End of sequence")


def refused(op, says, *inputs, **attrs):

    @program
    def build(p):
        p.read(p.over(op, p.numbers(3), *[i(p) if callable(i) else i for i in inputs], **attrs), 0, make_error=says)

    return build


# --- others


def directed(stop, selection, steps, error=None):

    @program
    def build(p):
        selector = p.op("TensorSliceDataset", [p.b.input(values(selection, "int64"))])
        sources = [p.numbers(2), p.numbers(13, 10), p.numbers(100, 100)]
        node = p.b.op("DirectedInterleaveDataset", selector, sources, stop_on_empty_dataset=stop, output_types=["int64"], output_shapes=[[]])
        node.spec = (["int64"], [[]])
        p.read(node, steps, error=error)

    return build


@program
def directed_to_the_end(p):
    """Selectors never end; the result ends with the datasets."""
    node = p.b.op("DirectedInterleaveDataset", p.over("RepeatDataset", p.numbers(2), n64(-1)), [p.numbers(2), p.numbers(15, 10)], output_types=["int64"], output_shapes=[[]])
    node.spec = (["int64"], [[]])
    p.read(node, 7)


@program
def unique(p):
    slices = lambda values_, dtype, shape=(): p.op("TensorSliceDataset", [p.b.input(values(values_, dtype))], types=[dtype], shapes=[shape])
    p.read(p.over("UniqueDataset", slices([3, 1, 3, 2, 1], "int64")), 3)
    p.read(p.over("UniqueDataset", slices([[1, 2], [2, 1], [1, 2]], "int32", [2])), 2)
    p.read(p.over("UniqueDataset", slices(["a", "", "a", "b"], "string")), 3)
    p.read(p.over("UniqueDataset", slices([["ab", "c"], ["a", "bc"], ["ab", "c"]], "string", [2])), 2)
    p.read(p.over("UniqueDataset", slices([1, 1], "float")), 0, make_error="UniqueDataset only supports inputs with a single `tf.int32`")
    p.read(p.over("UniqueDataset", p.op("TensorDataset", [n64(1), n64(2)], types=["int64"] * 2, shapes=[[], []])), 0, make_error="single component")


def dense(serialized, dtype, rank):
    parts = raw.DeserializeSparse(serialized_sparse=serialized, dtype=dtype)
    return parts[0], parts[1], parts[2]


def sparse_batches(dtype, row_shape, steps, error=None, of=5, body=None):

    @program
    def build(p):
        rows = p.map(p.numbers(of), body or (lambda i: tensorflow.cast(tensorflow.fill([i], i), dtype) if dtype != "string" else tensorflow.fill([i], tensorflow.strings.as_string(i))),
                     types=[dtype], shapes=[None])
        sparse = p.over("DenseToSparseBatchDataset", rows, n64(2), values(row_shape, "int64"), types=["variant"], shapes=[[3]])
        rank = len(row_shape) + 1
        p.read(p.map(sparse, lambda s: dense(s, dtype, rank), types=["int64", dtype, "int64"], shapes=[[None, rank], [None], [rank]]), steps, error=error)

    return build


def matrix(i):
    return tensorflow.reshape(tensorflow.range(i * 2), [2, i])


def scalar(i):
    return i * 3


@program
def rebatched(p):
    pairs = p.map(p.numbers(11), lambda i: (i, tensorflow.strings.as_string(i)), types=["int64", "string"], shapes=[[], []])
    batch = p.over("BatchDatasetV2", pairs, n64(4), False, shapes=[[None], [None]])
    for parts in (1, 2, 3, 5):
        p.read(p.over("RebatchDataset", batch, n64(parts)), 3 * parts)
    p.read(p.over("RebatchDataset", p.numbers(2), n64(2)), 0, error="All components must have at least one dimension")


# --- ParseExampleDataset


def feature(value):
    if isinstance(value[0], float):
        return feature_pb2.Feature(float_list=feature_pb2.FloatList(value=value))
    if isinstance(value[0], int):
        return feature_pb2.Feature(int64_list=feature_pb2.Int64List(value=value))
    return feature_pb2.Feature(bytes_list=feature_pb2.BytesList(value=value))


def example(**features):
    return example_pb2.Example(features=feature_pb2.Features(feature={k: feature(v) for k, v in features.items() if v})).SerializeToString()


EXAMPLES = [example(x=[0.5 * i, 1.0], n=list(range(i)), s=[b"a" * i], r=[float(k) for k in range(3 - i % 3)]) for i in range(5)]


def parse(p, op, examples=EXAMPLES, **attrs):
    rows = p.over("BatchDatasetV2", p.op("TensorSliceDataset", [values(examples, "string")], types=["string"], shapes=[[]]), n64(2), False, shapes=[[None]])
    attrs = {"sparse_keys": ["n", "s"], "sparse_types": ["int64", "string"], "dense_keys": ["x"], "Tdense": ["float"], "dense_shapes": [[2]], "ragged_keys": ["r"],
             "ragged_value_types": ["float"], "ragged_split_types": ["int64"], **attrs}
    return p.over(op, rows, n64(2), [values([7, 8], "float")], types=["variant", "variant", "variant", "float"], shapes=[[3], [], [3], [None, 2]], **attrs)


def taken_apart(n, r, s, x):
    ragged = raw.RaggedTensorFromVariant(encoded_ragged=r, input_ragged_rank=-1, output_ragged_rank=1, Tvalues="float32", Tsplits="int64")
    return (*raw.DeserializeSparse(serialized_sparse=n, dtype="int64"), ragged.output_dense_values, ragged.output_nested_splits[0], *raw.DeserializeSparse(serialized_sparse=s, dtype="string"), x)


def parsed(op):

    @program
    def build(p):
        p.read(p.map(parse(p, op), taken_apart, types=["int64", "int64", "int64", "float", "int64", "int64", "string", "int64", "float"],
                     shapes=[[None, 2], [None], [2], [None], [None], [None, 2], [None], [2], [None, 2]]), 3)
        variants = dict(types=["variant"], shapes=[[]])
        broken = p.map(parse(p, op, examples=[b"\n\x05zz"]), lambda n, r, s, x: x, types=["float"], shapes=[[None, 2]])
        p.read(broken, 0, error="Could not parse example input")
        wrong = p.map(parse(p, op, examples=[example(x=[1])]), lambda n, r, s, x: x, types=["float"], shapes=[[None, 2]])
        p.read(wrong, 0, error="Data types don't match|Values size|wrong|expected type")
        p.read(parse(p, op, sparse_keys=["x", "s"]), 0, make_error="Duplicate key not allowed: x")

    return build


def parsed_by_tensorflow(b):
    v1 = tensorflow.compat.v1
    with tensorflow.Graph().as_default() as graph:
        data = v1.data.Dataset.from_tensor_slices(EXAMPLES).batch(2).apply(tensorflow.data.experimental.parse_example_dataset(
            {"x": v1.io.FixedLenFeature([2], tensorflow.float32), "n": v1.io.VarLenFeature(tensorflow.int64)}, num_parallel_calls=2))
        iterator = v1.data.make_initializable_iterator(data)
        element = iterator.get_next()
    x, n, initializer = taken_over(b, graph, element["x"], element["n"].values, iterator.initializer)
    b.run(targets=[initializer])
    for _ in range(3):
        b.run(fetches=[x, n])
    b.run(fetches=[x, n], error=True, says="End of sequence")


# --- sources


@program
def random_numbers(p):
    numbers = p.over("TakeDataset", p.op("RandomDataset", n64(3), n64(9)), n64(6))
    p.read(p.over("RepeatDataset", numbers, n64(2)), 12)


@of_all
def same_count(ours, theirs):
    """Seeds (0, 0): other numbers each time."""
    return None if ours.shape == theirs.shape and ours.dtype == theirs.dtype else "%s, TensorFlow has %s" % (ours, theirs)


@program
def any_random_numbers(p):
    dataset = p.over("BatchDatasetV2", p.over("TakeDataset", p.op("RandomDataset", n64(0), n64(0)), n64(3)), n64(9), False, shapes=[[None]])
    p.b.run(fetches=[p.single(dataset)], compare=same_count)


NAMES = [file(name, b"") for name in ("m2", "m1", "m10", "other")]
os.makedirs(os.path.join(FOLDER, "m_directory", "deeper"))
NAMES += [file("m_directory/m1", b""), file("m_directory/deeper/m3", b"")]


def matching(patterns, steps, error=None):

    @program
    def build(p):
        node = p.b.op("MatchingFilesDataset", values(patterns, "string"))
        node.spec = (["string"], [[]])
        p.read(node, steps, error=error)

    return build


def path(pattern):
    return os.path.join(FOLDER, pattern)


def sparse_rows(b):
    p = Pipeline(b)
    kind = b.types["Tvalues"]
    made = b.op("SparseTensorSliceDataset", b.input(values([[0, 0, 1], [0, 2, 0], [2, 1, 1]], "int64")), b.input(rand(3), kind), b.input(values([4, 3, 2], "int64")))
    made.spec = (["int64", kind, "int64"], [[None, 2], [None], [2]])
    p.read(made, 4)


@program
def sparse_refused(p):
    make = lambda indices, entries, shape: p.b.op("SparseTensorSliceDataset", values(indices, "int64"), values(entries, "float"), values(shape, "int64"))
    for args, says in ((([[1, 0], [0, 0]], [1, 2], [2, 2]), "must be ordered in the batch dimension"), (([0], [1], [2]), "Input indices must be a matrix"),
                       (([[0, 0]], [[1]], [2, 2]), "Input values must be a vector"), (([[0, 0]], [1], [[2, 2]]), "Input shape must be a vector"),
                       (([[0, 0]], [1, 2], [2, 2]), "Number of values must match first dimension of indices"), (([[0, 0]], [1], [2]), "Number of dimensions must match second dimension"),
                       ((numpy.zeros([0, 0]), numpy.zeros([0]), numpy.zeros([0])), "requires at least one element"), (([[0, 0]], [1], [2, -1]), "Expected shape dimensions to be non-negative, got -1")):
        made = make(*args)
        made.spec = (["int64", "float", "int64"], [None] * 3)
        p.read(made, 0, make_error=says)


# --- what is known of datasets


def known(p, base):
    """Datasets of all kinds over `base`, which has elements of one number."""
    spec = dict(types=["int64"], shapes=[[]])
    vector = dict(types=["int64"], shapes=[[None]])
    condition = p.function(lambda i: i > 1, "int64", shapes=[[]])
    chosen = dict(predicate=condition, Targuments=[])
    body = lambda i: raw.RangeDataset(start=tensorflow.constant(0, "int64"), stop=i, step=tensorflow.constant(1, "int64"), output_types=["int64"], output_shapes=[[]])
    batch, dropping = p.over("BatchDatasetV2", base, n64(3), False, **vector), p.over("BatchDatasetV2", base, n64(3), True, shapes=[[3]])
    forever = p.over("RepeatDataset", p.numbers(3), n64(-1))
    zero = p.b.input(values(0, "int64"))
    found = [base, batch, dropping, p.over("UnbatchDataset", dropping, **spec), p.over("UnbatchDataset", batch, **spec)]
    found += [p.over(op, base, n64(n)) for op in ("TakeDataset", "SkipDataset", "RepeatDataset") for n in (-1, 0, 2, 9)]
    found += [p.over("ShardDataset", base, n64(3), n64(1)), p.over("IgnoreErrorsDataset", base), p.over("ParallelBatchDataset", base, n64(3), n64(1), False, **vector),
              p.over("PrefetchDataset", base, n64(1)), p.over("CacheDataset", base, ""), p.over("ShuffleDataset", base, n64(3), n64(1), n64(2)), p.over("OptionsDataset", base, serialized_options="")]
    found += [p.over("ShuffleAndRepeatDataset", base, n64(3), n64(1), n64(2), n64(n)) for n in (-1, 2)]
    for op, more in (("MapDataset", ()), ("ParallelMapDatasetV2", (n64(2),)), ("MapAndBatchDataset", (n64(3), n64(2), False))):
        found += [p.map(base, lambda i: i * 2, op=op, more=more, preserve_cardinality=keep) for keep in (False, True)]
    found += [p.over(op, base, [], **chosen) for op in ("FilterDataset", "TakeWhileDataset")]
    found += [p.map(base, body, op=op, more=more) for op, more in (("FlatMapDataset", ()), ("InterleaveDataset", (n64(2), n64(1))), ("ParallelInterleaveDatasetV3", (n64(2), n64(1), n64(2))))]
    found += [windows(p, base, 3, 2, 1, False), windows(p, base, 3, 2, 2, True), p.over("UniqueDataset", base), p.over("RebatchDataset", batch, n64(2)),
              p.over("DenseToSparseBatchDataset", base, n64(3), values(numpy.zeros([0]), "int64"), types=["variant"], shapes=[[3]])]
    scan = p.function(lambda s, i: (s + i, s), "int64", "int64", shapes=[[], []])
    found += [p.over("ScanDataset", base, [zero], [], f=scan, Tstate=["int64"], Targuments=[], preserve_cardinality=keep) for keep in (False, True)]
    for other in (p.numbers(4), forever):
        found += [p.over("ConcatenateDataset", base, other), p.b.op("ZipDataset", [base, other], output_types=["int64"] * 2, output_shapes=[[], []]),
                  p.b.op("DirectedInterleaveDataset", p.numbers(9), [base, other], output_types=["int64"], output_shapes=[[]])]
    return found


def cardinalities(make):

    @program
    def build(p):
        p.b.run(fetches=[p.b.op("DatasetCardinality", dataset) for dataset in known(p, make(p))])

    return build


@program
def cardinalities_of_sources(p):
    sources = [p.numbers(-5, 3, -3), p.op("RandomDataset", n64(1), n64(2)), p.op("TensorDataset", [n64(1)]),
               p.op("TensorSliceDataset", [values([1, 2], "int64")]), p.b.op("MatchingFilesDataset", "x"), p.b.op("TFRecordDataset", "x", "", n64(0)),
               p.b.op("SparseTensorSliceDataset", values([[0, 1]], "int64"), values([1], "float"), values([5, 3], "int64"))]
    p.b.run(fetches=[p.b.op("DatasetCardinality", source) for source in sources])


@of_all
def same_options(ours, theirs):
    read = dataset_options_pb2.Options.FromString
    a, b = read(bytes(ours.item())), read(bytes(theirs.item()))
    return None if a == b else "%s, TensorFlow has %s" % (a, b)


@program
def options(p):
    first = dataset_options_pb2.Options(deterministic=True, slack=False, threading_options=dataset_options_pb2.ThreadingOptions(private_threadpool_size=3))
    second = dataset_options_pb2.Options(slack=True, threading_options=dataset_options_pb2.ThreadingOptions(max_intra_op_parallelism=2))
    get = lambda dataset: p.b.run(fetches=[p.b.op("GetOptions", dataset)], compare=same_options)
    get(p.numbers(3))
    one = p.over("OptionsDataset", p.numbers(3), serialized_options=first.SerializeToString())
    get(one)
    get(p.over("TakeDataset", one, n64(2)))
    get(p.over("OptionsDataset", p.map(p.over("BatchDatasetV2", one, n64(2), False, shapes=[[None]]), lambda t: t), serialized_options=second.SerializeToString()))
    two = p.over("OptionsDataset", p.numbers(4), serialized_options=second.SerializeToString())
    get(p.b.op("ZipDataset", [one, p.numbers(2), two], output_types=["int64"] * 3, output_shapes=[[]] * 3))
    p.read(p.over("ShuffleDataset", two, n64(1), n64(1), n64(1)), 4)


def row(op, build, name=""):
    return Row(op, build=build, types=[{}], name=name)


ROWS = [
    row("WindowDataset", window), row("WindowDataset", window_errors, "errors"), row("WindowDataset", refused("WindowDataset", "Window size must be greater than zero.", n64(0), n64(1), n64(1), False, types=["variant"]), "size"),
    row("WindowDataset", refused("WindowDataset", "Window shift must be greater than zero.", n64(1), n64(0), n64(1), False, types=["variant"]), "shift"),
    row("WindowDataset", refused("WindowDataset", "Window stride must be greater than zero.", n64(1), n64(1), n64(-1), False, types=["variant"]), "stride"),
    row("DirectedInterleaveDataset", directed(False, [0, 1, 0, 0, 2, 1, 0, 1, 1, 1], 5)), row("DirectedInterleaveDataset", directed(True, [0, 1, 0, 0, 1], 3), "stops"),
    row("DirectedInterleaveDataset", directed(False, [1, 3], 1, error="Selector index out of range: 3 >= 3"), "index"), row("DirectedInterleaveDataset", directed_to_the_end, "to the end"),
    row("UniqueDataset", unique), row("RebatchDataset", rebatched), row("RebatchDataset", refused("RebatchDataset", "num_replicas must be greater than zero", n64(0)), "no replicas"),
    row("DenseToSparseBatchDataset", sparse_batches("int64", [-1], 3)), row("DenseToSparseBatchDataset", sparse_batches("string", [6], 3), "strings"),
    row("DenseToSparseBatchDataset", sparse_batches("int64", [2, -1], 3, body=matrix), "matrices"), row("DenseToSparseBatchDataset", sparse_batches("int64", [], 3, body=scalar), "scalars"),
    row("DenseToSparseBatchDataset", sparse_batches("int64", [2], 1, error="that is larger than the row shape"), "too large"),
    row("DenseToSparseBatchDataset", sparse_batches("int64", [2, 2], 0, error="incompatible with the row shape"), "rank"),
    row("DenseToSparseBatchDataset", refused("DenseToSparseBatchDataset", "Batch size must be greater than zero.", n64(0), values([1], "int64"), types=["variant"]), "no size"),
    row("DenseToSparseBatchDataset", refused("DenseToSparseBatchDataset", "row_shape must be a vector", n64(1), lambda p: p.b.hidden(values([[1]], "int64")), types=["variant"]), "row shape"),
    row("ParseExampleDataset", parsed("ParseExampleDataset")), row("ParseExampleDatasetV2", parsed("ParseExampleDatasetV2")), row("ParseExampleDatasetV2", parsed_by_tensorflow, "exported"),
    row("RandomDataset", random_numbers), row("RandomDataset", any_random_numbers, "no seeds"),
    row("MatchingFilesDataset", matching([path("m*")], 3)), row("MatchingFilesDataset", matching([path("*/m?"), path("m[12]")], 3), "patterns"),
    row("MatchingFilesDataset", matching(path("m1"), 1), "one"), row("MatchingFilesDataset", matching([path("none*"), path("m2")], 1), "one of two"),
    row("MatchingFilesDataset", matching([path("none*")], 0, error="Don't find any matched files"), "none"),
    row("MatchingFilesDataset", matching([path("none/*"), path("m1")], 0, error="No such file or directory"), "no directory"),
    Row("SparseTensorSliceDataset", build=sparse_rows, types={"Tvalues": NUMBERS + ("bool", "string")}), row("SparseTensorSliceDataset", sparse_refused, "refused"),
    row("DatasetCardinality", cardinalities_of_sources, "sources"), row("GetOptions", options), row("OptionsDataset", options),
]
ROWS += [row("DatasetCardinality", cardinalities(make), name) for name, make in (
    ("finite", lambda p: p.numbers(7)), ("empty", lambda p: p.numbers(0)), ("infinite", lambda p: p.over("RepeatDataset", p.numbers(3), n64(-1))),
    ("unknown", lambda p: p.over("FilterDataset", p.numbers(7), [], predicate=p.function(lambda i: i > 1, "int64", shapes=[[]]), Targuments=[])))]
