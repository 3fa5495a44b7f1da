"""Pretraining of a small transformer (BERT) from TFRecords: masked words, and whether one sentence follows another."""

import glob
import os

import numpy as np
import tensorflow

from tests.programs.text import words
from tests.programs.run import EstimatorHook

tf = tensorflow.compat.v1
LENGTH, MASKED, VOCABULARY, BATCH = 32, 5, 200, 16
HIDDEN, HEADS, LAYERS, FEED_FORWARD = 64, 4, 2, 128
PAD, CLS, SEP, MASK, FIRST = 0, 1, 2, 3, 4
NORMAL = tf.truncated_normal_initializer(stddev=0.02)


def write_records(folder):
    text = words(8000)
    ids = {word: FIRST + i for i, word in enumerate(sorted(set(text))[:VOCABULARY - FIRST])}
    text = np.array([ids.get(word, FIRST) for word in text])
    rng = np.random.RandomState(7)
    for part in range(4):
        with tf.python_io.TFRecordWriter(os.path.join(folder, "part-%d.tfrecord" % part)) as writer:
            for _ in range(150):
                writer.write(example(text, rng).SerializeToString())


def example(text, rng):
    first, second = rng.randint(8, 15), rng.randint(8, 15)
    at, follows = rng.randint(0, len(text) - 40), rng.randint(0, 2)
    other = at + first if follows else rng.randint(0, len(text) - 20)
    row = np.concatenate([[CLS], text[at:at + first], [SEP], text[other:other + second], [SEP]])
    positions = np.sort(rng.choice(np.flatnonzero(row >= FIRST), MASKED - rng.randint(0, 2), replace=False))
    padded = np.zeros(LENGTH, np.int64)
    padded[:len(row)] = row
    padded[positions] = MASK
    pad = lambda values: np.pad(values, (0, MASKED - len(positions)), "constant")
    features = {
        "input_ids": padded, "input_mask": (np.arange(LENGTH) < len(row)), "segment_ids": (np.arange(LENGTH) >= first + 2) & (np.arange(LENGTH) < len(row)),
        "masked_lm_positions": pad(positions), "masked_lm_ids": pad(row[positions]), "next_sentence_labels": [1 - follows]}
    feature = {name: tf.train.Feature(int64_list=tf.train.Int64List(value=np.asarray(v, np.int64))) for name, v in features.items()}
    feature["masked_lm_weights"] = tf.train.Feature(float_list=tf.train.FloatList(value=pad(np.ones(len(positions)))))
    return tf.train.Example(features=tf.train.Features(feature=feature))


def input_fn_builder(pattern, run):
    """As BERT's own, with the interleave that keeps an order: losses are compared."""
    lengths = {"input_ids": LENGTH, "input_mask": LENGTH, "segment_ids": LENGTH, "masked_lm_positions": MASKED, "masked_lm_ids": MASKED, "next_sentence_labels": 1}
    names = {name: tf.FixedLenFeature([length], tf.int64) for name, length in lengths.items()}
    names["masked_lm_weights"] = tf.FixedLenFeature([MASKED], tf.float32)

    def decode(record):
        parsed = tf.parse_single_example(record, names)
        return {name: tf.to_int32(t) if t.dtype == tf.int64 else t for name, t in parsed.items()}

    def input_fn():
        files = sorted(glob.glob(pattern))
        d = tf.data.Dataset.from_tensor_slices(tf.constant(files)).repeat()
        d = d.shuffle(buffer_size=len(files), seed=1 + run.replica)
        d = d.apply(tf.data.experimental.parallel_interleave(tf.data.TFRecordDataset, sloppy=False, cycle_length=2))
        d = d.shuffle(buffer_size=100, seed=2)
        return d.apply(tf.data.experimental.map_and_batch(decode, batch_size=BATCH, num_parallel_batches=2, drop_remainder=True))

    return input_fn


def layer_norm(x):
    with tf.variable_scope(None, "LayerNorm"):
        gamma = tf.get_variable("gamma", [x.shape[-1]], initializer=tf.ones_initializer())
        beta = tf.get_variable("beta", [x.shape[-1]], initializer=tf.zeros_initializer())
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-12)


def gelu(x):
    return x * 0.5 * (1.0 + tf.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * tf.pow(x, 3))))


def attention(x, mask):
    def heads(name):
        return tf.transpose(tf.reshape(tf.layers.dense(x, HIDDEN, name=name, kernel_initializer=NORMAL), [-1, LENGTH, HEADS, HIDDEN // HEADS]), [0, 2, 1, 3])
    scores = tf.matmul(heads("query"), heads("key"), transpose_b=True) / np.sqrt(HIDDEN // HEADS)
    probabilities = tf.nn.softmax(scores + (1.0 - tf.to_float(mask))[:, None, None, :] * -10000.0)
    context = tf.matmul(tf.nn.dropout(probabilities, rate=0.1), heads("value"))
    return tf.reshape(tf.transpose(context, [0, 2, 1, 3]), [-1, HIDDEN])


def transformer(features):
    """The last layer, [batch * LENGTH, HIDDEN], and the table of words."""
    with tf.variable_scope("bert"):
        table = tf.get_variable("word_embeddings", [VOCABULARY, HIDDEN], initializer=NORMAL)
        segments = tf.get_variable("token_type_embeddings", [2, HIDDEN], initializer=NORMAL)
        places = tf.get_variable("position_embeddings", [LENGTH, HIDDEN], initializer=NORMAL)
        x = tf.gather(table, features["input_ids"]) + tf.one_hot(features["segment_ids"], 2) @ segments[None] + places[None]
        x = tf.nn.dropout(layer_norm(x), rate=0.1)
        for layer in range(LAYERS):
            with tf.variable_scope("layer_%d" % layer):
                context = tf.layers.dense(attention(x, features["input_mask"]), HIDDEN, kernel_initializer=NORMAL)
                context = layer_norm(tf.nn.dropout(context, rate=0.1) + tf.reshape(x, [-1, HIDDEN]))
                net = tf.layers.dense(context, FEED_FORWARD, gelu, kernel_initializer=NORMAL)
                net = tf.nn.dropout(tf.layers.dense(net, HIDDEN, kernel_initializer=NORMAL), rate=0.1)
                x = tf.reshape(layer_norm(net + context), [-1, LENGTH, HIDDEN])
        return x, table


def masked_loss(x, table, features):
    flat = tf.reshape(features["masked_lm_positions"] + tf.range(BATCH)[:, None] * LENGTH, [-1])
    net = layer_norm(tf.layers.dense(tf.gather(tf.reshape(x, [-1, HIDDEN]), flat), HIDDEN, gelu, kernel_initializer=NORMAL))
    bias = tf.get_variable("output_bias", [VOCABULARY], initializer=tf.zeros_initializer())
    log_p = tf.nn.log_softmax(tf.nn.bias_add(tf.matmul(net, table, transpose_b=True), bias))
    one_hot = tf.one_hot(tf.reshape(features["masked_lm_ids"], [-1]), VOCABULARY)
    weights = tf.reshape(features["masked_lm_weights"], [-1])
    return tf.reduce_sum(-tf.reduce_sum(log_p * one_hot, 1) * weights) / (tf.reduce_sum(weights) + 1e-5)


def next_sentence_loss(x, features):
    pooled = tf.layers.dense(x[:, 0], HIDDEN, tf.tanh, kernel_initializer=NORMAL)
    logits = tf.layers.dense(pooled, 2, kernel_initializer=NORMAL)
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=features["next_sentence_labels"][:, 0], logits=logits))


class AdamWeightDecay(tf.train.Optimizer):
    """Adam without bias correction, with decoupled weight decay."""

    def __init__(self, rate):
        super().__init__(False, "AdamWeightDecay")
        self._rate = rate

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        updates = []
        for gradient, variable in grads_and_vars:
            zeros = lambda kind: tf.get_variable(variable.op.name + "/" + kind, variable.shape, trainable=False, initializer=tf.zeros_initializer())
            gradient = tf.convert_to_tensor(gradient)
            m, v = zeros("adam_m"), zeros("adam_v")
            next_m = 0.9 * m + 0.1 * gradient
            next_v = 0.999 * v + 0.001 * tf.square(gradient)
            update = next_m / (tf.sqrt(next_v) + 1e-6)
            if not any(part in variable.op.name for part in ("LayerNorm", "bias")):
                update += 0.01 * variable
            updates += [variable.assign(variable - self._rate * update), m.assign(next_m), v.assign(next_v)]
        return tf.group(*updates, name=name)


def model_fn(features, labels, mode):
    x, table = transformer(features)
    loss = masked_loss(x, table, features) + next_sentence_loss(x, features)
    step = tf.train.get_or_create_global_step()
    rate = tf.train.polynomial_decay(1e-3, step, 1000, 0.0)
    warm = tf.to_float(step) / 10
    rate = tf.where(step < 10, 1e-3 * warm, rate)
    variables = tf.trainable_variables()
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 1.0)
    train_op = AdamWeightDecay(rate).apply_gradients(zip(gradients, variables))
    with tf.control_dependencies([train_op]):  # without an order, the rate may be that of the next step
        train_op = step.assign_add(1)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def train(run):
    pattern = run.path("part-*.tfrecord")
    if run.is_chief and not glob.glob(pattern):
        write_records(run.folder)
    estimator = tf.estimator.Estimator(model_fn, config=run.estimator_config(save_checkpoints_steps=1000, log_step_count_steps=1000))
    estimator.train(input_fn_builder(pattern, run), hooks=[EstimatorHook(run)])
