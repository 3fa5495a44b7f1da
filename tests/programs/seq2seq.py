"""Reverses sequences: an encoder and a decoder with additive attention, and beam search. Control flow v2."""

import numpy as np
import tensorflow

tf = tensorflow.compat.v1
SYMBOLS, UNITS, BATCH, START, END, BEAM = 30, 48, 32, 0, 1, 3


class Decoder:
    """A GRU that reads the encoder's outputs by attention (Bahdanau et al., 2014)."""

    def __init__(self, memory, lengths):
        self._memory, self._mask = memory, tf.sequence_mask(lengths, tf.shape(memory)[1], tf.float32)
        with tf.variable_scope("decoder"):
            self._cell = tf.nn.rnn_cell.GRUCell(UNITS)
            self._embedding = tf.get_variable("embedding", [SYMBOLS, UNITS])
            self._keys = tf.get_variable("keys", [UNITS, UNITS])
            self._query = tf.get_variable("query", [UNITS, UNITS])
            self._v = tf.get_variable("v", [UNITS])
            self._output = tf.get_variable("output", [UNITS, SYMBOLS])
        self._projected = tf.tensordot(memory, self._keys, 1)

    def step(self, symbols, state):
        """Logits of the symbols that follow, and the new state."""
        with tf.variable_scope("decoder", reuse=tf.AUTO_REUSE):
            scores = tf.reduce_sum(self._v * tf.tanh(self._projected + tf.expand_dims(tf.matmul(state, self._query), 1)), 2)
            weights = tf.nn.softmax(scores + (1 - self._mask) * -1e9)
            context = tf.reduce_sum(tf.expand_dims(weights, 2) * self._memory, 1)
            inputs = tf.concat([tf.nn.embedding_lookup(self._embedding, symbols), context], 1)
            output, state = self._cell(inputs, state)
            return tf.matmul(output, self._output), state


def train_logits(decoder, state, inputs):
    """Logits for each position of `inputs`, which are given to the decoder one by one."""
    time, batch = tf.shape(inputs)[1], tf.shape(inputs)[0]
    symbols = tf.TensorArray(tf.int32, time).unstack(tf.transpose(inputs))

    def body(i, state, logits):
        step, state = decoder.step(symbols.read(i), state)
        return i + 1, tf.reshape(state, [batch, UNITS]), logits.write(i, step)

    loop = tf.while_loop(lambda i, *_: i < time, body, [0, state, tf.TensorArray(tf.float32, time)])
    return tf.transpose(loop[2].stack(), [1, 0, 2])


def beam_search(decoder, state, steps):
    """The best sequences of symbols and their log probabilities, [batch, BEAM]."""
    batch = tf.shape(state)[0] // BEAM
    first = tf.tile([[0.0] + [-1e9] * (BEAM - 1)], [batch, 1])

    def body(i, symbols, scores, ended, state, sequences):
        logits, state = decoder.step(tf.reshape(symbols, [-1]), state)
        log_p = tf.reshape(tf.nn.log_softmax(logits), [batch, BEAM, SYMBOLS])
        only_end = tf.one_hot(END, SYMBOLS, 0.0, -1e9)
        log_p = tf.where(tf.tile(tf.expand_dims(ended, 2), [1, 1, SYMBOLS]), tf.zeros_like(log_p) + only_end, log_p)
        total = tf.reshape(tf.expand_dims(scores, 2) + log_p, [batch, -1])
        scores, best = tf.nn.top_k(total, BEAM)
        parents, symbols = best // SYMBOLS, best % SYMBOLS
        state = tf.gather(tf.reshape(state, [batch, BEAM, UNITS]), parents, batch_dims=1)
        ended = tf.logical_or(tf.gather(ended, parents, batch_dims=1), tf.equal(symbols, END))
        sequences = tf.concat([tf.gather(sequences, parents, batch_dims=1), tf.expand_dims(symbols, 2)], 2)
        return i + 1, symbols, scores, ended, tf.reshape(state, [-1, UNITS]), sequences

    start = [0, tf.fill([batch, BEAM], START), first, tf.fill([batch, BEAM], False), state, tf.zeros([batch, BEAM, 0], tf.int32)]
    shapes = [tf.TensorShape([])] + [tf.TensorShape([None, BEAM])] * 3 + [tf.TensorShape([None, UNITS]), tf.TensorShape([None, BEAM, None])]
    loop = tf.while_loop(lambda i, symbols, scores, ended, *_: tf.logical_and(i < steps, tf.logical_not(tf.reduce_all(ended))), body, start, shapes)
    return loop[5], loop[2]


def examples(rng):
    """Sequences of 3 to 9 symbols, padded with END, and their lengths."""
    lengths = rng.randint(3, 10, BATCH)
    symbols = np.full([BATCH, lengths.max()], END, np.int32)
    reverse = np.full([BATCH, lengths.max() + 1], END, np.int32)
    for i, length in enumerate(lengths):
        symbols[i, :length] = rng.randint(2, SYMBOLS, length)
        reverse[i, :length] = symbols[i, :length][::-1]
    return symbols, lengths, reverse


def train(run):
    tf.enable_control_flow_v2()
    tf.set_random_seed(1)
    symbols, lengths = tf.placeholder(tf.int32, [None, None]), tf.placeholder(tf.int32, [None])
    targets = tf.placeholder(tf.int32, [None, None])
    table = tf.get_variable("encoder_embedding", [SYMBOLS, UNITS])
    memory, (forward, backward) = tf.nn.bidirectional_dynamic_rnn(
        tf.nn.rnn_cell.GRUCell(UNITS // 2), tf.nn.rnn_cell.GRUCell(UNITS // 2), tf.nn.embedding_lookup(table, symbols), lengths, dtype=tf.float32)
    memory, state = tf.concat(memory, 2), tf.concat([forward, backward], 1)
    inputs = tf.concat([tf.fill([tf.shape(targets)[0], 1], START), targets[:, :-1]], 1)
    logits = train_logits(Decoder(memory, lengths), state, inputs)
    weights = tf.sequence_mask(lengths + 1, tf.shape(targets)[1], tf.float32)
    cross = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=targets, logits=logits)
    loss = tf.reduce_sum(cross * weights) / tf.reduce_sum(weights)
    gradients, variables = zip(*tf.train.AdamOptimizer(0.005).compute_gradients(loss))
    clipped, norm = tf.clip_by_global_norm(gradients, 1.0)
    train_op = tf.train.AdamOptimizer(0.005).apply_gradients(zip(clipped, variables))
    repeat = lambda x: tf.repeat(x, BEAM, axis=0)
    with tf.variable_scope("", reuse=True):
        beams, scores = beam_search(Decoder(repeat(memory), repeat(lengths)), repeat(state), 12)

    rng = np.random.RandomState(4)
    with tf.Session(run.target) as session:
        session.run(tf.global_variables_initializer())
        for _ in run.steps():
            batch = dict(zip([symbols, lengths, targets], examples(rng)))
            _, value, _ = session.run([train_op, loss, norm], batch)
            run.record(value)
        found, log_p = session.run([beams, scores], batch)
        run.result("beams", found[:4].tolist())
        run.result("log probabilities", log_p.tolist())
