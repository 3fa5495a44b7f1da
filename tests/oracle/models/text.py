"""Models of text: recurrent ones, a transformer, word vectors."""

import math

import tensorflow

from tests.oracle.models.model import Seeds, finish, tf


CHARACTERS = 128


def next_characters(batch, length):
    """Ids of characters, and those that follow them."""
    return tf.placeholder(tf.int32, [batch, length], "ids"), tf.placeholder(tf.int32, [batch, length], "next_ids")


def clipped(optimizer, loss, norm, **kwargs):
    gradients, variables = zip(*optimizer.compute_gradients(loss))
    gradients, _ = tf.clip_by_global_norm(gradients, norm)
    return optimizer.apply_gradients(zip(gradients, variables), **kwargs)


def char_lstm_static():
    """An LSTM unrolled in the graph; one-hot input; gradients clipped."""
    seeds = Seeds()
    x, y = next_characters(8, 10)
    steps = tf.unstack(tf.one_hot(x, CHARACTERS), axis=1)
    cell = tf.nn.rnn_cell.LSTMCell(24, use_peepholes=True, initializer=seeds.glorot())
    outputs, _ = tf.nn.static_rnn(cell, steps, dtype=tf.float32)
    net = tf.reshape(tf.stack(outputs, 1), [-1, 24])
    logits = tf.layers.dense(net, CHARACTERS, kernel_initializer=seeds.glorot())
    loss = tf.losses.sparse_softmax_cross_entropy(tf.reshape(y, [-1]), logits)
    return finish(loss, clipped(tf.train.AdagradOptimizer(0.1), loss, 1.0), [x, y])


def char_lstm_dynamic():
    """Two layers over sequences of different lengths, in a loop; the lengths mask the loss."""
    seeds = Seeds()
    x, y = next_characters(8, 12)
    lengths = tf.placeholder(tf.int32, [8], "lengths")
    table = tf.get_variable("embedding", [CHARACTERS, 16], initializer=seeds.uniform(0.1))
    cells = [tf.nn.rnn_cell.BasicLSTMCell(20), tf.nn.rnn_cell.GRUCell(20, kernel_initializer=seeds.glorot())]
    with tf.variable_scope("rnn", initializer=seeds.glorot()):
        outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.MultiRNNCell(cells), tf.nn.embedding_lookup(table, x), lengths,
                                       dtype=tf.float32, scope=tf.get_variable_scope())
    logits = tf.layers.dense(outputs, CHARACTERS, kernel_initializer=seeds.glorot())
    cross = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
    loss = tf.losses.compute_weighted_loss(cross, tf.sequence_mask(lengths, 12, tf.float32))
    return finish(loss, clipped(tf.train.AdamOptimizer(0.005), loss, 1.0), [x, y, lengths])


class AttentionCell(tf.nn.rnn_cell.RNNCell):
    """A GRU whose input is joined by what additive attention (Bahdanau et al., 2014) reads from the memory."""

    def __init__(self, units, memory, mask, seeds):
        super().__init__()
        self._cell = tf.nn.rnn_cell.GRUCell(units, kernel_initializer=seeds.glorot())
        self._units, self._memory, self._mask = units, memory, mask
        self._query, self._score = seeds.glorot(), seeds.glorot()
        self._keys = tf.layers.dense(memory, units, use_bias=False, kernel_initializer=seeds.glorot(), name="keys")

    state_size = property(lambda self: self._units)
    output_size = property(lambda self: 2 * self._units)

    def call(self, inputs, state):
        query = tf.layers.dense(state, self._units, kernel_initializer=self._query, name="query")
        score = tf.get_variable("score", [self._units], initializer=self._score)
        scores = tf.reduce_sum(score * tf.tanh(self._keys + tf.expand_dims(query, 1)), 2) + self._mask
        context = tf.reduce_sum(tf.expand_dims(tf.nn.softmax(scores), 2) * self._memory, 1)
        output, state = self._cell(tf.concat([inputs, context], 1), state)
        return tf.concat([output, context], 1), state


def seq2seq_attention():
    """Writes a sequence of characters backwards: a bidirectional encoder, a decoder with attention, in loops."""
    seeds = Seeds()
    x, lengths = tf.placeholder(tf.int32, [8, 9], "ids"), tf.placeholder(tf.int32, [8], "lengths")
    table = tf.get_variable("embedding", [CHARACTERS, 12], initializer=seeds.uniform(0.1))
    cells = [tf.nn.rnn_cell.GRUCell(12, kernel_initializer=seeds.glorot()) for _ in range(2)]
    outputs, states = tf.nn.bidirectional_dynamic_rnn(cells[0], cells[1], tf.nn.embedding_lookup(table, x), lengths,
                                                      dtype=tf.float32)
    memory = tf.concat(outputs, 2)
    mask = 1e9 * (tf.sequence_mask(lengths, 9, tf.float32) - 1.0)
    target = tf.reverse_sequence(x, lengths, seq_axis=1)
    fed = tf.concat([tf.zeros([8, 1], tf.int32), target[:, :-1]], 1)
    with tf.variable_scope("decoder"):
        cell = AttentionCell(24, memory, mask, seeds)
        decoded, _ = tf.nn.dynamic_rnn(cell, tf.nn.embedding_lookup(table, fed), lengths,
                                       initial_state=tf.concat(states, 1))
        logits = tf.layers.dense(decoded, CHARACTERS, kernel_initializer=seeds.glorot())
    cross = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits)
    loss = tf.losses.compute_weighted_loss(cross, tf.sequence_mask(lengths, 9, tf.float32))
    return finish(loss, clipped(tf.train.AdamOptimizer(0.01), loss, 1.0), [x, lengths])


def layer_norm(x, name):
    with tf.variable_scope(name):
        width = x.shape[-1]
        gamma = tf.get_variable("gamma", [width], initializer=tf.ones_initializer())
        beta = tf.get_variable("beta", [width], initializer=tf.zeros_initializer())
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-6)


def attention(x, heads, seeds, name):
    """Each place looks at itself and those before it."""
    length, width = x.shape.as_list()[1:]
    depth = width // heads

    def projected(part):
        y = tf.layers.dense(x, width, kernel_initializer=seeds.glorot(), name=part)
        return tf.transpose(tf.reshape(y, [-1, length, heads, depth]), [0, 2, 1, 3])

    with tf.variable_scope(name):
        query, key, value = [projected(part) for part in ("query", "key", "value")]
        scores = tf.matmul(query * depth**-0.5, key, transpose_b=True)
        allowed = tf.linalg.band_part(tf.ones([length, length]), -1, 0)
        weights = tf.nn.softmax(scores + (allowed - 1.0) * 1e9)
        joined = tf.reshape(tf.transpose(tf.matmul(weights, value), [0, 2, 1, 3]), [-1, length, width])
        return tf.layers.dense(joined, width, kernel_initializer=seeds.glorot(), name="output")


def transformer():
    """A decoder of two layers (Vaswani et al., 2017; Radford et al., 2018), its learning rate warmed up."""
    seeds = Seeds()
    tf.get_variable_scope().set_use_resource(True)
    x, y = next_characters(4, 16)
    table = tf.get_variable("embedding", [CHARACTERS, 16], initializer=seeds.normal(0.1))
    places = tf.get_variable("positions", [16, 16], initializer=seeds.normal(0.1))
    net = tf.nn.embedding_lookup(table, x) * math.sqrt(16) + places
    for layer in range(2):
        with tf.variable_scope("layer_%d" % layer):
            net += attention(layer_norm(net, "norm1"), 4, seeds, "attention")
            hidden = tf.layers.dense(layer_norm(net, "norm2"), 32, kernel_initializer=seeds.glorot(), name="hidden")
            hidden = tensorflow.nn.gelu(hidden, approximate=layer == 0)
            hidden = tf.nn.dropout(hidden, rate=0.1, seed=seeds.next())
            net += tf.layers.dense(hidden, 16, kernel_initializer=seeds.glorot(), name="narrow")
    logits = tf.tensordot(layer_norm(net, "norm"), table, [[2], [1]])
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    step = tf.train.get_or_create_global_step()
    count = tf.cast(step + 1, tf.float32)
    rate = 0.05 * tf.minimum(tf.math.rsqrt(count), count * 20**-1.5)
    train = tf.train.AdamOptimizer(rate, beta2=0.98, epsilon=1e-9).minimize(loss, global_step=step)
    return finish(loss, train, [x, y])


def word2vec(loss_function, sampler, optimizer):
    seeds = Seeds()
    x, y = tf.placeholder(tf.int32, [32], "words"), tf.placeholder(tf.int64, [32, 1], "neighbours")
    table = tf.get_variable("embedding", [300, 16], initializer=seeds.uniform(1.0))
    weights = tf.get_variable("weights", [300, 16], initializer=seeds.normal(0.25))
    biases = tf.get_variable("biases", [300], initializer=tf.zeros_initializer())
    sampled = sampler(true_classes=y, num_true=1, num_sampled=20, unique=True, range_max=300, seed=seeds.next())
    loss = tf.reduce_mean(loss_function(weights, biases, y, tf.nn.embedding_lookup(table, x), 20, 300,
                                        sampled_values=sampled))
    return finish(loss, optimizer.minimize(loss), [x, y])


def word2vec_nce():
    return word2vec(tf.nn.nce_loss, tf.random.log_uniform_candidate_sampler, tf.train.GradientDescentOptimizer(0.5))


def word2vec_sampled_softmax():
    return word2vec(tf.nn.sampled_softmax_loss, tf.random.learned_unigram_candidate_sampler,
                    tf.train.AdagradOptimizer(0.3))


MODELS = [
    char_lstm_static, char_lstm_dynamic, seq2seq_attention, transformer, word2vec_nce, word2vec_sampled_softmax,
]
