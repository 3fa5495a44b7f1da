"""Word vectors of a text: skip-grams and noise-contrastive estimation."""

import collections

import numpy as np
import tensorflow

from tests.programs.text import words

tf = tensorflow.compat.v1
BATCH, DIMENSIONS, SAMPLED, VOCABULARY, WINDOW = 128, 64, 32, 250, 2


def read(text):
    """The text as ids, the most frequent word first. Rare words are 0."""
    counts = collections.Counter(text).most_common(VOCABULARY - 1)
    ids = {word: i + 1 for i, (word, _) in enumerate(counts)}
    return np.array([ids.get(word, 0) for word in text])


def train(run):
    ids = read(words(20000))
    tf.set_random_seed(1)
    inputs, labels = tf.placeholder(tf.int32, [BATCH]), tf.placeholder(tf.int32, [BATCH, 1])
    embeddings = tf.Variable(tf.random_uniform([VOCABULARY, DIMENSIONS], -1.0, 1.0))
    embed = tf.nn.embedding_lookup(embeddings, inputs)
    weights = tf.Variable(tf.truncated_normal([VOCABULARY, DIMENSIONS], stddev=1.0 / 8))
    biases = tf.Variable(tf.zeros([VOCABULARY]))
    loss = tf.reduce_mean(tf.nn.nce_loss(weights, biases, labels, embed, SAMPLED, VOCABULARY))
    train_op = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
    normalized = embeddings / tf.sqrt(tf.reduce_sum(tf.square(embeddings), 1, keepdims=True))
    similarity = tf.matmul(tf.nn.embedding_lookup(normalized, tf.range(1, 9)), normalized, transpose_b=True)
    nearest = tf.nn.top_k(similarity, 4)

    rng = np.random.RandomState(2)
    with tf.Session(run.target) as session:
        session.run(tf.global_variables_initializer())
        for _ in run.steps():
            centers = rng.randint(WINDOW, len(ids) - WINDOW, BATCH)
            offsets = rng.choice([-2, -1, 1, 2], BATCH)
            _, value = session.run([train_op, loss], {inputs: ids[centers], labels: ids[centers + offsets][:, None]})
            run.record(value)
        values, indices = session.run(nearest)
        run.result("nearest words", indices.tolist())
        run.result("similarities", values.tolist())
