"""Predicts a series with an LSTM. Halfway a new session restores variables and the position of the input."""

import numpy as np
import tensorflow

tf = tensorflow.compat.v1
WINDOW, BATCH, UNITS = 24, 16, 32


def series():
    t = np.arange(2000)
    rng = np.random.RandomState(11)
    return (np.sin(t / 7) + 0.5 * np.sin(t / 31) + 0.1 * rng.randn(len(t))).astype(np.float32)


def read():
    """Windows of the series in an order that is drawn, and what follows each."""
    values = tf.data.Dataset.from_tensor_slices(series())
    windows = values.window(WINDOW + 1, shift=3, drop_remainder=True).flat_map(lambda w: w.batch(WINDOW + 1, drop_remainder=True))
    pairs = windows.map(lambda w: (w[:-1, None], w[-1]), num_parallel_calls=2)
    return tf.data.make_initializable_iterator(pairs.shuffle(200, seed=18).repeat().batch(BATCH).prefetch(2))


def train(run):
    tf.set_random_seed(1)
    iterator = read()
    inputs, targets = iterator.get_next()
    inputs.set_shape([BATCH, WINDOW, 1])
    outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(UNITS), inputs, dtype=tf.float32)
    prediction = tf.layers.dense(outputs[:, -1], 1)[:, 0]
    loss = tf.losses.huber_loss(targets, prediction)
    step = tf.train.get_or_create_global_step()
    train_op = tf.train.AdamOptimizer(0.005).minimize(loss, step)
    tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, tf.data.experimental.make_saveable_from_iterator(iterator))
    saver = tf.train.Saver()
    path = run.path("model.ckpt")

    session = tf.Session(run.target)
    session.run([tf.global_variables_initializer(), iterator.initializer])
    for i in run.steps():
        if i == run.steps_to_run // 2:
            saver.save(session, path)
            session.close()
            tf.Session.reset(run.target)
            session = tf.Session(run.target)
            session.run(iterator.initializer)
            saver.restore(session, path)
        _, value = session.run([train_op, loss])
        run.record(value)
    session.close()
