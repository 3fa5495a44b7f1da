"""Every op that calls functions, on the tasks of a cluster.

Each function runs in a session of one task and reports its results (stories.py). The cluster has one
parameter server, one chief and two workers.
"""

import numpy as np
import tensorflow
from tensorflow.python.data.ops import from_generator_op
from tensorflow.python.framework import function
from tensorflow.python.ops import cond_v2
from tensorflow.python.ops import functional_ops
from tensorflow.python.ops import gen_dataset_ops
from tensorflow.python.ops import gen_functional_ops
from tensorflow.python.ops import while_v2

tf = tensorflow.compat.v1
Dataset = tf.data.Dataset
experimental = tf.data.experimental

TASKS = ["/job:ps/task:0", "/job:chief/task:0", "/job:worker/task:0", "/job:worker/task:1"]
PS, _, WORKER, OTHER_WORKER = TASKS


def full(task):
    """The name of a task's device."""
    return task.replace("/task:", "/replica:0/task:") + "/device:CPU:0"


def elements(session, next_element, limit=40):
    """The elements up to the end of the dataset."""
    taken = []
    try:
        for _ in range(limit):
            taken.append(session.run(next_element))
    except tf.errors.OutOfRangeError:
        taken.append("end")
    return taken


# Each makes a dataset with functions, some with functions in functions, from the numbers up to 6.
DATASETS = {
    "map": lambda d: d.map(lambda x: x * 2),
    "parallel map": lambda d: d.map(lambda x: x * 2, num_parallel_calls=2),
    "filter": lambda d: d.filter(lambda x: x % 2 > 0),
    "take while": lambda d: d.apply(experimental.take_while(lambda x: x < 3)),
    "flat map": lambda d: d.flat_map(Dataset.range),
    "flat map of map": lambda d: d.flat_map(lambda x: Dataset.range(x).map(lambda y: y * x)),
    "three deep": lambda d: d.take(4).flat_map(
        lambda x: Dataset.range(x).flat_map(lambda y: Dataset.range(y + 1).map(lambda z: x * 100 + y * 10 + z))),
    "interleave": lambda d: d.interleave(Dataset.range, cycle_length=2),
    "parallel interleave": lambda d: d.interleave(Dataset.range, cycle_length=2, num_parallel_calls=2),
    "interleave of filter": lambda d: d.interleave(
        lambda x: Dataset.range(x).filter(lambda y: y > 1), cycle_length=3, block_length=2),
    "map and batch": lambda d: d.apply(experimental.map_and_batch(lambda x: x + 1, 4)),
    "scan": lambda d: d.apply(experimental.scan(np.int64(0), lambda state, x: (state + x, state * x))),
    "reduce in a map": lambda d: d.map(lambda x: Dataset.range(x).reduce(np.int64(0), lambda a, b: a + b)),
    "single element in a map": lambda d: d.map(
        lambda x: experimental.get_single_element(Dataset.range(x, x + 1).map(lambda y: y * 3))),
    "group by window": lambda d: d.apply(
        experimental.group_by_window(lambda x: x % 2, lambda key, window: window.batch(2).map(lambda b: b + key), 2)),
    "bucket by length": lambda d: d.map(tf.range).apply(experimental.bucket_by_sequence_length(
        lambda x: tf.cast(tf.size(x), tf.int32), [3], [2, 2])),
    "a condition": lambda d: d.map(lambda x: tf.cond(x > 2, lambda: x * 10, lambda: x)),
    "a loop": lambda d: d.map(lambda x: tf.while_loop(lambda i, s: i < x, lambda i, s: (i + 1, s + i), [np.int64(0), np.int64(0)])[1]),
    "a call": lambda d: d.map(lambda x: tensorflow.function(lambda y: y + 5, autograph=False)(x)),
    "window": lambda d: d.window(2).flat_map(lambda w: w.map(lambda x: x + 1).batch(2)),
    "shuffle, repeat, prefetch": lambda d: d.map(lambda x: x + 1).shuffle(10, seed=3).repeat(2).prefetch(2),
}


def dataset_functions(cluster, story):
    for task in (PS, OTHER_WORKER):
        for label, make in DATASETS.items():
            with tf.Graph().as_default(), tf.device(task):
                one_shot = tf.data.make_one_shot_iterator(make(Dataset.range(6))).get_next()
                iterator = tf.data.make_initializable_iterator(make(Dataset.range(6)))
                element = iterator.get_next()
                with tf.Session(cluster.target("worker", 0)) as session:
                    session.run(iterator.initializer)
                    story.say("%s on %s" % (label, task), elements(session, element))
                    story.say("one-shot %s on %s" % (label, task), elements(session, one_shot))


def dataset_reductions(cluster, story):
    for task in TASKS:
        with tf.Graph().as_default(), tf.device(task):
            total = Dataset.range(5).map(lambda x: x * x).reduce(np.int64(1), lambda a, b: a + b)
            single = experimental.get_single_element(Dataset.range(5).filter(lambda x: tf.equal(x, 3)).map(lambda x: x + 5))
            with tf.Session(cluster.target("chief", 0)) as session:
                story.say("on %s" % task, session.run([total, single]))


def replica_devices(cluster, story):
    """As Estimator builds inputs: under a device function, in functions too."""
    for worker in range(2):
        setter = tf.train.replica_device_setter(cluster=cluster.spec, worker_device="/job:worker/task:%d" % worker)
        for label in ("flat map of map", "three deep", "interleave of filter", "a condition"):
            with tf.Graph().as_default(), tf.device(setter):
                with tf.device("/cpu:0"):
                    dataset = DATASETS[label](Dataset.range(6))
                    one_shot = tf.data.make_one_shot_iterator(dataset).get_next()
                    iterator = tf.data.make_initializable_iterator(dataset)
                    element = iterator.get_next()
                with tf.Session(cluster.target("worker", worker)) as session:
                    session.run(iterator.initializer)
                    story.say("%s %d" % (label, worker), elements(session, element))
                    story.say("one-shot %s %d" % (label, worker), elements(session, one_shot))


def requested_devices(cluster, story):
    """A dataset's function runs on the devices of the dataset's task only."""
    soft = tf.ConfigProto(allow_soft_placement=True)

    def element(requested):
        def f(x):
            with tf.device(requested):
                return x * 2 + 1
        with tf.device(WORKER):
            dataset = Dataset.range(2).flat_map(lambda x: Dataset.range(1).map(lambda y: f(x)))
            return tf.data.make_one_shot_iterator(dataset).get_next()

    for requested in ("/cpu:0", WORKER, "/job:worker", full(WORKER)):
        with tf.Graph().as_default(), tf.Session(cluster.target("worker", 1)) as session:
            story.say(requested, elements(session, element(requested)))
    wrong = "available devices are [ %s ]" % full(WORKER)
    for requested in (PS, OTHER_WORKER, "/job:localhost/task:0", "/cpu:7", "/gpu:0"):
        with tf.Graph().as_default(), tf.Session(cluster.target("worker", 1)) as session:
            story.fails(requested, tf.errors.InvalidArgumentError, wrong, lambda: session.run(element(requested)))
    for requested in ("/gpu:0", "/cpu:7", WORKER + "/device:GPU:3"):
        with tf.Graph().as_default(), tf.Session(cluster.target("worker", 1), config=soft) as session:
            story.say("%s if soft" % requested, elements(session, element(requested)))
    with tf.Graph().as_default(), tf.Session(cluster.target("worker", 1), config=soft) as session:
        story.fails("%s if soft" % PS, tf.errors.InvalidArgumentError, wrong, lambda: session.run(element(PS)))


def captured_state(cluster, story):
    """Functions of a dataset use tables and variables of the graph around them."""
    for task in (PS, WORKER):
        with tf.Graph().as_default(), tf.device(task):
            table = tf.lookup.StaticHashTable(
                tf.lookup.KeyValueTensorInitializer(tf.range(6, dtype=tf.int64), tf.range(10, 16, dtype=tf.int64)), -1)
            v = tf.get_variable("v", initializer=np.int64(7), use_resource=True)
            by_reference = tf.get_variable("r", initializer=np.int64(1000), use_resource=False)
            dataset = Dataset.range(4).flat_map(
                lambda x: Dataset.range(2).map(lambda y: table.lookup(x) + v * 100 + by_reference + y))
            iterator = tf.data.make_initializable_iterator(dataset)
            element = iterator.get_next()
            with tf.Session(cluster.target("worker", 0)) as session:
                session.run([tf.global_variables_initializer(), tf.tables_initializer()])
                session.run(iterator.initializer)
                story.say("on %s" % task, elements(session, element))


def iterators_by_name(cluster, story):
    """Functions on other tasks, and functions of datasets, find iterators by their names."""
    with tf.device(PS):
        iterator = tf.data.make_initializable_iterator(Dataset.range(12).map(lambda x: x * x), shared_name="by_name")
        name = iterator.string_handle()

    def take(handle):
        found = tf.data.Iterator.from_string_handle(handle, tf.int64, [])
        return found.get_next()

    @function.Defun(tf.string)
    def remote(handle):
        return take(handle)

    with tf.device(WORKER):
        element = functional_ops.remote_call(args=[name], Tout=[tf.int64], f=remote, target=full(PS))[0]
    with tf.device(PS):
        mapped = tf.data.make_initializable_iterator(Dataset.range(3).map(lambda x: take(name) + x * 1000))
        through_map = mapped.get_next()
        # As `prefetch_to_device` reads the iterator of another device.
        generator = from_generator_op._GeneratorDataset(
            name, lambda handle: handle, lambda handle: functional_ops.remote_call(full(PS), [handle], [tf.int64], remote)[0],
            lambda handle: handle, tf.TensorSpec([], tf.int64))
        generated = tf.data.make_initializable_iterator(generator)
        through_generator = generated.get_next()
    with tf.Session(cluster.target("worker", 0)) as session:
        session.run(iterator.initializer)
        story.say("remote", [session.run(element) for _ in range(3)])
        session.run(mapped.initializer)
        story.say("in a dataset", elements(session, through_map))
        session.run(generated.initializer)
        story.say("by a generator", elements(session, through_generator))


@function.Defun(tf.float32)
def add_on_cpu(x):
    with tf.device("/cpu:0"):
        return tf.add(x, 5.0)


@function.Defun(tf.float32)
def square(x):
    return tf.square(x) + 1.0


def calls(cluster, story):
    for task in TASKS:
        for call in (gen_functional_ops.partitioned_call, gen_functional_ops.stateful_partitioned_call):
            with tf.Graph().as_default():
                add_on_cpu.add_to_graph(tf.get_default_graph())
                with tf.device(WORKER):
                    x = tf.identity(tf.constant([1.0, 2.0]))
                with tf.device(task):
                    y = call([x], [tf.float32], add_on_cpu)[0]
                with tf.device(OTHER_WORKER):
                    z = y * 2
                with tf.Session(cluster.target("worker", 0)) as session:
                    story.say("%s on %s" % (call.__name__, task), session.run([y, z]))
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)

    @tensorflow.function(autograph=False)
    def update(x):
        with tf.control_dependencies([v.assign_add(x)]):
            return v.read_value() * 2

    with tf.Session(cluster.target("worker", 1)) as session:
        result = update(tf.constant([10.0, 20.0]))
        session.run(v.initializer)
        story.say("a function of a variable", [session.run(result), session.run(v)])


def remote_calls(cluster, story):
    target = tf.placeholder(tf.string, [])
    with tf.device(WORKER):
        x = tf.identity(tf.constant([1.0, 2.0]))
        chosen = functional_ops.remote_call(args=[x], Tout=[tf.float32], f=square, target=target)[0]
    with tf.Session(cluster.target("worker", 0)) as session:
        for task in TASKS:
            story.say("fed %s" % task, session.run(chosen, {target: full(task)}))
    for task in TASKS:
        for caller in (PS, OTHER_WORKER):
            with tf.Graph().as_default(), tf.device(caller):
                x = tf.identity(tf.constant([1.0, 2.0]))
                y = functional_ops.remote_call(args=[x], Tout=[tf.float32], f=add_on_cpu, target=full(task))[0]
                with tf.Session(cluster.target("worker", 0)) as session:
                    story.say("%s calls %s" % (caller, task), session.run(y))


def control_flow_functions(cluster, story):
    for task in TASKS:
        with tf.Graph().as_default(), tf.device(task):
            n = tf.placeholder(tf.int32, [])
            with tf.device(WORKER):
                x = tf.identity(tf.constant([1.0, 2.0]))

            def twice():
                with tf.device("/cpu:0"):
                    return x * 2

            branch = cond_v2.cond_v2(n > 0, twice, lambda: x - 1, name="cond")
            case = tensorflow.switch_case(n, [lambda: x, twice, lambda: x * 10], default=lambda: -x)
            loop = while_v2.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * 2), [tf.constant(0), x])[1]
            gradients = [tf.gradients(y, x)[0] for y in (branch, loop)]
            with tf.Session(cluster.target("chief", 0)) as session:
                for value in (0, 1, 2, 5):
                    story.say("%d on %s" % (value, task), session.run([branch, case, loop] + gradients, {n: value}))


def other_calls(cluster, story):
    for task in TASKS:
        with tf.Graph().as_default(), tf.device(task):
            x = tf.identity(tf.constant([1.0, 2.0]))
            gradient = functional_ops.symbolic_gradient(input=[x, tf.ones([2])], Tout=[tf.float32], f=square)
            square.add_to_graph(tf.get_default_graph())
            rows = gen_dataset_ops.map_defun([x], [], [tf.float32], [tf.TensorShape([])], square)
            for_loop = functional_ops.For(0, 3, 1, [x], body)
            with tf.Session(cluster.target("worker", 1)) as session:
                story.say("on %s" % task, session.run([gradient, rows, for_loop]))


@function.Defun(tf.int32, tf.float32)
def body(i, x):
    return x * 2 + tf.cast(i, tf.float32)


def input_of_training(cluster, story):
    """A model with variables on the parameter server, whose batches come from a dataset."""
    xs = np.random.RandomState(3).randn(40, 3).astype(np.float32)
    ys = (xs @ np.array([[1.0], [-2.0], [3.0]]) + 4).astype(np.float32)
    setter = tf.train.replica_device_setter(cluster=cluster.spec, worker_device=OTHER_WORKER)
    with tf.Graph().as_default(), tf.device(setter):
        dataset = Dataset.range(8).flat_map(
            lambda i: Dataset.from_tensor_slices((xs, ys)).filter(lambda x, y: x[0] > -1.0).map(lambda x, y: (x * 2, y)))
        x, y = tf.data.make_one_shot_iterator(dataset.batch(10).prefetch(1)).get_next()
        w = tf.get_variable("train/w", [3, 1], initializer=tf.zeros_initializer())
        b = tf.get_variable("train/b", [1], initializer=tf.zeros_initializer())
        step = tf.train.get_or_create_global_step()
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
        train = tf.train.AdamOptimizer(0.1).minimize(loss, global_step=step)
        losses = []
        with tf.train.MonitoredTrainingSession(cluster.target("worker", 1), hooks=[tf.train.StopAtStepHook(last_step=20)]) as session:
            while not session.should_stop():
                losses.append(session.run([train, loss])[1])
        story.say("losses", np.array(losses))


SCRIPTS = [dataset_functions, dataset_reductions, replica_devices, requested_devices, captured_state, iterators_by_name, calls, remote_calls,
           control_flow_functions, other_calls, input_of_training]
