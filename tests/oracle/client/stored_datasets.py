"""Datasets in files that one system writes and the other one reads. The scripts are like those in scripts.py."""

import os

import tensorflow

tf = tensorflow.compat.v1

SPEC = (tensorflow.TensorSpec([], tf.int64), tensorflow.TensorSpec([], tf.string), tensorflow.TensorSpec([None], tf.float32))


def elements(n=6):
    return tf.data.Dataset.range(n).map(lambda i: (i * i, tf.strings.as_string(i), tf.fill([i % 4 * 500], tf.cast(i, tf.float32))))


def all_of(target, make):
    """The elements of a dataset, in the order in which they come: their numbers, strings and sizes."""
    with tf.Graph().as_default():
        iterator = tf.data.make_initializable_iterator(make())
        number, text, row = iterator.get_next()
        found = []
        with tf.Session(target) as session:
            session.run(iterator.initializer)
            while True:
                try:
                    number_, text_, size, total = session.run([number, text, tf.size(row), tf.reduce_sum(row)])
                except tf.errors.OutOfRangeError:
                    return found
                found.append([str(number_), text_, str(size), str(total)])


def saved(target, story, folder):
    """Saved by the server and read by TensorFlow in this process, and the other way round."""
    for compression in (None, "GZIP"):
        for shards in (None, 3):
            for writer, reader, name in ((target, "", "server"), ("", target, "tensorflow"), (target, target, "both")):
                path = os.path.join(folder, "%s_%s_%s" % (name, compression, shards))
                with tf.Graph().as_default():
                    shard_func = None if shards is None else lambda number, *_: number % 3  # pylint: disable=cell-var-from-loop
                    save = elements().save(path, compression=compression, shard_func=shard_func)
                    with tf.Session(writer) as session:
                        session.run(save)
                load = lambda: tensorflow.data.Dataset.load(path, element_spec=SPEC, compression=compression)  # pylint: disable=cell-var-from-loop
                story.say("%s %s %s" % (name, compression, shards), all_of(reader, load))


def snapshots(target, story, folder):
    """The server's second reading reads files, also those of another session."""
    for compression in (None, "GZIP", "AUTO"):
        path = os.path.join(folder, "snapshot_%s" % compression)
        make = lambda: elements().snapshot(path, compression=compression)  # pylint: disable=cell-var-from-loop
        story.say("first %s" % compression, all_of(target, make))
        runs = [[run for run in os.listdir(os.path.join(path, hash_)) if run != "snapshot.metadata"] for hash_ in os.listdir(path)]
        story.say("second %s" % compression, all_of(target, make))
        story.say("another dataset %s" % compression, all_of(target, lambda: elements(3).snapshot(path)))  # pylint: disable=cell-var-from-loop
        story.say("directories %s" % compression, [len(runs), len(runs[0]), len(os.listdir(path))])


SCRIPTS = []
SCRIPTS_WITH_FILES = [saved, snapshots]
