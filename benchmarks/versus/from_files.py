"""Measures training from files to updates: the model wdl of demos/recommenders on a click log, in Sluice and with tf.data and a session
of TensorFlow in turn. Both run the same training graph.

    bazel build //demos/recommenders:recommender
    ~/.cache/sluice/oracle/bin/python benchmarks/versus/from_files.py --recommender bazel-bin/demos/recommenders/recommender

Prints samples per second and processor time per step, medians over the passes.
"""

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

COLUMNS = {"labels": ("float", 1), "numbers": ("float", 13), "words": ("string", 26)}


def arguments():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--recommender", required=True, help="the program //demos/recommenders:recommender")
    p.add_argument("--batch", type=int, default=512)
    p.add_argument("--steps", type=int, default=200)
    p.add_argument("--rows", type=int, default=100_000)
    p.add_argument("--passes", type=int, default=5)
    p.add_argument("--tensorflow", help="used by itself: trains TensorFlow's model from this file")
    p.add_argument("--graph", help="used by itself: the exported training graph")
    return p.parse_args()


def dataset(tf, path, batch):
    """Dictionaries of a batch's columns."""
    if path.endswith(".tfrecord"):
        lines = tf.data.TFRecordDataset(path)
        features = {n: tf.io.FixedLenFeature([width], dtype) for n, (dtype, width) in COLUMNS.items()}
        parse = lambda records: tf.io.parse_example(records, features)
    else:
        lines = tf.data.TextLineDataset(path)
        defaults = [tf.constant([], dtype) for dtype, width in COLUMNS.values() for _ in range(width)]

        def parse(text):
            fields, found = tf.io.decode_csv(text, defaults), {}
            for name, (_, width) in COLUMNS.items():
                found[name], fields = tf.stack(fields[:width], 1), fields[width:]
            return found

    return lines.shuffle(4096).repeat().batch(batch, drop_remainder=True).map(parse).prefetch(4)


def train_in_tensorflow(a):
    """Prints the samples per second of `steps` steps after the first ones."""
    import tensorflow
    tf = tensorflow.compat.v1
    tf.disable_v2_behavior()
    columns = tf.data.make_one_shot_iterator(dataset(tf, a.tensorflow, a.batch)).get_next()
    with open(a.graph, "rb") as file:
        graph_def = tf.GraphDef.FromString(file.read())
    inputs = {"labels:0": columns["labels"], "numbers:0": tf.math.log1p(columns["numbers"]),
              "words:0": tf.strings.to_hash_bucket_fast(columns["words"], 1 << 62)}
    tf.import_graph_def(graph_def, inputs, name="")
    operation = tf.get_default_graph().get_operation_by_name
    with tf.Session() as session:
        session.run(operation("init"))
        step = session.make_callable([tf.get_default_graph().get_tensor_by_name("Mean:0"), operation("Adagrad")])
        for _ in range(10):
            step()
        start, cpu = time.perf_counter(), time.process_time()
        for _ in range(a.steps):
            step()
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    print(json.dumps({"samples_per_s": a.steps * a.batch / seconds, "cpu_ms": 1e3 * cpu / a.steps}))


def children_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout


def train_in_sluice(a, folder, ending):
    """Compares a long run with a short one, because the program also evaluates and draws."""
    command = [a.recommender, "--model=wdl", "--batch=%d" % a.batch, "--log_rows=%d" % a.rows, "--format=" + ending,
               "--data=" + folder, "--out=" + folder]
    run(command + ["--steps=10"])  # writes the log
    start = children_s()
    run(command + ["--steps=10"])
    short = children_s() - start
    start = children_s()
    text = run(command + ["--steps=%d" % (a.steps + 10)])
    rate = float(re.search(r"(\d+) samples/s", text).group(1))
    return {"samples_per_s": rate, "cpu_ms": 1e3 * (children_s() - start - short) / a.steps}


def main():
    a = arguments()
    if a.tensorflow:
        train_in_tensorflow(a)
        return
    print("| files | | samples/s | processor ms per step |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        run([a.recommender, "--export_graphs=" + folder, "--batch=%d" % a.batch])
        for ending in ("tfrecord", "csv"):
            found = {"Sluice": [], "TensorFlow": []}
            for _ in range(a.passes):
                found["Sluice"].append(train_in_sluice(a, folder, ending))
                path = next(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith("train." + ending))
                found["TensorFlow"].append(json.loads(run([
                    sys.executable, __file__, "--recommender=" + a.recommender, "--tensorflow=" + path,
                    "--graph=" + os.path.join(folder, "wdl.pb"), "--batch=%d" % a.batch, "--steps=%d" % a.steps]).splitlines()[-1]))
            for peer, passes in found.items():
                median = lambda key: statistics.median(p[key] for p in passes)
                print("| %s | %s | %.0f | %.1f |" % (ending, peer, median("samples_per_s"), median("cpu_ms")), flush=True)


if __name__ == "__main__":
    main()
