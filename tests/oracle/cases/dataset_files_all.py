"""Datasets in files: snapshots, saved datasets, record files, databases; and iterators for several devices."""

import os
import sqlite3

import tensorflow

from tests.oracle.datasets import *
from tests.oracle.table import *

v1, data = tensorflow.compat.v1, tensorflow.compat.v1.data
ROWS_OF_DATABASE = [(1, "x", 1.5, b"\0z", True), (-2, None, None, None, False), (1 << 40, "3.7abc", 2.9, b"", 7)]


def database(name):
    path = os.path.join(FOLDER, name)
    if not os.path.exists(path):
        with sqlite3.connect(path) as connection:
            connection.execute("create table t (a int, b text, c real, d blob, e int)")
            connection.executemany("insert into t values (?, ?, ?, ?, ?)", ROWS_OF_DATABASE)
        connection.close()
    return path


def fresh(b, *name):
    """A path of its own for every program, which both sides use."""
    return os.path.join(FOLDER, "_".join(str(part) for part in name + (b.prefix.replace("/", "_"),)).replace("/", "_"))


# --- whole graphs


def read_all(b, graph, iterator, element, steps, times=2):
    *element, initializer = taken_over(b, graph, *element, iterator.initializer)
    for _ in range(times):
        b.run(targets=[initializer])
        for _ in range(steps):
            b.run(fetches=element)
        b.run(fetches=element, error=True, says="End of sequence")


def pairs(n):
    return data.Dataset.range(n).map(lambda i: (i * i, tensorflow.strings.as_string(i), tensorflow.fill([i % 3], tensorflow.cast(i, "float32"))))


SPEC = (tensorflow.TensorSpec([], "int64"), tensorflow.TensorSpec([], "string"), tensorflow.TensorSpec([None], "float32"))


def snapshots(n=10, **options):
    """The first reading writes, the second one reads."""

    def build(b):
        with tensorflow.Graph().as_default() as graph:
            iterator = data.make_initializable_iterator(pairs(n).snapshot(fresh(b, "snapshot", n, options.get("compression", "AUTO"), *options), **options))
            element = tensorflow.nest.flatten(iterator.get_next())
        read_all(b, graph, iterator, element, n)

    return build


def saved(n=10, shards=None, compression=None):

    def build(b):
        path = fresh(b, "saved", n, shards, compression)
        with tensorflow.Graph().as_default() as graph:
            shard_func = None if shards is None else lambda i, *_: i % shards
            save = pairs(n).save(path, compression=compression, shard_func=shard_func)
            loaded = tensorflow.data.Dataset.load(path, element_spec=SPEC, compression=compression)
            iterator = data.make_initializable_iterator(loaded)
            element = tensorflow.nest.flatten(iterator.get_next())
            size = data.experimental.cardinality(loaded)
            initializer = iterator.initializer
        save_node, size_node, *nodes, initializer = taken_over(b, graph, save, size, *element, initializer)
        b.run(targets=[save_node])
        b.run(fetches=[size_node])
        b.run(targets=[initializer])
        for _ in range(n):
            b.run(fetches=nodes)
        b.run(fetches=nodes, error=True, says="End of sequence")

    return build


# --- node by node


def old_snapshot(compression="", name="", times=2, **attrs):

    def build(p):
        rows = p.op("TensorSliceDataset", [p.b.input(rand(5, 2), "float"), values(["a", "", "b" * 300, "c", "d"], "string")], types=["float", "string"], shapes=[[2], []])
        dataset = p.over("SnapshotDataset", rows, fresh(p.b, "old", compression, name, *attrs), compression=compression, snapshot_name=name, **attrs)
        for _ in range(times):
            p.read(dataset, 5)

    return program(build)


@program
def refused_snapshots(p):
    path = fresh(p.b, "refused")
    for attrs, says in ((dict(compression="ZLIB"), "compression must be either"), (dict(mode="append"), "mode must be either 'auto', 'read', 'write', or 'passthrough'"),
                        (dict(pending_snapshot_expiry_seconds=0), "pending_snapshot_expiry_seconds must be at least 1 second")):
        p.read(p.over("SnapshotDataset", p.numbers(3), path, **attrs), 0, make_error=says)
    p.read(p.over("SnapshotDataset", p.numbers(3), path, mode="read"), 0, error="Metadata file does not exist")
    p.read(p.over("SnapshotDataset", p.numbers(3), path, mode="passthrough"), 3)


def shard(p, folder, start, error=None):
    """All elements in one step, because TensorFlow's iterators reject the op."""
    rows = p.op("SnapshotDatasetReader", values(folder, "string"), n64(start), version=1, compression="")
    p.b.run(fetches=[p.single(p.over("BatchDatasetV2", rows, n64(9), False, shapes=[[None]]))], error=bool(error), says=error)


@program
def shard_readers(p):
    path = fresh(p.b, "shards")
    written = p.over("SnapshotDataset", p.numbers(5), path, snapshot_name="s", mode="write")
    folder = os.path.join(path, "custom-s", "custom")
    p.read(written, 5)
    shard(p, folder, 0)
    shard(p, folder, 2)
    shard(p, os.path.join(path, "none"), 0, error="No such file or directory")


@program
def passed_through(p):
    """SaveDatasetV2, in the way of elements; LoadDataset reads them."""
    path = fresh(p.b, "passed")
    shard = p.function(lambda i: i % 2, "int64", shapes=[[]])
    p.read(p.over("SaveDatasetV2", p.numbers(5), path, [], shard_func=shard, Tshard_func_args=[]), 5)
    first = p.function(lambda d: tensorflow.raw_ops.SnapshotDatasetReader(shard_dir="", start_index=tensorflow.constant(0, "int64"), version=2, output_types=["int64"], output_shapes=[[]]), "variant", shapes=[[]])
    p.read(p.op("LoadDataset", path, [], reader_func=first, Treader_func_args=[]), 0, make_error="No such file or directory")
    p.read(p.op("LoadDataset", path + "none", [], reader_func=first, Treader_func_args=[]), 0, make_error="Could not find metadata file")


def record_files(op, compression):

    @program
    def build(p):
        b, path = p.b, fresh(p.b, "records" + op)
        rows = p.op("TensorSliceDataset", [values(["one", "", "x" * 500], "string")], types=["string"], shapes=[[]])
        b.run(targets=[b.op(op, rows, path, compression)])
        read = b.op("TFRecordDataset", values([path], "string"), compression, n64(0))
        read.spec = (["string"], [[]])
        p.read(read, 3)

    return build


@program
def fingerprints(p):
    p.b.run(fetches=[p.b.op("DatasetFingerprint", p.numbers(3))], compare="shapes")


# --- databases


def query(op, sql, types, steps, error=None, make_error=None, driver="sqlite", shapes=None, name="rows.db"):

    @program
    def build(p):
        p.read(p.op(op, driver, database(name), sql, types=types, shapes=shapes or [[]] * len(types)), steps, error=error, make_error=make_error)

    return build


def queries(op):
    all_ = "select a, b, c, d from t"
    return [
        query(op, all_, ["int64", "string", "double", "string"], 3), query(op, all_, ["int8", "int32", "int16", "string"], 3),
        query(op, "select e, b, c, a from t", ["bool", "double", "uint8", "uint16"], 3), query(op, "select c from t", ["string"], 3),
        query(op, "select a from t where a > 5 order by a", ["int64"], 1), query(op, "select count(*), 'x' from t; select 3", ["int32", "string"], 1),
        query(op, "select a from nope", ["int64"], 0, error="no such table"), query(op, "nonsense", ["int64"], 0, error="syntax error"),
        query(op, "select a, b from t", ["int64"], 0, error="The number of columns in query"), query(op, "delete from t", ["int64"], 0, error="must match the number of"),
        query(op, "select a from t", ["float"], 0, make_error="must be one of"), query(op, "select a from t", ["int64"], 0, make_error="must be a scalar", shapes=[[1]]),
        query(op, "select a from t", ["int64"], 0, make_error="is not supported by SqlDataset", driver="mysql")]


# --- iterators for several devices


def iterator_of(p, name, devices=2):
    b = p.b
    return b.op("MultiDeviceIterator", devices=["/cpu:0"] * devices, shared_name=b.name(name), container="", output_types=["int64"], output_shapes=[[]])


def next_of(p, iterator, shard, incarnation=1, **kw):
    return p.b.op("MultiDeviceIteratorGetNextFromShard", iterator, values(shard, "int32"), n64(incarnation), output_types=["int64"], output_shapes=[[]], **kw)


@program
def in_turn(p):
    b = p.b
    iterator = iterator_of(p, "turns", 3)
    init = b.op("MultiDeviceIteratorInit", p.numbers(7), iterator, n64(2))
    b.run(fetches=[init])
    for shard in (1, 0, 2, 2, 0, 1, 0):
        b.run(fetches=[next_of(p, iterator, shard)])
    for shard in (0, 1, 2):
        b.run(fetches=[next_of(p, iterator, shard)], error=True, says="End of sequence")
    b.run(fetches=[init])
    b.run(fetches=[next_of(p, iterator, 0, 1)], error=True, says="Invalid incarnation id. Provided: 1; Expected: 2")
    b.run(fetches=[next_of(p, iterator, 0, 2), next_of(p, iterator, 1, 2)])
    handle = b.op("MultiDeviceIteratorToStringHandle", iterator)
    found = b.op("MultiDeviceIteratorFromStringHandle", handle, output_types=["int64"], output_shapes=[[]])
    b.run(fetches=[next_of(p, found, 2, 2)])
    b.run(targets=[b.op("MultiDeviceIteratorFromStringHandle", "no handle")], error=True, says="Could not parse string_handle as a valid ResourceHandle")


def anonymous(op):

    @program
    def build(p):
        b = p.b
        made = b.op(op, devices=["/cpu:0", "/cpu:0"], output_types=["int64"], output_shapes=[[]])
        init = b.op("MultiDeviceIteratorInit", p.numbers(5, 3), made, n64(1))
        b.run(fetches=[init, next_of(p, made, 0, control=[init])])
        if op == "AnonymousMultiDeviceIterator":
            taken = next_of(p, made, 0, control=[init])
            b.run(targets=[b.op("DeleteMultiDeviceIterator", made, [], made[1], N=0, control=[taken])])

    return build


def row(op, build, name=None):
    return Row(op, build=build, types=[{}], name=name)


ROWS = [
    row("SnapshotDatasetV2", snapshots(compression=None)),
    row("SnapshotDatasetV2", snapshots(compression="GZIP"), "gzip"),
    row("SnapshotDatasetV2", snapshots(), "snappy"),
    row("SnapshotDatasetV2", snapshots(n=0), "empty"),
    row("SnapshotDatasetV2", snapshots(compression=None, shard_func=lambda i, *_: i % 3), "shards"),
    row("SaveDataset", saved()),
    row("SaveDataset", saved(compression="GZIP", shards=3), "shards"),
    row("LoadDataset", saved(n=0), "empty"),
    row("SaveDatasetV2", passed_through),
    row("SnapshotDataset", old_snapshot()),
    row("SnapshotDataset", old_snapshot("GZIP"), "gzip"),
    row("SnapshotDataset", old_snapshot("SNAPPY"), "snappy"),
    # Whoever runs first writes, the other one reads it.
    row("SnapshotDataset", old_snapshot(name="mine"), "named"),
    row("SnapshotDataset", old_snapshot("GZIP", "mine"), "named_gzip"),
    row("SnapshotDataset", old_snapshot("SNAPPY", "mine"), "named_snappy"),
    row("SnapshotDataset", old_snapshot(shard_size_bytes=700, num_reader_threads=1), "files"),
    row("SnapshotDataset", refused_snapshots, "refused"),
    row("SnapshotDatasetReader", shard_readers),
    row("DatasetToTFRecord", record_files("DatasetToTFRecord", "")),
    row("DatasetToTFRecord", record_files("DatasetToTFRecord", "GZIP"), "gzip"),
    row("ExperimentalDatasetToTFRecord", record_files("ExperimentalDatasetToTFRecord", "ZLIB")),
    row("DatasetFingerprint", fingerprints),
    row("ExperimentalSqlDataset", queries("ExperimentalSqlDataset")[0]),
    row("MultiDeviceIterator", in_turn),
    row("MultiDeviceIteratorFromStringHandle", in_turn),
    row("MultiDeviceIteratorGetNextFromShard", in_turn),
    row("MultiDeviceIteratorInit", in_turn),
    row("MultiDeviceIteratorToStringHandle", in_turn),
    row("AnonymousMultiDeviceIterator", anonymous("AnonymousMultiDeviceIterator")),
    row("AnonymousMultiDeviceIteratorV3", anonymous("AnonymousMultiDeviceIteratorV3")),
    row("DeleteMultiDeviceIterator", anonymous("AnonymousMultiDeviceIterator")),
]
ROWS += [row("SqlDataset", build, "query%d" % i) for i, build in enumerate(queries("SqlDataset"))]
