"""Every op that takes a path, as a function path -> tensor or operation. Imported by attacks only, since it needs TensorFlow."""

import numpy as np
import tensorflow

tf = tensorflow.compat.v1
raw = tf.raw_ops


def _first(dataset):
    return tf.data.make_one_shot_iterator(dataset).get_next()


def _first_of(variant, dtypes=(tf.string,)):
    shapes = [tf.TensorShape(None)] * len(dtypes)
    iterator = raw.IteratorV2(shared_name="", container="", output_types=dtypes, output_shapes=shapes)
    with tf.control_dependencies([raw.MakeIterator(dataset=variant, iterator=iterator)]):
        return raw.IteratorGetNext(iterator=iterator, output_types=dtypes, output_shapes=shapes)


def _read(reader):
    def make(path):
        queue = tf.FIFOQueue(1, tf.string, [[]])
        with tf.control_dependencies([queue.enqueue(path)]):
            filled = tf.identity(queue.queue_ref)
        with tf.control_dependencies([filled]):
            return reader().read(queue)[1]

    return make


def _table(path):
    table = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(path, tf.string, 0, tf.int64, -1), -1)
    return table.initializer


def _events(path):
    writer = raw.SummaryWriter(shared_name=path, container="")
    return raw.CreateSummaryFileWriter(writer=writer, logdir=path, max_queue=1, flush_millis=1, filename_suffix="")


def _rows(path):
    return raw.LoadAndRemapMatrix(ckpt_path=path, old_tensor_name="v", row_remapping=[0], col_remapping=tf.constant([], tf.int64),
                                  initializing_values=tf.constant([], tf.float32), num_rows=1, num_cols=1)


def _skipgram(path):
    """The op is removed from graphs of newer versions, and so is its Python function."""
    graph = tf.GraphDef()
    graph.versions.producer = 18
    node = graph.node.add(name="skipgram", op="Skipgram")
    node.attr["filename"].s = path.encode()
    node.attr["batch_size"].i = 1
    return tf.import_graph_def(graph, return_elements=["skipgram:0"])[0]


def _save(path):
    """Dataset.save also makes the folder, in the client's process."""
    shard = tensorflow.function(lambda number: number).get_concrete_function(tf.TensorSpec([], tf.int64))
    return raw.SaveDataset(input_dataset=_range(), path=path, shard_func_other_args=[], shard_func=shard)


_SAVED = {"tensor_names": ["v"], "data": [[1.0]]}
_CSV = {"header": False, "field_delim": ",", "use_quote_delim": True, "na_value": "", "select_cols": np.zeros(0, np.int64),
        "record_defaults": [[""]], "output_shapes": [[]], "buffer_size": 1000, "compression_type": ""}
_NUMBERS = {"output_types": [tf.int64], "output_shapes": [[]]}
_PAIRS = {"output_types": [tf.string, tf.string], "output_shapes": [[], []]}


def _range():
    return raw.RangeDataset(start=tf.constant(0, tf.int64), stop=tf.constant(2, tf.int64), step=tf.constant(1, tf.int64), **_NUMBERS)


def _initialized(dataset):
    """The first element of a dataset whose functions a one-shot iterator could not capture."""
    iterator = tf.data.make_initializable_iterator(dataset)
    with tf.control_dependencies([iterator.initializer]):
        return iterator.get_next()


READS = {
    "ReadFile": tf.io.read_file,
    "TextLineDataset": lambda path: _first(tf.data.TextLineDataset(path)),
    "TFRecordDataset": lambda path: _first(tf.data.TFRecordDataset(path)),
    "FixedLengthRecordDataset": lambda path: _first(tf.data.FixedLengthRecordDataset(path, 1)),
    "CSVDataset": lambda path: _first_of(raw.CSVDataset(filenames=path, **_CSV)),
    "WholeFileReader": _read(tf.WholeFileReader),
    "TextLineReader": _read(tf.TextLineReader),
    "TFRecordReader": _read(tf.TFRecordReader),
    "FixedLengthRecordReader": _read(lambda: tf.FixedLengthRecordReader(1)),
    "InitializeTableFromTextFile": _table,
    "Restore": lambda path: raw.Restore(file_pattern=path, tensor_name="v", dt=tf.float32),
    "RestoreSlice": lambda path: raw.RestoreSlice(file_pattern=path, tensor_name="v", shape_and_slice="1 0,1", dt=tf.float32),
    "RestoreV2": lambda path: raw.RestoreV2(prefix=path, tensor_names=["v"], shape_and_slices=[""], dtypes=[tf.float32]),
    "LoadAndRemapMatrix": _rows,
    "GenerateVocabRemapping": lambda path: raw.GenerateVocabRemapping(
        new_vocab_file=path, old_vocab_file=path, new_vocab_offset=0, num_new_vocab=1),
    "FixedUnigramCandidateSampler": lambda path: raw.FixedUnigramCandidateSampler(
        true_classes=tf.constant([[0]], tf.int64), num_true=1, num_sampled=1, unique=False, range_max=1, vocab_file=path),
    "ImmutableConst": lambda path: raw.ImmutableConst(dtype=tf.uint8, shape=[3], memory_region_name=path),
    "Skipgram": _skipgram,
    "LMDBDataset": lambda path: _first_of(raw.LMDBDataset(filenames=path, **_PAIRS), (tf.string, tf.string)),
    "LoadDataset": lambda path: _initialized(tensorflow.data.Dataset.load(path, tf.TensorSpec([], tf.int64))),
    "SqlDataset": lambda path: _first_of(raw.SqlDataset(driver_name="sqlite", data_source_name=path, query="SELECT 1", **_NUMBERS), (tf.int64,)),
}

WRITES = {
    "WriteFile": lambda path: tf.io.write_file(path, "written"),
    "Save": lambda path: raw.Save(filename=path, **_SAVED),
    "SaveSlices": lambda path: raw.SaveSlices(filename=path, shapes_and_slices=[""], **_SAVED),
    "SaveV2": lambda path: raw.SaveV2(prefix=path, tensor_names=["v"], shape_and_slices=[""], tensors=[[1.0]]),
    "MergeV2Checkpoints": lambda path: raw.MergeV2Checkpoints(checkpoint_prefixes=[path], destination_prefix=path),
    "CacheDataset": lambda path: _first_of(raw.CacheDataset(
        input_dataset=_range(), filename=path, **_NUMBERS), (tf.int64,)),
    "CreateSummaryFileWriter": _events,
    "DatasetToTFRecord": lambda path: raw.DatasetToTFRecord(
        input_dataset=tensorflow.data.Dataset.from_tensors("written")._variant_tensor, filename=path, compression_type=""),  # pylint: disable=protected-access
    "SaveDataset": _save,
    "SnapshotDataset": lambda path: _first_of(raw.SnapshotDataset(input_dataset=_range(), path=path, **_NUMBERS), (tf.int64,)),
    "SnapshotDatasetV2": lambda path: _initialized(tensorflow.data.Dataset.range(2).snapshot(path)),
    "PrintV2": lambda path: raw.PrintV2(input="written", output_stream="file://" + path),
}

LISTS = {
    "MatchingFiles": tf.io.matching_files,
    "MatchingFilesDataset": lambda path: _first_of(raw.MatchingFilesDataset(patterns=path)),
    "RecordInput": lambda path: raw.RecordInput(file_pattern=path, batch_size=1, file_buffer_size=1, file_parallelism=1),
}


def outcome(server, make, path):
    """Runs the op in a graph of its own. Its value, or its error."""
    with tf.Graph().as_default():
        fetch = make(path)
        with tf.Session(server.target) as session:
            try:
                return session.run(fetch, options=tf.RunOptions(timeout_in_ms=20000))
            except tf.errors.OpError as error:
                return error
