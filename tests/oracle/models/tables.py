"""Models over tables: purchases and clicks."""

import tensorflow

from tests.oracle.models.model import Seeds, finish, tf


def matrix_factorisation():
    seeds = Seeds()
    user, item = tf.placeholder(tf.int32, [None], "user"), tf.placeholder(tf.int32, [None], "item")
    rating = tf.placeholder(tf.float32, [None], "rating")

    def rows(name, ids, count):
        factors = tf.get_variable(name + "_factors", [count, 8], initializer=seeds.normal(0.3))
        bias = tf.get_variable(name + "_bias", [count], initializer=tf.zeros_initializer())
        return tf.nn.embedding_lookup(factors, ids), tf.nn.embedding_lookup(bias, ids)

    (p, user_bias), (q, item_bias) = rows("user", user, 60), rows("item", item, 40)
    mean = tf.get_variable("mean", [], initializer=tf.constant_initializer(3.0))
    error = tf.reduce_sum(p * q, 1) + user_bias + item_bias + mean - rating
    loss = tf.reduce_mean(tf.square(error)) + 0.01 * (tf.nn.l2_loss(p) + tf.nn.l2_loss(q)) / 32
    train = tf.train.AdagradOptimizer(0.2).minimize(loss)
    return finish([loss, tf.sqrt(tf.reduce_mean(tf.square(error)))], train, [user, item, rating])


BUCKETS = 40


def click_inputs(batch):
    dense = tf.placeholder(tf.float32, [batch, 13], "numbers")
    words = tf.placeholder(tf.string, [batch, 26], "categories")
    label = tf.placeholder(tf.float32, [batch], "clicked")
    return dense, words, label


def wide_and_deep():
    """Cheng et al. (2016), with feature columns: FTRL for the wide part, Adagrad for the deep one."""
    seeds = Seeds()
    dense, words, label = click_inputs(16)
    names = ["c%02d" % i for i in range(26)]
    features = {name: column for name, column in zip(names, tf.split(words, 26, 1))}
    hashed = [tf.feature_column.categorical_column_with_hash_bucket(name, BUCKETS) for name in names]
    with tf.variable_scope("wide"):
        wide = tf.feature_column.linear_model(features, hashed)
    with tf.variable_scope("deep"):
        columns = [tf.feature_column.embedding_column(c, 4, initializer=seeds.normal(0.2)) for c in hashed]
        net = tf.concat([tf.math.log1p(dense), tf.feature_column.input_layer(features, columns)], 1)
        for units in (32, 16):
            net = tf.layers.dense(net, units, tf.nn.relu, kernel_initializer=seeds.glorot())
        deep = tf.layers.dense(net, 1, kernel_initializer=seeds.glorot())
    logits = tf.squeeze(wide + deep, 1)
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=label, logits=logits))
    step = tf.train.get_or_create_global_step()
    variables = lambda scope: tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope)
    updates = [
        tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.001).minimize(loss, var_list=variables("wide")),
        tf.train.AdagradOptimizer(0.05).minimize(loss, var_list=variables("deep"))]
    with tf.control_dependencies(updates):
        train = tf.assign_add(step, 1, name="train").op
    return finish(loss, train, [dense, words, label])


def deepfm():
    """Guo et al. (2017): a factorisation machine and a network over the same 26 tables."""
    seeds = Seeds()
    tf.get_variable_scope().set_use_resource(True)
    dense, words, label = click_inputs(16)
    ids = tf.unstack(tf.strings.to_hash_bucket_fast(words, BUCKETS), axis=1)
    first, vectors = [], []
    for i, column in enumerate(ids):
        weight = tf.get_variable("weight_%d" % i, [BUCKETS], initializer=tf.zeros_initializer())
        table = tf.get_variable("table_%d" % i, [BUCKETS, 4], initializer=seeds.normal(0.2))
        first.append(tf.nn.embedding_lookup(weight, column))
        vectors.append(tf.nn.embedding_lookup(table, column))
    stacked = tf.stack(vectors, 1)
    pairs = 0.5 * tf.reduce_sum(tf.square(tf.reduce_sum(stacked, 1)) - tf.reduce_sum(tf.square(stacked), 1), 1)
    numbers = tf.log1p(dense)
    net = tf.concat([numbers, tf.reshape(stacked, [-1, 26 * 4])], 1)
    for units in (32, 16):
        net = tf.layers.dense(net, units, tf.nn.relu, kernel_initializer=seeds.glorot())
    deep = tf.layers.dense(net, 1, kernel_initializer=seeds.glorot())[:, 0]
    linear = tf.layers.dense(numbers, 1, kernel_initializer=seeds.glorot())[:, 0]
    logits = tf.add_n(first) + linear + pairs + deep
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=label, logits=logits))
    return finish(loss, tf.train.AdamOptimizer(0.003).minimize(loss), [dense, words, label])


MODELS = [matrix_factorisation, wide_and_deep, deepfm]
