"""The graphs that both sides run: make_graphs.py FOLDER. Replicas of synchronous training, and steps over two tasks."""
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)
BATCH = 32
WORKER, PS = "/job:worker/task:0/cpu:0", "/job:ps/task:0/cpu:0"
LAYERS = {"logistic": [784, 10], "mlp": [784, 512, 512, 10]}


def write(folder, name):
    with open(os.path.join(folder, name), "wb") as f:
        f.write(tf.get_default_graph().as_graph_def().SerializeToString(deterministic=True))


def replica(folder, model, workers, index):
    tf.reset_default_graph()
    tf.set_random_seed(1)
    cluster = tf.train.ClusterSpec({"ps": ["a:1"], "worker": [f"a:{2 + i}" for i in range(workers)]})
    with tf.device(tf.train.replica_device_setter(worker_device=f"/job:worker/task:{index}", cluster=cluster)):
        step = tf.train.get_or_create_global_step()
        x = h = tf.placeholder(tf.float32, [BATCH, 784], "x")
        y = tf.placeholder(tf.int32, [BATCH], "y")
        sizes = LAYERS[model]
        for i, (rows, columns) in enumerate(zip(sizes, sizes[1:])):
            initial = tf.truncated_normal_initializer(stddev=1 / np.sqrt(rows), seed=3)
            w = tf.get_variable(f"fc{i}/w", [rows, columns], tf.float32, initial, use_resource=False)
            b = tf.get_variable(f"fc{i}/b", [columns], tf.float32, tf.zeros_initializer(), use_resource=False)
            h = tf.nn.bias_add(tf.matmul(h, w), b)
            if i < len(sizes) - 2:
                h = tf.nn.relu(h)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=h))
        sync = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.01), replicas_to_aggregate=workers, total_num_replicas=workers)
        train = sync.minimize(loss, global_step=step)
    local = sync.chief_init_op if index == 0 else sync.local_step_init_op
    tokens, queue = (sync.get_init_tokens_op().name, sync.get_chief_queue_runner().enqueue_ops[0].name) if index == 0 else ("-", "-")
    name = f"{model}_{workers}_{index}"
    init = tf.global_variables_initializer().name
    write(folder, name + ".pb")
    with open(os.path.join(folder, name + ".meta"), "w") as f:
        f.write("\n".join([init, local.name.split(":")[0], tokens, queue, train.name.split(":")[0], f"f32:{BATCH}x784:normal", f"i32:{BATCH}:uniform(10)"]) + "\n")


def variable(elements, use):
    with tf.device(PS):
        return tf.get_variable(f"v_{use}_{elements}", [elements] if elements else [], tf.float32, tf.ones_initializer(), use_resource=False)


def noop():
    with tf.device(PS):
        return None, tf.no_op("noop").name


def fetch(elements):
    v = variable(elements, "fetched")
    with tf.device(WORKER):
        return tf.identity(v).name, None


def between_tasks(elements):
    """All of it goes to the worker; one element goes on to the client."""
    v = variable(elements, "moved")
    with tf.device(WORKER):
        return tf.gather(tf.identity(v), tf.constant(5)).name, None


def main(folder):
    os.makedirs(folder, exist_ok=True)
    for model in LAYERS:
        for workers in (2, 4):
            for index in range(workers):
                replica(folder, model, workers, index)
    cases = [("noop", noop, 0), ("scalar", lambda: fetch(0), 0), ("1MB_between_tasks", lambda: between_tasks(1 << 18), 1 << 20),
             ("64MB_between_tasks", lambda: between_tasks(1 << 24), 1 << 26), ("64MB_to_client", lambda: fetch(1 << 24), 1 << 26)]
    rows = []
    for name, build, size in cases:
        tf.reset_default_graph()
        fetched, target = build()
        init = tf.global_variables_initializer().name if tf.global_variables() else "-"
        write(folder, f"{name}.pb")
        rows.append("\t".join([name, f"{name}.pb", init, fetched or "-", target or "-", str(size)]))
    with open(os.path.join(folder, "manifest.tsv"), "w") as f:
        f.write("\n".join(rows) + "\n")


main(sys.argv[1])
