"""Recommenders with feature columns, as Estimators: DeepFM, DIN and MMoE."""

import os

import numpy as np
import tensorflow

from tests.programs.run import EstimatorHook

tf = tensorflow.compat.v1
columns = tensorflow.feature_column
USERS, ITEMS, CATEGORIES, HISTORY, SIZE, BATCH = 200, 300, 20, 10, 8, 64
CITIES = ["city-%d" % i for i in range(12)]


def write_clicks(path):
    """tf.Examples: a user, an item, what the user has clicked before, and whether the user clicks and buys it."""
    rng = np.random.RandomState(8)
    taste, kind = rng.randint(0, CATEGORIES, USERS), rng.randint(0, CATEGORIES, ITEMS)
    integers = lambda values: tf.train.Feature(int64_list=tf.train.Int64List(value=values))
    with tf.python_io.TFRecordWriter(path + ".new") as writer:
        for _ in range(2000):
            user, item = rng.randint(0, USERS), rng.randint(0, ITEMS)
            past = rng.randint(0, ITEMS, rng.randint(1, HISTORY + 1))
            click = int((kind[item] == taste[user]) or (kind[item] in kind[past]) or rng.rand() < 0.2)
            writer.write(tf.train.Example(features=tf.train.Features(feature={
                "user": integers([user]), "item": integers([item]), "category": integers([kind[item]]),
                "city": tf.train.Feature(bytes_list=tf.train.BytesList(value=[CITIES[user % 12].encode()])),
                "age": tf.train.Feature(float_list=tf.train.FloatList(value=[rng.randint(18, 80)])),
                "past_items": integers(past), "past_categories": integers(kind[past]),
                "click": integers([click]), "buy": integers([click * rng.randint(0, 2)])})).SerializeToString())
    os.rename(path + ".new", path)


PARSED = {
    "user": tf.FixedLenFeature([1], tf.int64), "item": tf.FixedLenFeature([1], tf.int64), "category": tf.FixedLenFeature([1], tf.int64),
    "city": tf.FixedLenFeature([1], tf.string), "age": tf.FixedLenFeature([1], tf.float32),
    "past_items": tf.VarLenFeature(tf.int64), "past_categories": tf.VarLenFeature(tf.int64),
    "click": tf.FixedLenFeature([1], tf.int64), "buy": tf.FixedLenFeature([1], tf.int64)}


def input_fn_builder(path, run):
    def parse(batch):
        features = tf.parse_example(batch, PARSED)
        return features, {name: tf.to_float(features.pop(name)) for name in ("click", "buy")}

    def input_fn():
        dataset = tf.data.TFRecordDataset(path).shard(run.replicas, run.replica).shuffle(500, seed=3).repeat()
        return dataset.batch(BATCH, drop_remainder=True).map(parse, num_parallel_calls=2).prefetch(2)

    return input_fn


def base_columns():
    return [columns.categorical_column_with_identity("user", USERS), columns.categorical_column_with_identity("item", ITEMS),
            columns.categorical_column_with_identity("category", CATEGORIES),
            columns.categorical_column_with_vocabulary_list("city", CITIES),
            columns.bucketized_column(columns.numeric_column("age"), [20, 30, 40, 50, 60])]


def tower(net, units, training=True):
    """Dense layers with batch normalization, whose biases have gradients that are rounding errors."""
    for size in units:
        net = tf.nn.relu(tf.layers.batch_normalization(tf.layers.dense(net, size), training=training))
    return net


def deepfm(features):
    linear = tf.feature_column.linear_model(features, base_columns())
    embedded = [tf.feature_column.input_layer(features, columns.embedding_column(c, SIZE)) for c in base_columns()]
    fields = tf.stack(embedded, 1)
    pairs = 0.5 * tf.reduce_sum(tf.square(tf.reduce_sum(fields, 1)) - tf.reduce_sum(tf.square(fields), 1), 1, keepdims=True)
    deep = tf.layers.dense(tower(tf.concat(embedded, 1), [64, 32]), 1)
    return {"click": linear + pairs + deep}


def din(features):
    """Attention of the item to the items of the past (Zhou et al., 2018)."""
    items = tf.get_variable("items", [ITEMS, SIZE], initializer=tf.truncated_normal_initializer(stddev=0.3))
    kinds = tf.get_variable("kinds", [CATEGORIES, SIZE], initializer=tf.truncated_normal_initializer(stddev=0.3))
    embed = lambda item, kind: tf.concat([tf.nn.embedding_lookup(items, item), tf.nn.embedding_lookup(kinds, kind)], -1)
    past_items, past_kinds = (tf.sparse_tensor_to_dense(features[name]) for name in ("past_items", "past_categories"))
    lengths = tf.bincount(tf.to_int32(features["past_items"].indices[:, 0]), minlength=BATCH)
    query = embed(features["item"][:, 0], features["category"][:, 0])
    keys = embed(past_items, past_kinds)
    queries = tf.tile(query[:, None], [1, tf.shape(keys)[1], 1])
    net = tf.concat([queries, keys, queries - keys, queries * keys], -1)
    net = tf.layers.dense(tf.layers.dense(net, 32, tf.nn.sigmoid), 16, tf.nn.sigmoid)
    scores = tf.transpose(tf.layers.dense(net, 1), [0, 2, 1])
    mask = tf.sequence_mask(lengths, tf.shape(keys)[1])[:, None]
    weights = tf.nn.softmax(tf.where(mask, scores, tf.fill(tf.shape(scores), -2.0**32 + 1)) / np.sqrt(2 * SIZE))
    interest = tf.matmul(weights, keys)[:, 0]
    user = tf.feature_column.input_layer(features, [columns.embedding_column(c, SIZE) for c in base_columns()])
    return {"click": tf.layers.dense(tower(tf.concat([user, query, interest], 1), [64, 32]), 1)}


def mmoe(features):
    """Experts that two tasks mix by gates (Ma et al., 2018)."""
    net = tf.feature_column.input_layer(features, [columns.embedding_column(c, SIZE) for c in base_columns()])
    experts = tf.stack([tower(net, [32]) for _ in range(4)], 1)
    logits = {}
    for task in ("click", "buy"):
        gate = tf.nn.softmax(tf.layers.dense(net, 4))
        logits[task] = tf.layers.dense(tower(tf.reduce_sum(gate[:, :, None] * experts, 1), [16]), 1)
    return logits


MODELS = {"deepfm": deepfm, "din": din, "mmoe": mmoe}


def train(run, name):
    path = run.path("clicks.tfrecord")
    if not os.path.exists(path):
        write_clicks(path)

    def model_fn(features, labels, mode):
        losses = [tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels[task], logits=logits)) for task, logits in MODELS[name](features).items()]
        loss = tf.add_n(losses)
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            train_op = tf.train.AdamOptimizer(0.001).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    estimator = tf.estimator.Estimator(model_fn, config=run.estimator_config(save_checkpoints_steps=1000, log_step_count_steps=1000))
    estimator.train(input_fn_builder(path, run), hooks=[EstimatorHook(run)])
