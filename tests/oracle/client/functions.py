"""Nodes that call functions by name. The scripts are like those in scripts.py."""

import numpy as np
import tensorflow
from tensorflow.core.framework import attr_value_pb2
from tensorflow.python.framework import function
from tensorflow.python.ops import functional_ops

tf = tensorflow.compat.v1


def calls(target, story):

    @function.Defun(tf.float32, tf.float32)
    def affine(x, y):
        return x * 2.0 + y, x - y

    @function.Defun(tf.float32)
    def twice(x):
        a, b = affine(x, x)
        return affine(a, b)[0]

    @function.Defun(tf.float32)
    def unused(x):
        return tf.check_numerics(tf.log(x), "not to be run")

    x = tf.placeholder(tf.float32, name="x")
    a, b = affine(x, x + 1.0, name="call")
    nested = twice(a)
    unused(-x, name="unused")
    with tf.control_dependencies([a.op]):
        after = tf.identity(b)
    loop = tf.while_loop(lambda i, _: i < 3, lambda i, v: (i + 1, twice(v)), [tf.constant(0), x])[1]
    branch = tf.cond(x[0] > 0, lambda: twice(x), lambda: x)
    with tf.Session(target) as session:
        feed = {x: [1.0, -2.0]}
        story.say("results", session.run([a, b, nested, after], feed))
        story.say("by name", session.run(["call:0", "call:1"], feed))
        story.say("as a target", session.run(a.op, feed))
        story.say("result fed", session.run(nested, {a: [3.0]}))
        story.say("in a loop", session.run(loop, feed))
        story.say("in a branch", [session.run(branch, {x: [s, 2.0]}) for s in (1.0, -1.0)])
        story.fails("unfed", tf.errors.InvalidArgumentError, "You must feed a value for placeholder tensor 'x'", lambda: session.run(nested))


def state(target, story):
    v = tf.get_variable("counter", initializer=1.0, use_resource=True)

    @function.Defun(tf.float32)
    def add(x):
        with tf.control_dependencies([tf.raw_ops.AssignAddVariableOp(resource=v.handle, value=x)]):
            return v.read_value() * 10.0

    sum_ = add(2.0)
    with tf.Session(target) as session:
        session.run(v.initializer)
        story.say("sum", session.run([sum_]))
        story.say("again", session.run([sum_]))
        story.say("variable", session.run(v))
    tf.Session.reset(target)


def gradients(target, story):

    @function.Defun(tf.float32, tf.float32)
    def cube_gradient(x, dy):
        return 100.0 * x * dy

    @function.Defun(tf.float32, grad_func=cube_gradient)
    def cube(x):
        return x * x * x

    def of_sine(op, dy):
        return dy * 1000.0 * op.inputs[0]

    @function.Defun(tf.float32, python_grad_func=of_sine)
    def sine(x):
        return tf.sin(x)

    @function.Defun(tf.float32, tf.float32)
    def product(x, y):
        return x * y, tf.exp(x)

    @function.Defun(tf.float32)
    def outer(x):
        return cube(x) + product(x, x)[0]

    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    first, second = product(x, y)
    wanted = [
        tf.gradients(cube(x), x)[0], tf.gradients(sine(x), x)[0], *tf.gradients([first, second], [x, y]), *tf.gradients(second, [x]),
        tf.gradients(outer(x), x)[0], tf.gradients(cube(x) * 2.0 + x, x)[0]
    ]
    named = attr_value_pb2.NameAttrList(name=product.name)
    symbolic = functional_ops.symbolic_gradient(input=[x, y, tf.constant(1.0), tf.constant(2.0)], Tout=[tf.float32] * 2, f=named)
    with tf.Session(target) as session:
        for i, gradient in enumerate(wanted):
            story.say("gradient %d" % i, session.run(gradient, {x: 2.0, y: 3.0}))
        story.say("symbolic", session.run(symbolic, {x: 2.0, y: 3.0}))


def gradients_of_nested_calls(target, story):
    """A function's own gradient is used wherever it is called, and the server takes gradients in frames."""

    @function.Defun(tf.float32, tf.float32)
    def straight_through(unused_x, dy):
        return dy * 7.0

    @function.Defun(tf.float32, grad_func=straight_through)
    def rounded(x):
        return tf.round(x)

    @function.Defun(tf.float32)
    def inner(x):
        return rounded(x) * x

    @function.Defun(tf.float32)
    def outer(x):
        return inner(x) + rounded(x)

    x = tf.placeholder(tf.float32, [])
    loop = lambda body: tf.while_loop(lambda i, _: i < 2, lambda i, s: (i + 1, tf.reshape(body(s), [])), [tf.constant(0), x])[1]
    ys = {"nested": outer(x), "in a branch": tf.cond(x > 0, lambda: inner(x), lambda: x), "in a loop": loop(inner), "alone in a loop": loop(rounded)}
    tanh = attr_value_pb2.NameAttrList(name="Tanh")
    tanh.attr["T"].type = tf.float32.as_datatype_enum
    of_an_op = functional_ops.symbolic_gradient(input=[x, tf.constant(1.0)], Tout=[tf.float32], f=tanh)
    with tf.Session(target) as session:
        for label, y in ys.items():
            story.say(label, session.run([y, tf.gradients(y, x)[0]], {x: 2.4}))
        story.say("of an op", session.run(of_an_op, {x: 0.5}))


def references(target, story):
    v = tf.Variable(2.0, use_resource=False, name="v")

    @function.Defun(tf.float32)
    def times(x):
        return x * v

    @function.Defun(tf.float32)
    def plain(x):
        return x * 3.0

    ys = [times(3.0), plain(v._ref())]  # pylint: disable=protected-access
    with tf.Session(target) as session:
        session.run(v.initializer)
        story.say("captured and given", session.run(ys))
    tf.Session.reset(target)


def types(target, story):

    @function.Defun(tf.qint8, tf.quint8, tf.qint32)
    def quantized(a, b, c):
        return c, a, b

    @function.Defun(tf.string, tf.int64, tf.bool, tf.complex64)
    def others(s, i, b, c):
        return tf.strings.join([s, s]), tf.cast(b, tf.int64) + i, c * c

    q = quantized(tf.bitcast(tf.constant([1, -1], tf.int8), tf.qint8), tf.bitcast(tf.constant([2], tf.uint8), tf.quint8),
                  tf.bitcast(tf.constant(3, tf.int32), tf.qint32))
    plain = [tf.bitcast(t, p) for t, p in zip(q, (tf.int32, tf.int8, tf.uint8))]
    with tf.Session(target) as session:
        story.say("quantized", session.run(plain))
        story.say("others", session.run(others("a", tf.constant(2, tf.int64), True, tf.constant(1j, tf.complex64))))


def added_to_a_running_session(target, story):
    x = tf.placeholder(tf.float32, [])
    with tf.Session(target) as session:
        story.say("before", session.run(x + 1.0, {x: 1.0}))
        for i in range(3):

            @function.Defun(tf.float32, func_name="step_%d" % i)
            def step(v):
                return v * (i + 2.0)  # pylint: disable=cell-var-from-loop

            x_next = step(x)
            story.say("function %d" % i, session.run(x_next, {x: 1.0}))
            story.say("its gradient %d" % i, session.run(tf.gradients(x_next, x), {x: 1.0}))
            story.say("one more call %d" % i, session.run(step(x_next), {x: 1.0}))


def imported(target, story):
    with tf.Graph().as_default() as graph:

        @function.Defun(tf.float32, func_name="half")
        def half(v):
            return v / 2.0

        half(tf.placeholder(tf.float32, name="x"), name="y")
    for prefix in ("a", "b"):
        tf.import_graph_def(graph.as_graph_def(), name=prefix)
    feed = {"a/x:0": np.float32(3.0), "b/x:0": np.float32(5.0)}
    with tf.Session(target) as session:
        story.say("two copies", session.run(["a/y:0", "b/y:0"], feed))


SCRIPTS = [calls, state, gradients, gradients_of_nested_calls, references, types, added_to_a_running_session, imported]
SCRIPTS_WITH_FILES = []
