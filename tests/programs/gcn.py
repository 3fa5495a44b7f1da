"""Semi-supervised classification of the nodes of a graph: convolutions by a sparse adjacency (Kipf and Welling, 2016)."""

import numpy as np
import tensorflow

tf = tensorflow.compat.v1
NODES, FEATURES, CLASSES, HIDDEN = 800, 200, 5, 16


def citations():
    """A graph of communities: normalized adjacency and features as sparse matrices, one-hot labels, and the nodes to train."""
    rng = np.random.RandomState(6)
    labels = rng.randint(0, CLASSES, NODES)
    same = labels[:, None] == labels[None, :]
    upper = np.triu(rng.rand(NODES, NODES) < np.where(same, 0.02, 0.001), 1)
    adjacency = (upper | upper.T).astype(np.float32) + np.eye(NODES, dtype=np.float32)
    scale = 1 / np.sqrt(adjacency.sum(1))
    adjacency = adjacency * scale[:, None] * scale[None, :]
    topics = rng.rand(CLASSES, FEATURES) < 0.1
    features = ((rng.rand(NODES, FEATURES) < 0.02) | (topics[labels] & (rng.rand(NODES, FEATURES) < 0.3))).astype(np.float32)
    features /= np.maximum(features.sum(1, keepdims=True), 1)
    return sparse(adjacency), sparse(features), np.eye(CLASSES, dtype=np.float32)[labels], (np.arange(NODES) < 100).astype(np.float32)


def sparse(matrix):
    indices = np.argwhere(matrix)
    return tf.SparseTensorValue(indices, matrix[tuple(indices.T)], matrix.shape)


def sparse_dropout(x, keep, count):
    mask = tf.cast(tf.floor(keep + tf.random_uniform([count])), tf.bool)
    return tf.sparse_retain(x, mask) * (1.0 / keep)


def glorot(name, rows, columns):
    limit = np.sqrt(6.0 / (rows + columns))
    return tf.Variable(tf.random_uniform([rows, columns], -limit, limit), name=name)


def train(run):
    adjacency_value, features_value, labels_value, mask_value = citations()
    tf.set_random_seed(1)
    adjacency, features = tf.sparse_placeholder(tf.float32), tf.sparse_placeholder(tf.float32)
    labels, mask = tf.placeholder(tf.float32, [None, CLASSES]), tf.placeholder(tf.float32, [None])
    count = tf.placeholder(tf.int32, [])
    first, second = glorot("w1", FEATURES, HIDDEN), glorot("w2", HIDDEN, CLASSES)
    hidden = tf.sparse_tensor_dense_matmul(sparse_dropout(features, 0.5, count), first)
    hidden = tf.nn.dropout(tf.nn.relu(tf.sparse_tensor_dense_matmul(adjacency, hidden)), rate=0.5)
    logits = tf.sparse_tensor_dense_matmul(adjacency, tf.matmul(hidden, second))
    cross = tf.nn.softmax_cross_entropy_with_logits_v2(logits=logits, labels=labels)
    loss = tf.reduce_mean(cross * mask / tf.reduce_mean(mask)) + 5e-4 * tf.nn.l2_loss(first)
    correct = tf.cast(tf.equal(tf.argmax(logits, 1), tf.argmax(labels, 1)), tf.float32)
    accuracy = tf.reduce_mean(correct * mask / tf.reduce_mean(mask))
    train_op = tf.train.AdamOptimizer(0.01).minimize(loss)

    feed = {adjacency: adjacency_value, features: features_value, labels: labels_value, mask: mask_value, count: len(features_value.values)}
    with tf.Session(run.target) as session:
        session.run(tf.global_variables_initializer())
        for _ in run.steps():
            _, value, _ = session.run([train_op, loss, accuracy], feed)
            run.record(value)
