"""Characters of a text: a stacked LSTM whose state goes from batch to batch, and a sampled text."""

import numpy as np
import tensorflow

from tests.programs.text import words

tf = tensorflow.compat.v1
BATCH, LENGTH, UNITS = 20, 25, 96


class Model:

    def __init__(self, characters, batch, length):
        self.inputs = tf.placeholder(tf.int32, [batch, length])
        self.targets = tf.placeholder(tf.int32, [batch, length])
        cells = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(UNITS) for _ in range(2)])
        self.initial_state = cells.zero_state(batch, tf.float32)
        with tf.variable_scope("rnnlm"):
            softmax_w = tf.get_variable("softmax_w", [UNITS, characters])
            softmax_b = tf.get_variable("softmax_b", [characters])
            embedding = tf.get_variable("embedding", [characters, UNITS])
            inputs = tf.nn.embedding_lookup(embedding, self.inputs)
            outputs, self.final_state = tf.nn.dynamic_rnn(cells, inputs, initial_state=self.initial_state)
        logits = tf.matmul(tf.reshape(outputs, [-1, UNITS]), softmax_w) + softmax_b
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.reshape(self.targets, [-1]), logits=logits)
        self.loss = tf.reduce_mean(losses)
        self.sample = tf.random.categorical(logits, 1, seed=11)

    def minimize(self):
        rate = tf.Variable(0.01, trainable=False)
        variables = tf.trainable_variables()
        gradients, _ = tf.clip_by_global_norm(tf.gradients(self.loss, variables), 5.0)
        return rate, tf.train.AdamOptimizer(rate).apply_gradients(zip(gradients, variables))


def train(run):
    text = " ".join(words(10000))
    characters = sorted(set(text))
    ids = np.array([characters.index(c) for c in text])
    rows = ids[:len(ids) // BATCH * BATCH].reshape(BATCH, -1)
    tf.set_random_seed(1)
    model = Model(len(characters), BATCH, LENGTH)
    rate, train_op = model.minimize()
    with tf.variable_scope("", reuse=True):
        sampler = Model(len(characters), 1, 1)
    decay = tf.assign(rate, rate * 0.97)

    with tf.Session(run.target) as session:
        session.run(tf.global_variables_initializer())
        state = session.run(model.initial_state)
        for step in run.steps():
            at = step * LENGTH % (rows.shape[1] - LENGTH - 1)
            feed = {model.inputs: rows[:, at:at + LENGTH], model.targets: rows[:, at + 1:at + LENGTH + 1]}
            for (c, h), value in zip(model.initial_state, state):
                feed[c], feed[h] = value.c, value.h
            loss, state, _ = session.run([model.loss, model.final_state, train_op], feed)
            run.record(loss)
            if step % 10 == 9:
                session.run(decay)
        run.result("text", sample(session, sampler, characters))


def sample(session, sampler, characters):
    state, character, text = session.run(sampler.initial_state), 0, ""
    for _ in range(20):
        feed = {sampler.inputs: [[character]]}
        for (c, h), value in zip(sampler.initial_state, state):
            feed[c], feed[h] = value.c, value.h
        character, state = session.run([sampler.sample, sampler.final_state], feed)
        character = int(character[0, 0])
        text += characters[character]
    return text
