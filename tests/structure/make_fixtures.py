"""Writes fixtures.txt: graphs that TensorFlow's Python functions make, as text; the tests in C++ beside this file build the same.

    <oracle's python> tests/structure/make_fixtures.py > tests/structure/fixtures.txt

fixtures_test.py holds the file against what TensorFlow makes today.

A line is a node: `name Op(inputs, ^controls) @device class=… value=… shared_name=… capacity=…`, sorted by name; `== title` begins a graph.
"""
import os
from unittest import mock
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.python.ops import gradients_util

tf.disable_v2_behavior()
tf.disable_control_flow_v2()
tf.logging.set_verbosity(tf.logging.FATAL)


def number(v):
    if isinstance(v, bytes):
        return v.decode()
    if isinstance(v, (bool, np.bool_)):
        return "1" if v else "0"
    return "%.6g" % v


def value(proto):
    array = tf.make_ndarray(proto)
    shape = ",".join(map(str, array.shape))
    values = " ".join(number(v) for v in array.reshape(-1)[:8])
    name = {"float32": "float", "float64": "double"}.get(tf.as_dtype(proto.dtype).name, tf.as_dtype(proto.dtype).name)
    return "%s[%s]{%s}" % (name, shape, values)


def line(node):
    data = [i for i in node.input if not i.startswith("^")]
    controls = sorted(i for i in node.input if i.startswith("^"))
    text = "%s %s(%s)" % (node.name, node.op, ", ".join(data + controls))
    if node.device:
        text += " @" + node.device
    if node.attr["_class"].list.s:
        text += " class=" + ",".join(sorted(s.decode() for s in node.attr["_class"].list.s))
    if "value" in node.attr:
        text += " value=" + value(node.attr["value"].tensor)
    for attr in ("shared_name", "capacity"):
        if attr in node.attr and (node.attr[attr].s or node.attr[attr].i):
            text += " %s=%s" % (attr, node.attr[attr].s.decode() or node.attr[attr].i)
    if "seed" in node.attr:
        text += " seeds=%d,%d" % (node.attr["seed"].i, node.attr["seed2"].i)
    return text


CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


def matrix(name="x"):
    return tf.placeholder(tf.float32, [None, 3], name)


@case
def operators():
    x, y = matrix(), matrix("y")
    i = tf.placeholder(tf.int32, [3], "i")
    x + 1.0, 1.0 - x, x / y, -x, 2 * x, x * y, x / 2, i / 2, i % 2, i + 1
    with tf.name_scope("inner"):
        (x - y) * 3.0


@case
def reductions():
    x, z = matrix(), tf.placeholder(tf.float32, None, "z")
    tf.reduce_mean(x)
    tf.reduce_mean(x, 0)
    tf.reduce_sum(x, [0, 1], keepdims=True)
    tf.reduce_max(x, axis=-1, name="m")
    tf.reduce_sum(x, name="s")
    tf.reduce_prod(z)


@case
def shapes():
    x, n = matrix(), tf.placeholder(tf.int32, [], "n")
    p = tf.placeholder(tf.float32, [2, 3], "p")
    tf.reshape(x, [-1])
    tf.reshape(x, [0, 3], name="r")
    tf.transpose(x, [1, 0])
    tf.transpose(x)
    tf.concat([x, x], 0)
    tf.split(x, 3, axis=1)
    tf.split(x, [1, 2], 1)
    tf.tile(x, [2, 1])
    tf.pad(x, [[0, 1], [1, 0]])
    tf.slice(x, [0, 0], [1, 2])
    tf.fill([2, 3], 1.0)
    tf.zeros([2, 3])
    tf.ones([2], tf.int64)
    tf.zeros([100, 100])
    tf.one_hot(n, 4)
    tf.expand_dims(x, 0)
    tf.stack([x, x])
    tf.unstack(p)
    tf.unstack(p, axis=1, name="us")
    tf.gather(x, n, axis=1)
    tf.argmax(x, 1)
    tf.range(n)
    tf.shape(x), tf.shape(p), tf.size(x), tf.size(p), tf.rank(x)
    tf.placeholder(tf.float32, [2])[0]


@case
def random():
    tf.set_random_seed(7)
    tf.random_uniform([2], -1.0, 1.0)
    tf.random_normal([2], 0.0, 1.0)
    tf.random_uniform([2], -1.0, 1.0, seed=3)
    tf.truncated_normal([2, 3], 0.0, 2.0)


def variables(use_resource):
    get = lambda *a, **k: tf.get_variable(*a, use_resource=use_resource, **k)
    w = get("w", [3, 2])
    get("b", [3], initializer=tf.zeros_initializer())
    get("o", [3], initializer=tf.ones_initializer(), trainable=False)
    get("c", [], initializer=tf.constant_initializer(0.5), dtype=tf.float64)
    get("c2", [2, 2], initializer=tf.constant_initializer(0.5))
    get("r", [3], initializer=tf.random_uniform_initializer(-1, 1, seed=5))
    get("n", [3], initializer=tf.random_normal_initializer())
    get("t", [3, 4], initializer=tf.truncated_normal_initializer(stddev=.1))
    get("gn", [3, 4], initializer=tf.glorot_normal_initializer())
    get("vs", [3, 3, 4, 5], initializer=tf.variance_scaling_initializer())
    get("big", [100, 100], initializer=tf.zeros_initializer())
    with tf.device("/job:ps/task:1"):
        tf.Variable([1., 2.], name="d", use_resource=use_resource)
    with tf.name_scope("s"):
        tf.Variable(3.0, name="v", use_resource=use_resource, trainable=False)
    tf.global_variables_initializer()
    tf.report_uninitialized_variables().mark_used()
    tf.train.get_or_create_global_step()


@case
def ref_variables():
    tf.disable_resource_variables()
    variables(False)


@case
def resource_variables():
    tf.enable_resource_variables()
    variables(True)


@case
def ref_updates():
    tf.disable_resource_variables()
    with tf.device("/job:ps"):
        v = tf.Variable([1., 2.], name="v")
    with tf.device("/job:worker"):
        v + 1.0
        v.assign_add([1., 1.])
        tf.assign_add(v, v)
        tf.assign(v, v * 2.0, name="named")
        tf.is_variable_initialized(v)


@case
def groups():
    a = tf.constant(1.)
    with tf.device("/job:ps"):
        b, d = tf.constant(2., name="b"), tf.no_op()
    with tf.device("/job:w"):
        c = tf.constant(3., name="c")
    tf.group(a, b, c, d)
    tf.group(a, name="g")
    tf.group(name="none")
    tf.group(b, d)


def cond_graph(x, y, pred):
    return tf.cond(pred, lambda: x + y, lambda: x * 2.0)


@case
def cond():
    pred = tf.placeholder(tf.bool, [], "p")
    x, y = tf.placeholder(tf.float32, [2], "x"), tf.placeholder(tf.float32, [2], "y")
    tf.gradients(cond_graph(x, y, pred), [x, y])


@case
def nested_cond():
    p, q = tf.placeholder(tf.bool, [], "p"), tf.placeholder(tf.bool, [], "q")
    x, y = tf.placeholder(tf.float32, [2], "x"), tf.placeholder(tf.float32, [2], "y")
    inner = lambda: tf.cond(q, lambda: [x * y, tf.constant(1.0)], lambda: [tf.identity(y), tf.constant(2.0)])
    r = tf.cond(p, inner, lambda: [x, tf.constant(3.0)], name="outer")
    tf.gradients(r[0], [x, y])


@case
def cond_of_variables():
    p, x = tf.placeholder(tf.bool, [], "p"), tf.placeholder(tf.float32, [2], "x")
    w = tf.Variable([1., 2.], name="w", use_resource=False)
    v = tf.Variable([1., 2.], name="v", use_resource=True)
    def true_branch():
        with tf.control_dependencies([tf.assign(w, x)]):
            return tf.identity(x)
    r = tf.cond(p, true_branch, lambda: w * v.value())
    tf.gradients(r, [w, v.handle, x])


@case
def cond_of_operations():
    p, x = tf.placeholder(tf.bool, [], "p"), tf.placeholder(tf.float32, [2], "x")
    tf.cond(p, lambda: tf.no_op(), lambda: tf.group(x))


@case
def gradients_of_linear_regression():
    tf.disable_resource_variables()
    x, y = matrix(), tf.placeholder(tf.float32, [None, 1], "y")
    w = tf.Variable([[1.], [2.], [3.]], name="w")
    b = tf.Variable([0.5], name="b")
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
    tf.gradients(loss, [w, b], gate_gradients=True)


@case
def gradients_of_resource_variables():
    tf.enable_resource_variables()
    x = matrix()
    w = tf.Variable([[1.], [2.], [3.]], name="w")
    e = tf.Variable([[1., 2., 3.], [4., 5., 6.]], name="e")
    rows = tf.gather(e, tf.placeholder(tf.int32, [None], "ids"))
    tf.gradients(tf.reduce_sum(tf.matmul(rows * x, w.value())), [w.handle, e.handle])


@case
def gradients_add_up():
    x = tf.placeholder(tf.float32, [2], "x")
    y = tf.tanh(x)
    tf.gradients(y * y + tf.exp(y), x)


@case
def gradients_add_up_as_a_tree():
    x = tf.placeholder(tf.float32, [2], "x")
    y = tf.tanh(x)
    tf.gradients(y * y + tf.exp(y), x, aggregation_method=tf.AggregationMethod.EXPERIMENTAL_TREE)


@case
def gradients_accumulate_n_of_two():
    x = tf.placeholder(tf.float32, [2], "x")
    y = tf.tanh(x)
    tf.gradients(tf.sin(y) + tf.exp(y), x, aggregation_method=tf.AggregationMethod.EXPERIMENTAL_ACCUMULATE_N)


@case
def gradients_accumulate_n_of_an_unknown_shape():
    x = matrix()
    y = tf.tanh(x)
    tf.gradients(y * y + tf.exp(y), x, aggregation_method=tf.AggregationMethod.EXPERIMENTAL_ACCUMULATE_N)


@case
def gradients_accumulate_n():
    """TensorFlow 1.15's sum of more than two tensors of known shape; TensorFlow 2 builds an AddN or
    a tree instead."""
    accumulate = lambda tensors, _: tf.raw_ops.AccumulateNV2(inputs=tensors, shape=gradients_util._AccumulatorShape(tensors))
    x = tf.placeholder(tf.float32, [2], "x")
    y = tf.tanh(x)
    with mock.patch.object(gradients_util, "_MultiDeviceAddN", accumulate):
        tf.gradients(y * y + tf.exp(y), x)


@case
def gradients_of_rows_add_up():
    tf.disable_resource_variables()
    w = tf.Variable(np.zeros([4, 2], np.float32), name="w")
    i, j = tf.placeholder(tf.int32, [3], "i"), tf.placeholder(tf.int32, [3], "j")
    tf.gradients(tf.gather(w, i) * tf.gather(w, j), w)


@case
def gradients_of_rows_and_dense_add_up():
    tf.disable_resource_variables()
    w = tf.Variable(np.zeros([4, 2], np.float32), name="w")
    i = tf.placeholder(tf.int32, [3], "i")
    tf.gradients(tf.reduce_sum(tf.gather(w, i)) + tf.reduce_sum(w), w)


@case
def gradients_of_a_branching_op():
    x = matrix()
    a, b, c = tf.split(x, 3, axis=1)
    tf.gradients([a * 2.0, c], x, grad_ys=[None, tf.placeholder(tf.float32, [None, 1], "g")])


@case
def gradients_stop():
    x = tf.placeholder(tf.float32, [2], "x")
    y = tf.exp(x)
    z = tf.sin(y) * x
    tf.gradients(z, [x, y], stop_gradients=[y])
    tf.gradients(tf.stop_gradient(y) * x, [x])


@case
def gradients_colocated():
    with tf.device("/job:a"):
        x = tf.placeholder(tf.float32, [2], "x")
        y = tf.exp(x)
    with tf.device("/job:b"):
        z = tf.sin(y) * x
    tf.gradients(z, [x], colocate_gradients_with_ops=True, gate_gradients=True)


@case
def gradients_over_devices():
    with tf.device("/job:a"):
        x = tf.placeholder(tf.float32, [2], "x")
    with tf.device("/job:b"):
        y = tf.exp(x) + tf.sin(x)
    with tf.device("/job:c"):
        z = tf.cos(x)
    tf.gradients([y, z], [x], colocate_gradients_with_ops=True)


@case
def gradients_unconnected():
    x, y = matrix(), tf.placeholder(tf.float32, [2], "y")
    tf.gradients(tf.exp(x), [x, y], unconnected_gradients=tf.UnconnectedGradients.ZERO)


@case
def second_gradients():
    x = tf.placeholder(tf.float32, [2], "x")
    g = tf.gradients(tf.exp(x) * x, x)[0]
    tf.gradients(g, x)


@case
def gradients_of_cross_entropy():
    x, labels = matrix(), tf.placeholder(tf.int64, [None], "labels")
    w = tf.placeholder(tf.float32, [3, 4], "w")
    logits = tf.nn.relu(tf.matmul(x, w))
    loss, _ = tf.raw_ops.SparseSoftmaxCrossEntropyWithLogits(features=logits, labels=labels)
    tf.gradients(tf.reduce_mean(loss), w, name="train")


def synchronized(pairs, optimizer, aggregate, total, tokens=-1):
    """The graph of each replica, and the chief's initial tokens. The global step and the pairs
    already exist."""
    sync = tf.train.SyncReplicasOptimizer(optimizer, aggregate, total_num_replicas=total)
    sync.apply_gradients(pairs, global_step=tf.train.get_global_step())
    sync.get_init_tokens_op(tokens)


@case
def sync_replicas_dense():
    tf.disable_resource_variables()
    tf.train.get_or_create_global_step()
    w = tf.Variable([1., 2.], name="w")
    v = tf.Variable(3., name="v", use_resource=True)
    synchronized([(tf.placeholder(tf.float32, [2], "gw"), w), (tf.placeholder(tf.float32, [], "gv"), v)],
                 tf.train.GradientDescentOptimizer(0.1), 3, 4)


@case
def sync_replicas_sparse():
    tf.disable_resource_variables()
    tf.train.get_or_create_global_step()
    e = tf.Variable(np.zeros([4, 2], np.float32), name="e")
    f = tf.Variable(np.zeros([4, 2], np.float32), name="f", use_resource=True)
    def slices(name, indices, shape):
        return tf.IndexedSlices(tf.placeholder(tf.float32, [None, 2], name + "_values"),
                                tf.placeholder(indices, [None], name + "_indices"), shape)
    pairs = [(slices("a", tf.int32, tf.constant([4, 2])), e), (slices("b", tf.int64, None), f)]
    synchronized(pairs, tf.train.GradientDescentOptimizer(0.1), 2, 2, tokens=0)


@case
def sync_replicas_on_devices():
    tf.disable_resource_variables()
    with tf.device("/job:ps/task:0"):
        tf.train.get_or_create_global_step()
        w = tf.Variable([1., 2.], name="w")
    with tf.device("/job:ps/task:1"):
        e = tf.Variable(np.zeros([4, 2], np.float32), name="e")
        u = tf.Variable(5., name="u")
    with tf.device("/job:worker/task:1"):
        rows = tf.IndexedSlices(tf.placeholder(tf.float32, [None, 2], "values"),
                                tf.placeholder(tf.int64, [None], "indices"), tf.constant([4, 2], tf.int64))
        pairs = [(tf.placeholder(tf.float32, [2], "gw"), w), (None, u), (rows, e)]
        synchronized(pairs, tf.train.MomentumOptimizer(0.1, 0.9), 5, 3, tokens=2)


@case
def sync_replicas_minimize():
    tf.disable_resource_variables()
    step = tf.train.get_or_create_global_step()
    x = matrix()
    w = tf.Variable([[1.], [2.], [3.]], name="w")
    tf.Variable([0.5], name="unreached")
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
    tf.train.SyncReplicasOptimizer(tf.train.MomentumOptimizer(0.1, 0.9), 1).minimize(loss, global_step=step)


@case
def sync_replicas_averages():
    tf.disable_resource_variables()
    tf.train.get_or_create_global_step()
    w = tf.Variable([1., 2.], name="w")
    sync = tf.train.SyncReplicasOptimizer(
        tf.train.GradientDescentOptimizer(0.1), 2, 2, variable_averages=tf.train.ExponentialMovingAverage(0.9),
        variables_to_average=[w])
    sync.apply_gradients([(tf.placeholder(tf.float32, [2], "gw"), w)], global_step=tf.train.get_global_step())


@case
def while_loop():
    x, n = tf.placeholder(tf.float32, [2], "x"), tf.placeholder(tf.int32, [], "n")
    r = tf.while_loop(lambda i, v: i < n, lambda i, v: (i + 1, v * x), [tf.constant(0), x])
    tf.gradients(r[1], x)


@case
def while_loop_with_cond():
    x = tf.placeholder(tf.float32, [None], "x")
    branch = lambda v: tf.cond(tf.reduce_sum(v) < 3., lambda: v * 2., lambda: v + x)
    r = tf.while_loop(lambda v: tf.reduce_sum(v) < 10., branch, [x], maximum_iterations=5, name="loop")
    tf.gradients(r, x)


@case
def while_loop_with_tensor_arrays():
    x = tf.placeholder(tf.float32, [3, 2], "x")
    rows = tf.TensorArray(tf.float32, 3).unstack(x)
    out = tf.TensorArray(tf.float32, 3)
    def body(i, o, s):
        y = tf.tanh(rows.read(i) + s)
        return i + 1, o.write(i, y), y
    r = tf.while_loop(lambda i, o, s: i < 3, body, [tf.constant(0), out, tf.zeros([2])])
    tf.gradients(r[1].stack(), x)


@case
def nested_while_loops():
    x, n = tf.placeholder(tf.float32, [2], "x"), tf.placeholder(tf.int32, [], "n")
    def body(i, v):
        inner = tf.while_loop(lambda j, w: j < i, lambda j, w: (j + 1, w * v + x), [tf.constant(0), v], name="inner")
        return i + 1, inner[1] * 2.0
    r = tf.while_loop(lambda i, v: i < n, body, [tf.constant(0), x], name="outer", parallel_iterations=3)
    tf.gradients(r[1], x)


@case
def while_loop_of_unknown_shapes():
    x, n = tf.placeholder(tf.float32, [None, 3], "x"), tf.placeholder(tf.int32, [], "n")
    r = tf.while_loop(lambda i, v, w: i < n, lambda i, v, w: (i + 1, tf.exp(w), tf.sin(x)), [tf.constant(0), x, x],
                      shape_invariants=[tf.TensorShape([]), tf.TensorShape(None), tf.TensorShape(None)],
                      back_prop=True, swap_memory=True)
    tf.gradients(r[1], x)


@case
def while_loop_gathers_rows():
    tf.disable_resource_variables()
    w = tf.Variable(np.zeros([4, 2], np.float32), name="w")
    ids = tf.placeholder(tf.int32, [3], "ids")
    r = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v + tf.gather(w, ids)), [tf.constant(0), tf.zeros([3, 2])])
    tf.gradients(r[1], w)


@case
def while_loop_in_cond():
    p, x = tf.placeholder(tf.bool, [], "p"), tf.placeholder(tf.float32, [2], "x")
    loop = lambda: tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * x), [tf.constant(0), x])[1]
    tf.gradients(tf.cond(p, loop, lambda: tf.identity(x)), x)


@case
def while_loop_after_controls():
    x, y = tf.placeholder(tf.float32, [], "x"), tf.placeholder(tf.float32, [], "y")
    def body(v):
        with tf.control_dependencies([y]):
            return v * 2.0
    with tf.control_dependencies([x]):
        tf.while_loop(lambda v: v < 9.0, body, [y])


def lines():
    """The lines of fixtures.txt."""
    for title, build in CASES.items():
        with tf.Graph().as_default() as graph:
            build()
        yield "== " + title
        yield from sorted(line(n) for n in graph.as_graph_def().node)


if __name__ == "__main__":
    print("\n".join(lines()))
