"""Typical uses of a session on a server. Each function runs against a target and reports its
results.

Every server must give the same reports in the same order (stories.py).
"""

import os
import threading

import numpy as np
import tensorflow
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.framework import function
from tensorflow.python.ops import cond_v2
from tensorflow.python.ops import gen_functional_ops

tf = tensorflow.compat.v1


def feeds_and_fetches(target, story):
    types = [tf.float32, tf.float64, tf.int32, tf.int64, tf.uint8, tf.int8, tf.int16, tf.bool, tf.complex64, tf.float16]
    with tf.Session(target) as session:
        for dtype in types:
            x = tf.placeholder(dtype, [None, 3])
            y = tf.identity(x)
            for rows in (0, 1, 2):
                value = np.arange(rows * 3).reshape(rows, 3).astype(dtype.as_numpy_dtype)
                story.say("%s %d rows" % (dtype.name, rows), session.run(y, {x: value}))
        x = tf.placeholder(tf.float32, [])
        story.say("scalar", session.run(x * 2 + 1, {x: 3.5}))
        middle = x + 1
        story.say("middle", session.run(middle * 2, {middle: 10.0}))
        s = tf.placeholder(tf.string, [None])
        story.say("strings", session.run(tf.strings.join([s, s]), {s: ["a", "", "a long one \u00e9" * 50]}))
        story.say("no strings", session.run(tf.identity(s), {s: []}))
        story.say("constants", session.run([tf.constant([1, 2]), tf.zeros([2, 3]), tf.constant("x"), tf.constant([True, False])]))
        story.say("the same twice", session.run([x, x, [x]], {x: 1.0}))
        large = np.random.RandomState(1).randn(1 << 20).astype(np.float32)
        wide = tf.placeholder(tf.float32, [None])
        story.say("4 MB", session.run(wide * 2, {wide: large}))
        story.say("nothing but an op", session.run(tf.no_op()))


def fed_control_inputs(target, story):
    x = tf.placeholder(tf.float32, [], name="x")
    flag = tf.placeholder(tf.bool, [], name="flag")
    v = tf.Variable(0.0, use_resource=False, name="fed_control_inputs")
    add = tf.assign_add(v, 1.0)
    with tf.control_dependencies([x]):
        constant = tf.constant(5.0, name="c")
        loop = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
        scan = tf.scan(lambda a, b: a + b, tf.constant([1.0, 2.0, 3.0]))
        branch = tf.cond(flag, lambda: tf.constant(1.0), lambda: tf.constant(2.0))
        group = tf.no_op()
    with tf.control_dependencies([add]):
        after_add = tf.constant(7.0)
    with tf.Session(target) as session:
        session.run(v.initializer)
        for label, fetch in (("constant", constant), ("loop", loop), ("scan", scan), ("branch", branch), ("group", group)):
            story.say(label, str(session.run(fetch, {x: 3.0, flag: True})))
        story.say("callable", session.make_callable(constant, [x])(3.0))
        piece = session.partial_run_setup([constant, x * 2], [x])
        story.say("partial run", [session.partial_run(piece, constant, {x: 3.0})])
        story.fails("not fed", tf.errors.InvalidArgumentError, "You must feed a value for placeholder tensor 'x'",
                    lambda: session.run(constant))
        story.fails("a target", tf.errors.InvalidArgumentError, "You must feed a value for placeholder tensor 'x'",
                    lambda: session.run(x.op, {x: 3.0}))
        story.say("a fed node of another op", session.run(after_add, {add: 30.0}))
        story.say("has run", session.run(v))
        story.say("a fed target", str(session.run(add.op, {add: 30.0})))
        story.say("has run, too", session.run(v))


def nodes_that_no_step_runs(target, story):
    x = tf.placeholder(tf.float32, [2], name="x")
    called, counted = tf.py_func(lambda v: (v + 1, 3), [x], [tf.float32, tf.int64], name="called")
    called.set_shape([2])
    v = tf.Variable([1.0, 1.0], use_resource=False, name="nodes_that_no_step_runs")
    update = tf.assign_add(v, called * 2.0)
    debug = tf.raw_ops.DebugIdentity(input=called, tensor_name="called:0", name="debug")
    table = tf.raw_ops.EagerPyFunc(input=[x], token="none", Tout=[tf.float32, tf.string], name="eager")
    joined = tf.strings.join([table[1], "a"])
    with tf.control_dependencies([update, debug, joined]):
        waits = tf.identity(counted)
    y = x * 2.0
    with tf.Session(target) as session:
        session.run(v.initializer)
        story.say("another step", session.run([y, v], {x: [1.0, 2.0]}))
        story.say("its output is fed", session.run(update, {called: [3.0, 4.0]}))
        later = counted + 1
        story.say("the graph grows", session.run(y + 1.0, {x: [1.0, 2.0]}))
        story.say("and its output is fed", session.run(later, {counted: 4}))
        del waits


def errors(target, story):
    x = tf.placeholder(tf.float32, [2, 2], name="x")
    wanted = tf.placeholder(tf.int32, [None])
    y = tf.reshape(x, wanted)
    n = tf.placeholder(tf.int32, [None], name="n")
    gathered = tf.gather(tf.constant([1, 2, 3]), n, name="gathered")
    v = tf.Variable(1.0, use_resource=False, name="ref")
    r = tf.Variable(1.0, use_resource=True, name="res")
    with tf.Session(target) as session:
        story.fails("unfed", tf.errors.InvalidArgumentError, "You must feed a value for placeholder tensor 'x' with dtype float",
                    lambda: session.run(x + 1))
        story.fails("out of range", tf.errors.InvalidArgumentError, "is not in [0, 3)", lambda: session.run(gathered, {n: [5]}))
        try:
            session.run(gathered, {n: [5]})
        except tf.errors.InvalidArgumentError as e:
            story.say("the node", e.op.name)
            story.say("the task", "From /job:localhost/replica:0/task:0:" in str(e))
        story.fails("no such shape", tf.errors.InvalidArgumentError, "4 values", lambda: session.run(y, {x: np.zeros([2, 2]), wanted: [3, 2]}))
        story.fails("uninitialised", tf.errors.FailedPreconditionError, "Attempting to use uninitialized value ref", lambda: session.run(v))
        story.fails("uninitialised resource", tf.errors.FailedPreconditionError, "Could not find variable res", lambda: session.run(r))
        story.say("goes on", session.run(gathered, {n: [1]}))
    tf.reset_default_graph()
    with tf.device("/job:nowhere/task:3"):
        lost = tf.constant(1.0) + tf.constant(2.0)
    with tf.Session(target) as session:
        story.fails("no such device", tf.errors.InvalidArgumentError, "Cannot assign a device for operation", lambda: session.run(lost))
    with tf.Session(target) as session:
        story.fails("the whole graph is placed", tf.errors.InvalidArgumentError, "Cannot assign a device for operation",
                    lambda: session.run(tf.constant(1.0)))


def variables(target, story):
    for resource in (False, True):
        tf.reset_default_graph()
        v = tf.get_variable("shared_%d" % resource, [2], initializer=tf.zeros_initializer(), use_resource=resource)
        add = v.assign_add([1.0, 2.0])
        rows = tf.scatter_add(v, [1], [10.0])
        ready = tf.report_uninitialized_variables()
        with tf.Session(target) as first:
            story.say("uninitialised", first.run(ready))
            first.run(v.initializer)
            story.say("initialised", first.run(ready))
            story.say("added", first.run(add))
            with tf.Session(target) as second:
                story.say("seen by another session", second.run(v))
                second.run(rows)
            story.say("changed by another session", first.run(v))
        with tf.Session(target) as third:
            story.say("outlives sessions", third.run(v))
        config = tf.ConfigProto(isolate_session_state=True)
        with tf.Session(target, config=config) as alone:
            story.say("isolated", alone.run(ready))
            alone.run(v.initializer)
            story.say("isolated value", alone.run(v))
        with tf.Session(target) as fourth:
            story.say("untouched by it", fourth.run(v))
        tf.Session.reset(target)
        with tf.Session(target) as fifth:
            story.say("reset", fifth.run(ready))


def fetched_variables(target, story):
    """Variables that the same step updates, without an order that the program gives."""
    rows = tf.random_uniform([300, 300], seed=1)
    slow = 1.0 + 1e-20 * tf.reduce_sum(tf.matmul(rows, rows))  # the update comes late
    flag = tf.placeholder(tf.bool, [])
    ref = tf.Variable(0.0, use_resource=False, name="fetched_ref")
    read = ref.read_value()
    computed = ref + 0.0
    add = tf.assign_add(ref, slow)
    twice = [tf.assign_add(ref, slow), tf.assign_add(ref, 1.0)]
    scale = tf.assign(ref, ref * slow + 3.0)
    minimize = tf.train.GradientDescentOptimizer(0.25).minimize(tf.square(ref - 4.0 * slow))

    def body(i):
        with tf.control_dependencies([tf.assign_add(ref, slow)]):
            return i + 1

    loop = tf.while_loop(lambda i: i < 3, body, [0])
    branch = tf.cond(flag, lambda: tf.identity(tf.assign_add(ref, slow)), lambda: tf.constant(0.0))
    vector = tf.Variable([0.0, 0.0], use_resource=False, name="fetched_vector")
    scatter = tf.scatter_add(vector, [1], tf.reshape(slow, [1]))
    step = tf.Variable(0, use_resource=False, name="fetched_step", dtype=tf.int64)
    count = tf.count_up_to(step, 100)
    fetches = [ref, ref.value(), read, tf.identity(ref.value()), tf.stop_gradient(read)]
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        for label, update in (("add", add), ("scale", scale), ("minimize", minimize), ("loop", loop)):
            for i in range(5):
                story.say("%s %d" % (label, i), session.run([fetches, update])[0])
        for taken in (True, False):
            story.say("branch %s" % taken, session.run([fetches, branch], {flag: taken})[0])
        story.say("add, computed", [session.run([read, computed, add])[:2] for _ in range(5)])
        story.say("both", session.run(twice))
        story.say("all of a variable", session.run([scatter.op, vector])[1])
        story.say("count", session.run([step, count])[0])
        loops = 0
        while True:  # the loop of many training programs
            loops += 1
            if session.run([count.op, step])[1] >= 10:
                break
        story.say("steps of the loop", loops)
        callable_ = session.make_callable([read, add])
        story.say("callable", callable_()[0])
    # An order that the program gives, and resource variables, which are a race without one.
    res = tf.Variable(0.0, use_resource=True, name="fetched_res")
    before = res.read_value()
    with tf.control_dependencies([before]):
        res_add = tf.assign_add(res, slow)
    with tf.control_dependencies([res_add]):
        after = res.read_value()
    used = res.value()
    res_minimize = tf.train.GradientDescentOptimizer(0.25).minimize(tf.square(used - 4.0 * slow), var_list=[res])
    with tf.Session(target) as session:
        session.run(res.initializer)
        story.say("ordered", [session.run([before, after]) for _ in range(3)])
        story.say("minimize", [session.run([used, res_minimize])[0] for _ in range(3)])


def containers(target, story):
    with tf.container("one"):
        a = tf.get_variable("a", initializer=1.0, use_resource=True)
    with tf.container("two"):
        b = tf.get_variable("b", initializer=2.0, use_resource=True)
    session = tf.Session(target)
    session.run([a.initializer, b.initializer])
    story.say("both", session.run([a, b]))
    tf.Session.reset(target, ["one"])
    story.fails("all sessions are closed", tf.errors.AbortedError, "is not found", lambda: session.run(b))
    with tf.Session(target) as another:
        story.say("the other container", another.run(b))
        story.fails("the cleared one", tf.errors.FailedPreconditionError, "Could not find variable a", lambda: another.run(a))
    tf.Session.reset(target)


def the_graph_grows(target, story):
    with tf.Session(target) as session:
        x = tf.constant(1.0)
        for i in range(5):
            x = x + i
            story.say("step %d" % i, session.run(x))
        v = tf.get_variable("v", initializer=x * 2)
        session.run(v.initializer)
        story.say("variable", session.run(v))
        blocked = tf.FIFOQueue(1, tf.float32, shapes=[[]])
        item = blocked.dequeue()
        enqueue = blocked.enqueue(3.0)
        got = []
        thread = threading.Thread(target=lambda: got.append(session.run(item)))
        thread.start()
        story.say("beside a step that waits", session.run(x + 100))
        session.run(enqueue)
        thread.join()
        story.say("what it waited for", got)


def queues(target, story):
    q = tf.FIFOQueue(3, [tf.int32, tf.string], shapes=[[], []], shared_name="q_of_two_sessions")
    put = q.enqueue_many([[1, 2, 3], ["a", "b", "c"]])
    padding = tf.PaddingFIFOQueue(10, tf.int32, [[None]])
    puts = [padding.enqueue([[1] * n]) for n in (1, 3, 2)]
    priority = tf.PriorityQueue(10, [tf.string], [[]])
    ranked = priority.enqueue_many([np.array([3, 1, 2], np.int64), ["c", "a", "b"]])
    shuffle = tf.RandomShuffleQueue(10, 0, tf.int32, shapes=[[]], seed=7)
    filled = shuffle.enqueue_many([[1, 2, 3, 4]])
    with tf.Session(target) as session, tf.Session(target) as other:
        session.run(put)
        story.say("size in the other session", other.run(q.size()))
        story.say("dequeue", other.run(q.dequeue()))
        story.say("dequeue_many", session.run(q.dequeue_many(2)))
        session.run(puts)
        story.say("padded", session.run(padding.dequeue_many(3)).shape)
        session.run(ranked)
        story.say("by priority", session.run(priority.dequeue_many(3)))
        session.run(filled)
        story.say("shuffled", sorted(session.run(shuffle.dequeue_many(4))))
        waits = q.dequeue()
        story.fails("deadline", tf.errors.DeadlineExceededError, "", lambda: session.run(waits, options=tf.RunOptions(timeout_in_ms=200)))
        session.run(q.close())
        story.say("closed", session.run(q.is_closed()))
        story.fails("closed and empty", tf.errors.OutOfRangeError, "is closed and has insufficient elements (requested 1, current size 0)",
                    lambda: session.run(waits))
    tf.Session.reset(target)


def closing(target, story):
    started, empty = tf.FIFOQueue(1, tf.int32, shapes=[[]], shared_name="started"), tf.FIFOQueue(1, tf.int32, shapes=[[]])
    tell, told = started.enqueue(1), started.dequeue()
    with tf.control_dependencies([tell]):
        waits = empty.dequeue()
    session, other = tf.Session(target), tf.Session(target)
    ended = []

    def run():
        try:
            session.run(waits)
        except tf.errors.OpError as e:
            ended.append(type(e).__name__)

    thread = threading.Thread(target=run)
    thread.start()
    story.say("the step has begun", other.run(told))
    session.close()
    thread.join(60)
    story.say("closing ends the step that waits", ended)
    story.say("not the other session", other.run(tf.constant(1)))
    other.close()
    tf.Session.reset(target)


def accumulators(target, story):
    dense = tf.ConditionalAccumulator(tf.float32, [2], shared_name="dense")
    sparse = tf.SparseConditionalAccumulator(tf.float32, [4, 2], shared_name="sparse")
    step = tf.placeholder(tf.int64, [])
    gradient = tf.placeholder(tf.float32, [2])
    apply_dense = dense.apply_grad(gradient, local_step=step)
    take_dense = dense.take_grad(2)
    indices, values = tf.placeholder(tf.int64, [None]), tf.placeholder(tf.float32, [None, 2])
    apply_sparse = sparse.apply_grad(indices, values, [4, 2], local_step=step)
    take_sparse = sparse.take_grad(2)
    with tf.Session(target) as session:
        session.run(apply_dense, {gradient: [1, 2], step: 0})
        story.say("accumulated", session.run(dense.num_accumulated()))
        got = []
        thread = threading.Thread(target=lambda: got.append(session.run(take_dense)))
        thread.start()
        session.run(apply_dense, {gradient: [3, 4], step: 0})
        thread.join()
        story.say("mean", got)
        session.run(apply_dense, {gradient: [3, 4], step: 0})
        story.say("stale ones are dropped", session.run(dense.num_accumulated()))
        session.run(dense.set_global_step(7))
        session.run(apply_dense, {gradient: [3, 4], step: 7})
        story.say("the step was set", session.run(dense.num_accumulated()))
        session.run(apply_sparse, {indices: [0, 2], values: [[1, 1], [2, 2]], step: 0})
        session.run(apply_sparse, {indices: [2, 3], values: [[4, 4], [6, 6]], step: 0})
        story.say("sparse mean", session.run(take_sparse))
    tf.Session.reset(target)


def control_flow(target, story):
    for v2 in (False, True):
        tf.reset_default_graph()
        (tf.enable_control_flow_v2 if v2 else tf.disable_control_flow_v2)()
        x = tf.placeholder(tf.float32, [])
        branch = tf.cond(x > 0, lambda: x * 2, lambda: x - 1)
        n, total = tf.while_loop(lambda i, s: i < 10, lambda i, s: (i + 1, s + x * tf.cast(i, tf.float32)), [tf.constant(0), tf.constant(0.0)])
        gradient = tf.gradients(total, x)[0]
        array = tf.TensorArray(tf.float32, 4)
        _, filled = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, a.write(i, x * tf.cast(i, tf.float32))), [tf.constant(0), array])
        stacked = filled.stack()
        through = tf.gradients(tf.reduce_sum(stacked), x)[0]
        checked = tf.Assert(x > 0, [x])
        with tf.Session(target) as session:
            for value in (3.0, -3.0):
                story.say("cond %s" % value, session.run(branch, {x: value}))
            story.say("while", session.run([n, total, gradient], {x: 2.0}))
            story.say("array", session.run([stacked, through], {x: 2.0}))
            session.run(checked, {x: 1.0})
            story.fails("assert", tf.errors.InvalidArgumentError, "assertion failed", lambda: session.run(checked, {x: -1.0}))
    tf.disable_control_flow_v2()


def partial_runs(target, story):
    x, y = tf.placeholder(tf.float32, [], name="x"), tf.placeholder(tf.float32, [], name="y")
    a = x * 2
    b = a + y
    with tf.Session(target) as session:
        handle = session.partial_run_setup([a, b], [x, y])
        story.say("first leg", session.partial_run(handle, a, {x: 3.0}))
        story.say("second leg", session.partial_run(handle, b, {y: 4.0}))
        one, two = session.partial_run_setup([a, b], [x, y]), session.partial_run_setup([a, b], [x, y])
        story.say("two at once", [session.partial_run(one, a, {x: 1.0}), session.partial_run(two, a, {x: 2.0})])
        story.say("each its own", [session.partial_run(two, b, {y: 0.0}), session.partial_run(one, b, {y: 0.0})])
        handle = session.partial_run_setup([a, b], [x, y])
        session.partial_run(handle, a, {x: 3.0})
        story.fails("fed before", tf.errors.InvalidArgumentError, "", lambda: session.partial_run(handle, b, {x: 3.0}))
        story.fails("unknown handle", tf.errors.InvalidArgumentError, "", lambda: session.partial_run("17", b, {y: 3.0}))


def callables(target, story):
    x = tf.placeholder(tf.float32, [None])
    y, z = x * 2, tf.reduce_sum(x)
    with tf.Session(target) as session:
        call = session.make_callable([y, z], [x])
        story.say("made", call(np.array([1, 2, 3], np.float32)))
        story.say("again", call(np.array([4], np.float32)))
        options = config_pb2.CallableOptions(feed=[x.name], fetch=[y.name, z.name])
        raw = session._make_callable_from_options(options)  # pylint: disable=protected-access
        story.say("by options", raw(np.array([1, 2, 3], np.float32)))
        another = session._make_callable_from_options(options)  # pylint: disable=protected-access
        story.say("a second one", another(np.array([5], np.float32)))
        del raw
        story.say("after the first was released", another(np.array([6], np.float32)))


def traces(target, story):
    x = tf.placeholder(tf.float32, [2, 2], name="x")
    product = tf.matmul(x, x, name="product")
    with tf.Session(target) as session:
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)
        story.say("result", session.run(product, {x: np.eye(2)}, options=options, run_metadata=metadata))
        nodes = {node.node_name: node for device in metadata.step_stats.dev_stats for node in device.node_stats}
        story.say("the node is there", "product" in nodes and "product = MatMul(" in nodes["product"].timeline_label)
        story.say("with its time", nodes["product"].all_end_rel_micros >= 0 and nodes["product"].all_start_micros > 1e15)
        story.say("with its output", list(d.size for d in nodes["product"].output[0].tensor_description.shape.dim))
        story.say("on its device", [d.device for d in metadata.step_stats.dev_stats if any(n.node_name == "product" for n in d.node_stats)])
        graph = [node.name for g in metadata.partition_graphs for node in g.node]
        story.say("partition graphs", "product" in graph)
        devices = session.list_devices()
        story.say("devices", [(d.name, d.device_type) for d in devices if "XLA" not in d.device_type])
        story.say("incarnations", all(d.incarnation != 0 for d in devices if "XLA" not in d.device_type))


def checkpoints(target, story, folder):
    v = tf.get_variable("v", initializer=tf.range(6.0))
    w = tf.get_variable("w", initializer=tf.constant([[1, 2], [3, 4]]), use_resource=True)
    saver = tf.train.Saver(sharded=False)
    sharded = tf.train.Saver(sharded=True)
    path = os.path.join(folder, "model")
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        story.say("saved", os.path.basename(saver.save(session, path, global_step=3)))
        sharded.save(session, path + "_sharded")
        session.run([v.assign(v * 0), w.assign(w * 0)])
        saver.restore(session, path + "-3")
        story.say("restored", session.run([v, w]))
        session.run([v.assign(v * 0), w.assign(w * 0)])
        sharded.restore(session, path + "_sharded")
        story.say("restored from shards", session.run([v, w]))
        story.fails("no such checkpoint", (tf.errors.NotFoundError, ValueError), "", lambda: saver.restore(session, path + "-4"))
    with tf.Session() as local:
        saver.restore(local, path + "-3")
        story.say("restored by TensorFlow itself", local.run([v, w]))
        local.run([v.assign(v + 1), w.assign(w + 1)])
        saver.save(local, path, global_step=4)
    with tf.Session(target) as session:
        saver.restore(session, path + "-4")
        story.say("TensorFlow's own checkpoint", session.run([v, w]))
    tf.Session.reset(target)


def monitored_training(target, story, folder):
    rng = np.random.RandomState(3)
    xs = rng.randn(64, 3).astype(np.float32)
    ys = (xs @ np.array([[1.0], [-2.0], [3.0]]) + 4).astype(np.float32)
    x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 1])
    w = tf.get_variable("w", [3, 1], initializer=tf.zeros_initializer())
    b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
    step = tf.train.get_or_create_global_step()
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
    train = tf.train.MomentumOptimizer(0.05, 0.5).minimize(loss, global_step=step)
    tf.summary.scalar("loss", loss)
    losses = []
    with tf.train.MonitoredTrainingSession(target, is_chief=True, checkpoint_dir=folder, hooks=[tf.train.StopAtStepHook(last_step=40)],
                                           save_checkpoint_steps=10, save_summaries_steps=None, save_summaries_secs=None) as session:
        while not session.should_stop():
            _, value = session.run([train, loss], {x: xs, y: ys})
            losses.append(value)
    story.say("losses", np.array(losses))
    story.say("latest checkpoint", os.path.basename(tf.train.latest_checkpoint(folder)))
    tf.Session.reset(target)
    with tf.train.MonitoredTrainingSession(target, is_chief=True, checkpoint_dir=folder, hooks=[tf.train.StopAtStepHook(num_steps=5)],
                                           save_summaries_steps=None, save_summaries_secs=None) as session:
        story.say("goes on from it", session.run(step))
        while not session.should_stop():
            session.run(train, {x: xs, y: ys})
    story.say("to step", os.path.basename(tf.train.latest_checkpoint(folder)))
    tf.Session.reset(target)


def calls_across_devices(target, story):
    """Functions whose nodes request both devices of a task, called on either."""
    def body(x):
        with tf.device("/cpu:0"):
            y = x + 1
        with tf.device("/cpu:1"):
            z = y * 3
        return z, y

    for device in (None, "/cpu:0", "/cpu:1"):
        for call in (gen_functional_ops.partitioned_call, gen_functional_ops.stateful_partitioned_call):
            with tf.Graph().as_default() as graph, tf.device(device):
                defined = function.Defun(tf.float32)(body)
                defined.add_to_graph(graph)
                x = tf.identity(tf.constant([1.0, 2.0]))
                z, y = call([x], [tf.float32, tf.float32], defined)
                with tf.Session(target) as session:
                    story.say("%s on %s" % (call.__name__, device), session.run([z, y, z * 2]))
        with tf.Graph().as_default():
            with tf.device("/cpu:1"):
                v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)

            @tensorflow.function(autograph=False)
            def update(x, v=v):
                with tf.device("/cpu:0"):
                    product = v * x
                with tf.control_dependencies([product]):
                    return product, v.assign_add(x)

            with tf.device(device):
                updated = update(tf.constant([2.0, 3.0]))
            with tf.Session(target) as session:
                session.run(v.initializer)
                story.say("of a variable on %s" % device, session.run(list(updated)))


def conds_across_devices(target, story):
    """Branches with devices and colocation. The partition graphs tell where they ran."""
    def report(label, session, fetch):
        metadata = tf.RunMetadata()
        story.say(label, session.run(fetch, options=tf.RunOptions(output_partition_graphs=True), run_metadata=metadata))
        story.say("%s: partition graphs" % label, len(metadata.partition_graphs))
        story.say("%s: devices" % label, sorted({node.device for graph in metadata.partition_graphs for node in graph.node}))

    for cond in (tf.cond, cond_v2.cond_v2):
        for by_device in (True, False):
            with tf.Graph().as_default():
                with tf.device("/cpu:0"):
                    a = tf.constant([2.0])
                with tf.device("/cpu:1"):
                    b = tf.constant([2.0])

                def branch(a=a, b=b, by_device=by_device):
                    with tf.device("/cpu:1") if by_device else tf.colocate_with(b.op):
                        return tf.add(a, a)

                result = cond(tf.constant(True), branch, branch)
                with tf.Session(target) as session:
                    report("%s %s" % (cond.__name__, by_device), session, result)


SCRIPTS_OF_TWO_DEVICES = [calls_across_devices, conds_across_devices]
SCRIPTS = [feeds_and_fetches, fed_control_inputs, nodes_that_no_step_runs, errors, variables, fetched_variables, containers, the_graph_grows, queues, closing, accumulators, control_flow, partial_runs, callables,
           traces]
SCRIPTS_WITH_FILES = [checkpoints, monitored_training]
