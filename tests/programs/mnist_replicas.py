"""Images of Fashion-MNIST, between-graph replication: SyncReplicasOptimizer and Supervisor."""

import math

import numpy as np
import tensorflow

from tests.oracle.client.clusters import fashion_mnist

tf = tensorflow.compat.v1
BATCH, HIDDEN, PIXELS = 100, 128, 784


def train(run):
    images, labels = fashion_mnist("train")
    tf.set_random_seed(1)
    with run.device():
        global_step = tf.Variable(0, name="global_step", trainable=False)
        x = tf.placeholder(tf.float32, [None, PIXELS])
        y = tf.placeholder(tf.float32, [None, 10])
        hid_w = tf.Variable(tf.truncated_normal([PIXELS, HIDDEN], stddev=1.0 / 28), name="hid_w")
        hid_b = tf.Variable(tf.zeros([HIDDEN]), name="hid_b")
        sm_w = tf.Variable(tf.truncated_normal([HIDDEN, 10], stddev=1.0 / math.sqrt(HIDDEN)), name="sm_w")
        sm_b = tf.Variable(tf.zeros([10]), name="sm_b")
        hidden = tf.nn.relu(tf.nn.xw_plus_b(x, hid_w, hid_b))
        prediction = tf.nn.softmax(tf.nn.xw_plus_b(hidden, sm_w, sm_b))
        cross_entropy = -tf.reduce_mean(tf.reduce_sum(y * tf.log(tf.clip_by_value(prediction, 1e-10, 1.0)), 1))

        optimizer = tf.train.SyncReplicasOptimizer(
            tf.train.AdamOptimizer(0.01), replicas_to_aggregate=run.replicas, total_num_replicas=run.replicas, name="mnist_sync_replicas")
        train_step = optimizer.minimize(cross_entropy, global_step=global_step)
        local_init_op = optimizer.chief_init_op if run.is_chief else optimizer.local_step_init_op
        queue_runner = optimizer.get_chief_queue_runner()
        init_tokens = optimizer.get_init_tokens_op(0)  # no step begins before the update of the step before it
        supervisor = tf.train.Supervisor(
            is_chief=run.is_chief, logdir=run.path("logs"), init_op=tf.global_variables_initializer(), local_init_op=local_init_op,
            ready_for_local_init_op=optimizer.ready_for_local_init_op, recovery_wait_secs=1, global_step=global_step)

    filters = ["/job:ps", "/job:%s/task:%d" % (run.job, run.task)] if run.cluster else []
    config = tf.ConfigProto(allow_soft_placement=True, device_filters=filters)
    session = supervisor.prepare_or_wait_for_session(run.target, config=config)
    if run.is_chief:
        supervisor.start_queue_runners(session, [queue_runner])
        session.run(init_tokens)

    rng = np.random.RandomState(run.replica)
    for _ in run.steps():
        rows = rng.randint(0, len(labels), BATCH)
        _, loss = session.run([train_step, cross_entropy], {x: images[rows], y: np.eye(10)[labels[rows]]})
        run.record(loss)
