"""Training graphs of different kinds, built and exported by TensorFlow with their train ops.

Each function returns a Graph: what is fed, what is fetched, which ops run. Variables are fetched by reads that wait for
the train op, so that their values do not depend on timing.
"""

import dataclasses

import numpy
import tensorflow

from tests.oracle import tensorflow_side

tf = tensorflow.compat.v1
STEPS = 20


@dataclasses.dataclass
class Graph:
    """`feeds`: tensor name -> array with one row per step."""
    graph: tf.Graph
    feeds: dict
    fetches: list
    targets: list
    init: list
    alike: "Graph" = None  # the graph that TensorFlow runs instead

    def graph_def(self):
        return self.graph.as_graph_def(add_shapes=False)

    def run(self):
        """TensorFlow's values: fetch name -> array with one row per step."""
        if self.alike:
            return self.alike.run()
        results = {f: [] for f in self.fetches}
        with tf.Session(graph=self.graph, config=tensorflow_side.config()) as session:
            session.run([self.graph.get_operation_by_name(n) for n in self.init])
            targets = [self.graph.get_operation_by_name(n) for n in self.targets]
            for i in range(STEPS):
                feed = {name: rows[i] for name, rows in self.feeds.items()}
                values, _ = session.run([self.fetches, targets], feed_dict=feed)
                for name, value in zip(self.fetches, values):
                    results[name].append(value)
        return {name: numpy.stack(values) for name, values in results.items()}


def finish(loss, train, feeds, targets=()):
    """Adds the reads that follow the train op and the initialiser."""
    with tf.control_dependencies([train]):
        reads = [tf.identity(v.read_value(), name="after/" + v.op.name.replace("/", "_")) for v in tf.global_variables()]
    init = tf.global_variables_initializer()
    return Graph(tf.get_default_graph(), {t.name: rows for t, rows in feeds.items()},
                 [loss.op.outputs[0].name] + [r.name for r in reads], [train.name] + [t.name for t in targets],
                 [init.name])


def data(*shape, seed=0):
    """Rows for all steps."""
    return numpy.random.default_rng(seed).normal(size=(STEPS,) + shape).astype(numpy.float32)


def labels(*shape, classes, seed=1):
    return numpy.random.default_rng(seed).integers(0, classes, (STEPS,) + shape).astype(numpy.int32)


def variable(name, shape, resource, stddev=0.3, value=None, **kwargs):
    initializer = tf.constant_initializer(value) if value is not None else tf.truncated_normal_initializer(
        stddev=stddev, seed=len(name))
    return tf.get_variable(name, shape, initializer=initializer, use_resource=resource, **kwargs)


def linear_regression_sgd_ref():
    x, y = tf.placeholder(tf.float32, [None, 3], "x"), tf.placeholder(tf.float32, [None, 1], "y")
    w, b = variable("w", [3, 1], False), variable("b", [1], False, value=0.5)
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
    step = tf.train.get_or_create_global_step()
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
    return finish(loss, train, {x: data(8, 3), y: data(8, 1, seed=2)})


def softmax_regression_momentum_resource():
    x, y = tf.placeholder(tf.float32, [16, 10], "x"), tf.placeholder(tf.int32, [16], "y")
    w, b = variable("w", [10, 5], True), variable("b", [5], True, value=0.0)
    logits = tf.nn.bias_add(tf.matmul(x, w), b)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    train = tf.train.MomentumOptimizer(0.2, 0.9).minimize(loss)
    return finish(loss, train, {x: data(16, 10), y: labels(16, classes=5)})


def mlp_dropout_nesterov_ref():
    """Dropout draws the same random numbers on both sides; gradients of the whole graph wait for each other."""
    tf.set_random_seed(7)
    x, y = tf.placeholder(tf.float32, [None, 12], "x"), tf.placeholder(tf.float32, [None, 4], "y")
    hidden = tf.nn.relu(tf.matmul(x, variable("w1", [12, 20], False)) + variable("b1", [20], False, value=0.1))
    hidden = tf.nn.dropout(hidden, rate=0.4, seed=3)
    logits = tf.matmul(hidden, variable("w2", [20, 4], False)) + variable("b2", [4], False, value=0.0)
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.nn.softmax(y), logits=logits))
    optimizer = tf.train.MomentumOptimizer(0.1, 0.8, use_nesterov=True)
    train = optimizer.minimize(loss, gate_gradients=tf.train.Optimizer.GATE_GRAPH)
    return finish(loss, train, {x: data(10, 12), y: data(10, 4, seed=4)})


def embedding_sgd_and_adagrad_ref():
    """Two tables with sparse gradients, rows repeated, by two optimizers."""
    ids, y = tf.placeholder(tf.int32, [None, 4], "ids"), tf.placeholder(tf.float32, [None], "y")
    first, second = variable("first", [9, 3], False), variable("second", [9, 3], False)
    both = tf.nn.embedding_lookup(first, ids) * tf.gather(second, ids)
    loss = tf.reduce_mean(tf.abs(tf.reduce_sum(both, [1, 2]) - y))
    train = tf.group(tf.train.GradientDescentOptimizer(0.3).minimize(loss, var_list=[first]),
                     tf.train.AdagradOptimizer(0.2).minimize(loss, var_list=[second]), name="train")
    return finish(loss, train, {ids: labels(6, 4, classes=9), y: data(6)})


def embedding_adam_resource():
    """Adam's sparse update changes every row. The output layer shares the table with a dense
    gradient."""
    ids, y = tf.placeholder(tf.int64, [None], "ids"), tf.placeholder(tf.int32, [None], "y")
    table, out = variable("table", [11, 6], True), variable("out", [6, 3], True)
    embedded = tf.tanh(tf.nn.embedding_lookup(table, ids))
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=tf.matmul(embedded, out)))
    step = tf.train.get_or_create_global_step()
    train = tf.train.AdamOptimizer(0.05).minimize(loss, global_step=step)
    return finish(loss, train, {ids: labels(7, classes=11).astype(numpy.int64), y: labels(7, classes=3, seed=9)})


def embedding_momentum_ref():
    """A table whose gradient is the sum of two lookups and a dense part."""
    ids, more = tf.placeholder(tf.int32, [5], "ids"), tf.placeholder(tf.int32, [2, 3], "more")
    table = variable("table", [8, 4], False)
    loss = (tf.reduce_sum(tf.sigmoid(tf.gather(table, ids))) + tf.reduce_sum(tf.square(tf.gather(table, more))) +
            0.1 * tf.nn.l2_loss(table))
    train = tf.train.MomentumOptimizer(0.05, 0.7).minimize(loss)
    return finish(loss, train, {ids: labels(5, classes=8), more: labels(2, 3, classes=8, seed=3)})


def attention_adam_resource():
    """Two layers of causal attention with two heads, and one that reads another, padded sequence.
    """
    B, T, S, D = 3, 10, 7, 8
    x, memory = tf.placeholder(tf.float32, [B, T, D], "x"), tf.placeholder(tf.float32, [B, S, D], "memory")
    y = tf.placeholder(tf.int32, [B, T], "y")
    causal = tf.constant(numpy.triu(numpy.full([T, T], -1e9, numpy.float32), 1))
    padded = tf.constant((numpy.arange(B * S).reshape(B, 1, 1, S) % 7 // 5 * -1e4).astype(numpy.float32))

    def heads(net, name, rows):
        flat = tf.matmul(tf.reshape(net, [B * rows, D]), variable(name, [D, D], True))
        return tf.transpose(tf.reshape(flat, [B, rows, 2, D // 2]), [0, 2, 1, 3])

    net = x
    for i, (other, rows, mask) in enumerate([(None, T, causal), (memory, S, padded), (None, T, causal)]):
        other = net if other is None else other
        q, k, v = heads(net, "q%d" % i, T), heads(other, "k%d" % i, rows), heads(other, "v%d" % i, rows)
        scores = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / tf.sqrt(float(D // 2)) + mask)
        net += tf.reshape(tf.transpose(tf.matmul(scores, v), [0, 2, 1, 3]), [B, T, D])
    logits = tf.matmul(tf.reshape(net, [B * T, D]), variable("out", [D, 5], True))
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.reshape(y, [-1]), logits=logits))
    train = tf.train.AdamOptimizer(0.02).minimize(loss)
    return finish(loss, train, {x: data(B, T, D), memory: data(B, S, D, seed=5), y: labels(B, T, classes=5)})


def conv_net_adam_ref():
    x, y = tf.placeholder(tf.float32, [None, 8, 8, 1], "x"), tf.placeholder(tf.int32, [None], "y")
    net = tf.nn.conv2d(x, variable("c1", [3, 3, 1, 4], False), strides=[1, 1, 1, 1], padding="SAME")
    net = tf.nn.max_pool2d(tf.nn.relu(tf.nn.bias_add(net, variable("b1", [4], False, value=0.0))), 2, 2, "SAME")
    net = tf.nn.conv2d(net, variable("c2", [3, 3, 4, 5], False), strides=[1, 2, 2, 1], padding="VALID")
    net = tf.nn.avg_pool2d(tf.nn.elu(net), 1, 1, "VALID")
    flat = tf.reshape(net, [-1, 5])
    logits = tf.matmul(flat, variable("w", [5, 3], False)) + variable("b", [3], False, value=0.0)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    train = tf.train.AdamOptimizer(0.01).minimize(loss)
    return finish(loss, train, {x: data(5, 8, 8, 1), y: labels(5, classes=3)})


def batch_norm_momentum_resource():
    """Training statistics, with moving averages that are updated together with the train op."""
    x, y = tf.placeholder(tf.float32, [6, 4, 4, 3], "x"), tf.placeholder(tf.float32, [6, 3], "y")
    gamma, beta = variable("gamma", [3], True, value=1.0), variable("beta", [3], True, value=0.0)
    mean = variable("moving_mean", [3], True, value=0.0, trainable=False)
    variance = variable("moving_variance", [3], True, value=1.0, trainable=False)
    normal, batch_mean, batch_variance = tf.nn.fused_batch_norm(x, gamma, beta, epsilon=1e-3, is_training=True)
    loss = tf.reduce_mean(tf.squared_difference(tf.reduce_mean(normal, [1, 2]) * 3.0, y) +
                          0.1 * tf.reduce_sum(tf.square(tf.nn.softplus(normal)), [1, 2]))
    updates = [mean.assign_sub((mean - batch_mean) * 0.1), variance.assign_sub((variance - batch_variance) * 0.1)]
    with tf.control_dependencies(updates):
        train = tf.train.MomentumOptimizer(0.05, 0.9).minimize(loss)
    return finish(loss, train, {x: data(6, 4, 4, 3), y: data(6, 3, seed=5)})


def images(data_format):
    """Two convolutions with a shortcut, batch norm, bias and a mean over space."""
    first = data_format == "NCHW"
    steps = lambda n: [1, 1, n, n] if first else [1, n, n, 1]
    conv = lambda net, name, shape, n, padding: tf.nn.conv2d(
        net, variable(name, shape, True), strides=steps(n), padding=padding, data_format=data_format)
    x = tf.placeholder(tf.float32, [6, 3, 8, 8] if first else [6, 8, 8, 3], "x")
    y = tf.placeholder(tf.int32, [6], "y")
    stem = conv(x, "stem", [3, 3, 3, 8], 1, "SAME")
    gamma, beta = variable("gamma", [8], True, value=1.0), variable("beta", [8], True, value=0.0)
    stem = tf.nn.relu(tf.nn.fused_batch_norm(stem, gamma, beta, epsilon=1e-3, data_format=data_format)[0])
    net = tf.nn.bias_add(conv(stem, "block", [3, 3, 8, 8], 1, "SAME"), variable("bias", [8], True, value=0.1),
                         data_format=data_format)
    net = conv(tf.nn.tanh(net) + stem, "last", [1, 1, 8, 5], 2, "VALID")
    logits = tf.matmul(tf.reduce_mean(net, [2, 3] if first else [1, 2]), variable("w", [5, 3], True))
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    train = tf.train.MomentumOptimizer(0.02, 0.9).minimize(loss)
    pixels = data(6, 3, 8, 8)
    return finish(loss, train, {x: pixels if first else pixels.transpose(0, 1, 3, 4, 2), y: labels(6, classes=3)})


def channels_first_momentum_resource():
    """TensorFlow's CPU has few kernels for channels first, so it runs the same graph with channels
    last."""
    graph = images("NCHW")
    with tf.Graph().as_default():
        graph.alike = images("NHWC")
    return graph


def cond_adagrad_resource():
    """The loss takes one of two branches by the data of the step; one variable is used in one branch only."""
    x = tf.placeholder(tf.float32, [None, 4], "x")
    w, v = variable("w", [4, 2], True), variable("v", [4, 2], True)
    product = tf.matmul(x, w)
    loss = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.reduce_sum(tf.square(product)),
                   lambda: tf.reduce_sum(tf.abs(product - tf.matmul(x, v))))
    train = tf.train.AdagradOptimizer(0.1).minimize(loss)
    return finish(loss, train, {x: data(3, 4)})


def queue_sgd_ref():
    """Each step enqueues two examples into a queue that is one step ahead, and trains on two that
    it dequeues."""
    x, y = tf.placeholder(tf.float32, [2, 3], "x"), tf.placeholder(tf.float32, [2], "y")
    queue = tf.FIFOQueue(10, [tf.float32, tf.float32], shapes=[[3], []], name="examples")
    enqueue = queue.enqueue_many([x, y])
    with tf.control_dependencies([enqueue]):
        batch_x, batch_y = queue.dequeue_many(2)
    w = variable("w", [3, 1], False)
    loss = tf.reduce_mean(tf.square(tf.squeeze(tf.matmul(batch_x, w), [1]) - batch_y))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    return finish(loss, train, {x: data(2, 3), y: data(2, seed=2)}, [enqueue, queue.size().op])


def clipped_decayed_adam_resource():
    """Gradients clipped by their global norm, a decaying learning rate, and weight decay."""
    x, y = tf.placeholder(tf.float32, [None, 5], "x"), tf.placeholder(tf.float32, [None], "y")
    with tf.variable_scope("deep"):
        hidden = tf.tanh(tf.matmul(x, variable("w1", [5, 6], True)))
        out = tf.matmul(hidden, variable("w2", [6, 1], True))[:, 0]
    loss = tf.reduce_mean(tf.square(out - y)) + 0.01 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(0.05, step, decay_steps=4, decay_rate=0.8, staircase=True)
    optimizer = tf.train.AdamOptimizer(rate, beta1=0.8, epsilon=1e-6)
    grads, variables = zip(*optimizer.compute_gradients(loss))
    clipped, _ = tf.clip_by_global_norm(grads, 0.5)
    train = optimizer.apply_gradients(zip(clipped, variables), global_step=step)
    return finish(loss, train, {x: data(6, 5), y: data(6, seed=8)})


def sync_replicas_accumulators_ref():
    """Accumulators receive two parts of a batch, and their mean is applied: the subgraph of
    SyncReplicas without tokens."""
    x, y = tf.placeholder(tf.float32, [4, 3], "x"), tf.placeholder(tf.float32, [4], "y")
    w = variable("w", [3], False)
    step = tf.train.get_or_create_global_step()
    accumulator = tf.ConditionalAccumulator(tf.float32, shape=[3], name="grads")
    losses, applied = [], []
    for share in (slice(0, 2), slice(2, 4)):
        losses.append(tf.reduce_mean(tf.square(tf.reduce_sum(x[share] * w, 1) - y[share])))
        grad = tf.gradients(losses[-1], w)[0]
        applied.append(accumulator.apply_grad(grad, local_step=step))
    with tf.control_dependencies(applied):
        mean = accumulator.take_grad(2)
    train = tf.train.GradientDescentOptimizer(0.1).apply_gradients([(mean, w)], global_step=step)
    return finish(tf.add_n(losses), train, {x: data(4, 3), y: data(4, seed=6)})


def recurrent(x, y, w, u):
    """A recurrent cell over the first dimension of x, which a branch resets, as tf.while_loop and TensorArrays make it."""
    rows = tf.TensorArray(tf.float32, tf.shape(x)[0]).unstack(x)

    def body(i, out, state):
        state = tf.cond(tf.equal(i % 3, 2), lambda: 0.5 * state, lambda: state)
        state = tf.tanh(tf.matmul(rows.read(i), w) + tf.matmul(state, u))
        return i + 1, out.write(i, state), state

    start = [tf.constant(0), tf.TensorArray(tf.float32, tf.shape(x)[0]), tf.zeros([3, 4])]
    out = tf.while_loop(lambda i, *_: i < tf.shape(x)[0], body, start)[1].stack()
    return tf.reduce_mean(tf.square(out - y))


def while_loop_sgd_ref():
    x, y = tf.placeholder(tf.float32, [None, 3, 2], "x"), tf.placeholder(tf.float32, [None, 3, 4], "y")
    loss = recurrent(x, y, variable("w", [2, 4], False), variable("u", [4, 4], False))
    train = tf.train.GradientDescentOptimizer(0.3).minimize(loss)
    return finish(loss, train, {x: data(5, 3, 2), y: data(5, 3, 4, seed=2)})


def functional_while_adam_resource():
    """While, If and lists of tensors with the nodes of control flow v2, their gradients, and a
    function call."""
    tf.enable_control_flow_v2()
    try:
        x, y = tf.placeholder(tf.float32, [None, 3, 2], "x"), tf.placeholder(tf.float32, [None, 3, 4], "y")
        w, u = variable("w", [2, 4], True), variable("u", [4, 4], True)
        scaled = tensorflow.function(lambda t: tf.exp(-t) * t, autograph=False)
        loss = recurrent(scaled(x), y, w, u)
        train = tf.train.AdamOptimizer(0.05).minimize(loss)
    finally:
        tf.disable_control_flow_v2()
    return finish(loss, train, {x: data(5, 3, 2), y: data(5, 3, 4, seed=2)})


def reads_after_updates_ref():
    """Reads of references that are created before an update and used after it. TensorFlow's share
    the variable's memory."""
    x = tf.placeholder(tf.float32, [3], "x")
    w, total, table = variable("w", [3], False), variable("total", [3], False, value=0.0), variable("table", [4, 3], False)
    before = tf.multiply(w, 10.0, name="before")
    chained = tf.identity(tf.identity(w))
    average = tf.train.ExponentialMovingAverage(0.9)
    with tf.control_dependencies([tf.assign_add(w, x)]):
        added = tf.multiply(w, 10.0)
        averaged = average.apply([w])
        branch = tf.cond(tf.reduce_sum(w) > 0, lambda: chained + 1.0, lambda: w - 1.0)
        loop = tf.while_loop(lambda i, _: i < 3, lambda i, t: (i + 1, t + w), [tf.constant(0), w])[1]
        update_row = tf.scatter_update(table, [1], [w * 2.0])
    with tf.control_dependencies([added, averaged, branch, loop, update_row, before]):
        with tf.control_dependencies([tf.assign(total, total + chained)]):
            summed = total * 3.0
            rows = tf.gather(table, [0, 1])
        with tf.control_dependencies([summed, rows, tf.assign(w, w * 0.5)]):
            halved = tf.add(chained, w, name="halved")
    seen = tf.concat([before, added, branch, loop, summed, tf.reshape(rows, [-1]), halved], 0, name="seen")
    return finish(seen, halved.op, {x: data(3)})


GRAPHS = [
    reads_after_updates_ref,
    while_loop_sgd_ref,
    functional_while_adam_resource,
    linear_regression_sgd_ref, softmax_regression_momentum_resource, mlp_dropout_nesterov_ref,
    embedding_sgd_and_adagrad_ref, embedding_adam_resource, embedding_momentum_ref, attention_adam_resource,
    conv_net_adam_ref,
    batch_norm_momentum_resource, channels_first_momentum_resource, cond_adagrad_resource, queue_sgd_ref,
    clipped_decayed_adam_resource,
    sync_replicas_accumulators_ref,
]


def build(function):
    """The graph of one of GRAPHS."""
    tf.disable_v2_behavior()
    with tf.Graph().as_default():
        return function()
