"""Paths that are URIs. The scripts are like those in scripts.py."""

import os

import tensorflow

tf = tensorflow.compat.v1


def _files(folder):
    """Makes one file of each kind, and returns the folder as a URI."""
    with open(os.path.join(folder, "lines.txt"), "w", encoding="utf-8") as out:
        out.write("a,1\nb,2\n")
    with tf.io.TFRecordWriter(os.path.join(folder, "records")) as out:
        out.write(b"first")
        out.write(b"second")
    return "file://" + folder


def _ops(uri):
    """Ops that take paths, by name."""

    def first(dataset):
        return tf.data.make_one_shot_iterator(dataset).get_next()

    def read(reader, name):
        queue = tf.FIFOQueue(1, tf.string, [[]])
        with tf.control_dependencies([queue.enqueue(uri + name)]):
            filled = tf.identity(queue.queue_ref)
        with tf.control_dependencies([filled]):
            return reader.read(queue)

    def table():
        rows = tf.lookup.TextFileInitializer(uri + "/lines.txt", tf.string, 0, tf.string, 1, delimiter=",")
        found = tf.lookup.StaticHashTable(rows, "none")
        with tf.control_dependencies([found.initializer]):
            return found.lookup(tf.constant(["b", "c"]))

    def restored(save, load):
        with tf.control_dependencies([save]):
            return load()

    raw = tf.raw_ops
    return {
        "ReadFile": lambda: tf.io.read_file(uri + "/lines.txt"),
        "WriteFile": lambda: restored(tf.io.write_file(uri + "/deep/er/out", "text"), lambda: tf.io.read_file(uri + "/deep/er/out")),
        "MatchingFiles": lambda: tf.strings.regex_replace(tf.io.matching_files(uri + "/*.txt"), "[^/]*/", ""),
        "TextLineDataset": lambda: first(tf.data.TextLineDataset(uri + "/lines.txt")),
        "TFRecordDataset": lambda: first(tf.data.TFRecordDataset(uri + "/records")),
        "FixedLengthRecordDataset": lambda: first(tf.data.FixedLengthRecordDataset(uri + "/lines.txt", 4)),
        "list_files": lambda: tf.strings.regex_replace(first(tf.data.Dataset.list_files(uri + "/*.txt")), "[^/]*/", ""),
        "WholeFileReader": lambda: read(tf.WholeFileReader(), "/lines.txt")[1],
        "TextLineReader": lambda: read(tf.TextLineReader(), "/lines.txt")[1],
        "TFRecordReader": lambda: read(tf.TFRecordReader(), "/records")[1],
        "InitializeTableFromTextFile": table,
        "Save": lambda: restored(raw.Save(filename=uri + "/old", tensor_names=["v"], data=[tf.constant(2.0)]),
                                 lambda: raw.Restore(file_pattern=uri + "/old", tensor_name="v", dt=tf.float32)),
        "SaveV2": lambda: restored(raw.SaveV2(prefix=uri + "/new/v", tensor_names=["v"], shape_and_slices=[""], tensors=[tf.constant(3.0)]),
                                   lambda: raw.RestoreV2(prefix=uri + "/new/v", tensor_names=["v"], shape_and_slices=[""], dtypes=[tf.float32])),
        "ImmutableConst": lambda: raw.ImmutableConst(dtype=tf.uint8, shape=[3], memory_region_name=uri + "/lines.txt"),
        "FixedUnigramCandidateSampler": lambda: raw.FixedUnigramCandidateSampler(
            true_classes=tf.constant([[0]], tf.int64), num_true=1, num_sampled=2, unique=False, range_max=2, vocab_file=uri + "/lines.txt"
        ).true_expected_count,
        "GenerateVocabRemapping": lambda: raw.GenerateVocabRemapping(
            new_vocab_file=uri + "/lines.txt", old_vocab_file=uri + "/lines.txt", new_vocab_offset=0, num_new_vocab=2).remapping,
    }


def local_files(target, story, folder):
    for name, make in _ops(_files(folder)).items():
        tf.reset_default_graph()
        with tf.Session(target) as session:
            story.say(name, session.run(make()))
    story.say("made", sorted(os.listdir(folder)))
    tf.Session.reset(target)


def another_host(target, story, folder):
    """TensorFlow ignores the host of a file."""
    uri = _files(folder).replace("file://", "file://localhost")
    with tf.Session(target) as session:
        story.say("read", session.run(tf.io.read_file(uri + "/lines.txt")))
        found = session.run(tf.io.matching_files(uri + "/*.txt"))
        story.say("matching", [name.decode().replace(uri, "") for name in found])


def unknown_schemes(target, story):
    for scheme in ("bogus", "FILE", "s4.x"):
        for name, make in _ops(scheme + "://host/folder").items():
            tf.reset_default_graph()
            with tf.Session(target) as session:
                story.fails("%s %s" % (scheme, name), tf.errors.UnimplementedError, "File system scheme '%s' not implemented" % scheme,
                            lambda: session.run(make()))  # pylint: disable=cell-var-from-loop
    tf.Session.reset(target)


def not_quite_uris(target, story, folder):
    with tf.Session(target) as session:
        for path in ("file:" + folder + "/a", "://x", "1a://b", "a-b://c", folder + "/b://c"):
            story.fails(path.replace(folder, ""), tf.errors.NotFoundError, "No such file or directory",
                        lambda: session.run(tf.io.read_file(path)))  # pylint: disable=cell-var-from-loop


def saver_and_events(target, story, folder):
    uri = "file://" + folder + "/model"
    v = tf.get_variable("v", initializer=tf.range(3.0))
    step = tf.train.get_or_create_global_step()
    train = tf.group(v.assign_add([1.0, 1.0, 1.0]), step.assign_add(1))
    tf.summary.scalar("sum", tf.reduce_sum(v))
    for _ in range(2):
        with tf.train.MonitoredTrainingSession(target, checkpoint_dir=uri, save_checkpoint_steps=2, save_summaries_steps=1, log_step_count_steps=None,
                                               hooks=[tf.train.StopAtStepHook(num_steps=2)]) as session:
            while not session.should_stop():
                session.run(train)
    reader = tf.train.load_checkpoint(uri)
    story.say("variable", reader.get_tensor("v"))
    story.say("step", reader.get_tensor("global_step"))
    story.say("state", os.path.basename(tf.train.latest_checkpoint(uri)))
    tf.Session.reset(target)
    raw = tf.raw_ops
    writer = raw.SummaryWriter(shared_name="events")
    made = raw.CreateSummaryFileWriter(writer=writer, logdir="file://" + folder + "/events", max_queue=1, flush_millis=1, filename_suffix="")
    written = raw.WriteScalarSummary(writer=writer, step=tf.constant(1, tf.int64), tag="a", value=5.0)
    closed = raw.CloseSummaryWriter(writer=writer)
    with tf.Session(target) as session:
        for op in (made, written, closed):
            session.run(op)
    (file,) = os.listdir(folder + "/events")
    events = tf.train.summary_iterator(os.path.join(folder, "events", file))
    story.say("events", [value.simple_value for event in events for value in event.summary.value])


SCRIPTS = [unknown_schemes]
SCRIPTS_WITH_FILES = [local_files, another_host, not_quite_uris, saver_and_events]
