"""Datasets that functions make of many elements."""

import numpy
import tensorflow

from tests.oracle.datasets import *
from tests.oracle.table import *

raw = tensorflow.raw_ops
v1 = tensorflow.compat.v1
INT = dict(output_types=["int64"], output_shapes=[[]])


def long(n):
    return tensorflow.convert_to_tensor(n, "int64")


def batched(dataset, size):
    """In a function."""
    return raw.BatchDatasetV2(input_dataset=dataset, batch_size=long(size), drop_remainder=tensorflow.constant(False), output_types=["int64"], output_shapes=[[None]])


# --- MapAndBatchDataset


def map_and_batch(dataset, p, body, size, calls=2, drop=False, types=None, shapes=None, captured=(), **attrs):
    return p.map(dataset, body, types=types, shapes=shapes or [[None]], op="MapAndBatchDataset", captured=captured, more=(n64(size), n64(calls), drop), **attrs)


@program
def batches(p):
    twice = lambda i: i * 2 + 1
    p.read(map_and_batch(p.numbers(7), p, twice, 3), 3)
    p.read(map_and_batch(p.numbers(7), p, twice, 3, calls=1, drop=True), 2)
    p.read(map_and_batch(p.numbers(6), p, twice, 3, calls=5, preserve_cardinality=True), 2)
    p.read(map_and_batch(p.numbers(2), p, twice, 3, calls=-1, drop=True), 0)
    p.read(map_and_batch(p.numbers(0), p, twice, 3), 0)
    c = p.b.input(rand(2), "float")
    p.read(map_and_batch(p.numbers(5), p, lambda i, c: (tensorflow.cast(i, "float32") * c, tensorflow.strings.as_string(i)), 2,
                         types=["float", "string"], shapes=[[None, 2], [None]], captured=[c]), 3)


@program
def batches_with_errors(p):
    """The batch of an error is one; the next begins behind it."""
    divided = map_and_batch(p.numbers(7), p, lambda i: 6 // (i - 1), 2)
    b = p.b
    iterator = b.op("IteratorV2", shared_name=b.name("it"), container="", output_types=["int64"], output_shapes=[[None]])
    get = b.op("IteratorGetNext", iterator, output_types=["int64"], output_shapes=[[None]])
    b.run(targets=[b.op("MakeIterator", divided, iterator)])
    b.run(fetches=[get], error=True, says="Integer division by zero")
    for _ in range(3):
        b.run(fetches=[get])
    b.run(fetches=[get], error=True, says="End of sequence")


@program
def batches_refused(p):
    p.read(map_and_batch(p.numbers(3), p, lambda i: i, 0), 0, make_error="batch_size must be greater than zero.")
    p.read(map_and_batch(p.numbers(3), p, lambda i: i, 2, calls=0), 0, make_error="num_parallel_calls must be greater than zero.")
    p.read(map_and_batch(p.numbers(3), p, lambda i: tensorflow.fill([i], i), 2, shapes=[[None, None]]), 0, error="Cannot batch tensors with different shapes|number of elements")


def exported(make, steps):
    """A pipeline of tf.compat.v1.data."""

    def build(b):
        with tensorflow.Graph().as_default() as graph:
            iterator = v1.data.make_initializable_iterator(make())
            element = tensorflow.nest.flatten(iterator.get_next())
        *element, initializer = taken_over(b, graph, *element, iterator.initializer)
        for _ in range(2):
            b.run(targets=[initializer])
            for _ in range(steps):
                b.run(fetches=element)
            b.run(fetches=element, error=True, says="End of sequence")

    return build


def lengthened(i):
    return tensorflow.fill([i % 5 + 1], i)


def length_of(t):
    return tensorflow.shape(t)[0]


def mapped_and_batched():
    return v1.data.Dataset.range(10).apply(v1.data.experimental.map_and_batch(lambda i: (i, i * i), 4, num_parallel_calls=2))


def by_length():
    return v1.data.Dataset.range(20).map(lengthened).apply(
        v1.data.experimental.bucket_by_sequence_length(length_of, [3, 5], [4, 2, 3], pad_to_bucket_boundary=False))


def scanned():
    return v1.data.Dataset.range(5).apply(tensorflow.data.experimental.scan(tensorflow.constant(0, "int64"), lambda s, i: (s + i, s * i)))


def windowed():
    return v1.data.Dataset.range(7).window(3, shift=2).flat_map(lambda w: w.batch(2))


# --- ReduceDataset


def reduced(p, dataset, body, initial, *more_types, captured=(), types=None, shapes=None):
    state_types = [t.dtype for t in initial]
    f = p.function(body, *state_types, *dataset.spec[0], *[c.dtype for c in captured])
    return p.b.op("ReduceDataset", dataset, list(initial), list(captured), f=f, Tstate=state_types, Targuments=[c.dtype for c in captured],
                  output_types=types or state_types, output_shapes=shapes or [None] * len(state_types))


@program
def reductions(p):
    b = p.b
    zero = b.input(values(0, "int64"))
    b.run(fetches=[reduced(p, p.numbers(5), lambda s, i: s + i, [zero])])
    b.run(fetches=[reduced(p, p.numbers(0), lambda s, i: s + i, [zero])])
    scale = b.input(rand(2), "float")
    b.run(fetches=reduced(p, p.numbers(4), lambda s, n, i, c: (s + tensorflow.cast(i, "float32") * c, n + 1), [b.input(rand(2), "float"), zero], captured=[scale]))
    b.run(fetches=[reduced(p, p.numbers(3), lambda s, i: 6 // (i - 1), [zero])], error=True, says="Integer division by zero")
    b.run(fetches=[reduced(p, p.numbers(3), lambda s, i: (s, i), [zero])], error=True, says="number of components|initial_state=1, output=2")
    b.run(fetches=[reduced(p, p.numbers(3), lambda s, i: tensorflow.fill([2], i), [zero], shapes=[[]])], error=True, says="Incompatible shapes at component 0")


def reduced_by_tensorflow(b):
    with tensorflow.Graph().as_default() as graph:
        data = v1.data.Dataset.range(10).shuffle(4, seed=3)
        last = data.reduce(numpy.int64(1), lambda s, i: s * 3 + i)
    b.run(fetches=taken_over(b, graph, last))


# --- ScanDataset


def scan(p, dataset, body, initial, captured=(), types=("int64",), shapes=((),), **attrs):
    state_types = [t.dtype for t in initial]
    f = p.function(body, *state_types, *dataset.spec[0], *[c.dtype for c in captured], shapes=[[]] * (len(initial) + len(dataset.spec[0])) + [None] * len(captured))
    return p.over("ScanDataset", dataset, list(initial), list(captured), types=types, shapes=shapes, f=f, Tstate=state_types, Targuments=[c.dtype for c in captured], **attrs)


@program
def scans(p):
    zero = p.b.input(values(0, "int64"))
    p.read(scan(p, p.numbers(5), lambda s, i: (s + i, s * 10), [zero]), 5)
    p.read(scan(p, p.numbers(3), lambda s, n, i, c: (s + i, n * 2, tensorflow.cast(n, "float32") * c, s), [zero, p.b.input(values(1, "int64"))],
                captured=[p.b.input(rand(2), "float")], types=["float", "int64"], shapes=[[2], []], preserve_cardinality=True), 3)
    p.read(p.over("IgnoreErrorsDataset", scan(p, p.numbers(5), lambda s, i: (s + i, 6 // (i - 2)), [zero])), 4)


# --- groups


def group_by_window(p, dataset, key, reduce, size, captured=(), types=("int64",), shapes=((None,),)):
    kinds = [c.dtype for c in captured]
    return p.over("GroupByWindowDataset", dataset, [], list(captured), [], types=types, shapes=shapes, key_func=p.function(key, *dataset.spec[0], shapes=dataset.spec[1]),
                  reduce_func=p.function(reduce, "int64", "variant", *kinds, shapes=[[], []] + [[]] * len(kinds)), window_size_func=p.function(size, "int64", shapes=[[]]),
                  Tkey_func_other_arguments=[], Treduce_func_other_arguments=kinds, Twindow_size_func_other_arguments=[])


@program
def windows_by_key(p):
    p.read(group_by_window(p, p.numbers(11), lambda i: i % 3, lambda key, w: batched(w, 9), lambda key: key + 1), 7)
    p.read(group_by_window(p, p.numbers(7), lambda i: i % 2, lambda key, w, c: batched(w, c), lambda key: long(3), captured=[p.b.input(values(2, "int64"))]), 5)
    p.read(group_by_window(p, p.numbers(5, 3), lambda i: -i, lambda key, w: batched(w, 9), lambda key: long(100)), 2)
    p.read(group_by_window(p, p.numbers(0), lambda i: i, lambda key, w: batched(w, 9), lambda key: long(1)), 0)
    p.read(group_by_window(p, p.numbers(3), lambda i: i, lambda key, w: batched(w, 9), lambda key: key), 0, error="Window size must be greater than zero, but got 0.")
    p.read(group_by_window(p, p.numbers(3), lambda i: i > 1, lambda key, w: batched(w, 9), lambda key: key), 0, error="`key_func` must return a scalar int64.")
    p.read(group_by_window(p, p.numbers(3), lambda i: i, lambda key, w: batched(w, 9), lambda key: tensorflow.cast(key, "int32")), 0, error="`window_size_func` must return a scalar int64.")
    p.read(group_by_window(p, p.numbers(3), lambda i: i, lambda key, w: key, lambda key: key + 1), 0, error="`reduce_func` must return a single scalar of dtype DT_VARIANT.")


def group_by_reducer(p, dataset, key, init, reduce, finalize, state=("int64",), captured=(), types=("int64",), shapes=((),)):
    kinds = [c.dtype for c in captured]
    return p.over("GroupByReducerDataset", dataset, [], [], list(captured), [], types=types, shapes=shapes, key_func=p.function(key, *dataset.spec[0], shapes=dataset.spec[1]),
                  init_func=p.function(init, "int64", shapes=[[]]), reduce_func=p.function(reduce, *state, *dataset.spec[0], *kinds), finalize_func=p.function(finalize, *state),
                  Tkey_func_other_arguments=[], Tinit_func_other_arguments=[], Treduce_func_other_arguments=kinds, Tfinalize_func_other_arguments=[])


@program
def reducers(p):
    p.read(group_by_reducer(p, p.numbers(10), lambda i: 1 - i % 3, lambda key: key * 100, lambda s, i: s + i, lambda s: s * 2), 3)
    p.read(group_by_reducer(p, p.numbers(6), lambda i: i % 2, lambda key: (key, tensorflow.constant("")), lambda s, t, i, c: (s + i * c, t + tensorflow.strings.as_string(i)),
                            lambda s, t: (t, s), state=["int64", "string"], captured=[p.b.input(values(7, "int64"))], types=["string", "int64"], shapes=[[], []]), 2)
    p.read(group_by_reducer(p, p.numbers(0), lambda i: i, lambda key: key, lambda s, i: s, lambda s: s), 0)
    p.read(group_by_reducer(p, p.numbers(3), lambda i: tensorflow.cast(i, "int32"), lambda key: key, lambda s, i: s, lambda s: s), 0, error="`key_func` must return a scalar int64.")


# --- GeneratorDataset


@program
def generated(p):
    """Elements of a generator until its end. A queue is notified of the end."""
    b = p.b
    source = b.op("IteratorV2", shared_name=b.name("source"), container="", **INT)
    queue = b.op("FIFOQueueV2", component_types=["int64"], shared_name=b.name("q"))
    initial = b.input(values(5, "int64"))

    def ended(state, q):
        with tensorflow.control_dependencies([raw.QueueEnqueueV2(handle=q, components=[state])]):
            return tensorflow.identity(state)

    f = dict(init_func=p.function(lambda c: c + 1, "int64", shapes=[[]]),
             next_func=p.function(lambda state, it: state * 10 + raw.IteratorGetNext(iterator=it, **INT)[0], "int64", "resource", shapes=[[], []]),
             finalize_func=p.function(ended, "int64", "resource", shapes=[[], []]))
    dataset = p.op("GeneratorDataset", [initial], [source], [queue], Tinit_func_args=["int64"], Tnext_func_args=["resource"], Tfinalize_func_args=["resource"], **f)
    iterator = b.op("IteratorV2", shared_name=b.name("it"), container="", **INT)
    make, get, size = b.op("MakeIterator", dataset, iterator), b.op("IteratorGetNext", iterator, **INT), b.op("QueueSizeV2", queue)
    refill = b.op("MakeIterator", p.numbers(3), source)
    b.run(targets=[refill])
    b.run(targets=[make])
    for _ in range(3):
        b.run(fetches=[get])
    b.run(fetches=[size])
    for _ in range(2):
        b.run(fetches=[get], error=True, says="End of sequence")
    b.run(fetches=[size])
    b.run(fetches=[b.op("QueueDequeueV2", queue, component_types=["int64"])])
    b.run(targets=[refill])
    b.run(targets=[make])
    b.run(fetches=[get])
    b.run(targets=[make])  # deleted before its end
    b.run(fetches=[size])


def row(op, build, name=""):
    return Row(op, build=build, types=[{}], name=name)


ROWS = [
    row("MapAndBatchDataset", batches), row("MapAndBatchDataset", batches_with_errors, "errors"), row("MapAndBatchDataset", batches_refused, "refused"),
    row("MapAndBatchDataset", exported(mapped_and_batched, 3), "exported"), row("GroupByWindowDataset", exported(by_length, 8), "exported"),
    row("ScanDataset", exported(scanned, 5), "exported"), row("WindowDataset", exported(windowed, 7), "exported"),
    row("ReduceDataset", reductions), row("ReduceDataset", reduced_by_tensorflow, "exported"), row("ScanDataset", scans),
    row("GroupByWindowDataset", windows_by_key), row("GroupByReducerDataset", reducers), row("GeneratorDataset", generated),
]
