"""Clusters that a client defines for its session (ConfigProto.cluster_def), of servers that do not know each other."""

import unittest

import tensorflow

from tests.oracle.client import servers
from tests.oracle.client import stories

tf = tensorflow.compat.v1
tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.FATAL)


def address(target):
    return target[len("grpc://"):]


def config_of(share=False, **jobs):
    """`jobs` has a dict for each job, from the numbers of its tasks to their servers' targets."""
    cluster = tf.train.ClusterDef()
    for name, tasks in jobs.items():
        job = cluster.job.add(name=name)
        for index, target in tasks.items():
            job.tasks[index] = address(target)
    config = tf.ConfigProto(cluster_def=cluster)
    config.experimental.share_session_state_in_clusterspec_propagation = share
    return config


def two_workers(targets, share=False):
    return config_of(share, worker={0: targets[0], 1: targets[1]})


def names(target, config):
    with tf.Session(target, config=config) as session:
        return sorted(d.name for d in session.list_devices() if "XLA" not in d.name)


def device_names(targets, story):
    a, b, c = targets
    story.say("two workers", names(a, two_workers(targets)))
    story.say("the other master", names(b, two_workers(targets)))
    story.say("two jobs", names(a, config_of(ps={3: c}, worker={5: a, 7: b})))
    story.say("one task", names(a, config_of(solo={0: a})))
    story.say("a server under two names", names(a, config_of(worker={0: a, 1: b, 2: b})))
    story.say("no cluster", names(a, tf.ConfigProto(cluster_def=tf.train.ClusterDef())))
    story.fails("without the master", tf.errors.InvalidArgumentError, "The master (current machine) is not included in the provided cluster_def",
                lambda: names(a, config_of(worker={0: b, 1: c})))
    story.fails("the master twice", tf.errors.InvalidArgumentError, "Found multiple matching tasks that correspond to to the master",
                lambda: names(a, config_of(worker={0: a, 1: a})))
    story.fails("the server's own name", tf.errors.InvalidArgumentError,
                "The ClusterSpec names the job and task index to be the same names that were provided when the server booted",
                lambda: names(a, config_of(localhost={0: a, 1: b})))


def placement(targets, story):
    for master in (0, 1):
        for device in ("/job:worker/task:0", "/job:worker/task:1", "/job:worker/task:1/cpu:0"):
            with tf.Graph().as_default(), tf.device(device):
                x = tf.identity(tf.constant([17.0])) * 2
                with tf.device("/job:worker/task:0"):
                    y = x + 1
                with tf.Session(targets[master], config=two_workers(targets)) as session:
                    story.say("%s from %d" % (device, master), session.run([x, y]))
    for device in ("/job:worker/task:2", "/job:localhost/task:0"):
        with tf.Graph().as_default(), tf.device(device):
            x = tf.identity(tf.constant(1.0))
            with tf.Session(targets[0], config=two_workers(targets)) as session:
                story.fails(device, tf.errors.InvalidArgumentError,
                            "available devices are [ /job:worker/replica:0/task:0/device:CPU:0, /job:worker/replica:0/task:1/device:CPU:0 ]",
                            lambda: session.run(x))


def programs(targets, story):
    """Loops, queues, datasets, partial runs and training over three tasks."""
    config = config_of(ps={0: targets[2]}, worker={0: targets[0], 1: targets[1]})
    with tf.device("/job:worker/task:1"):
        dataset = tf.data.Dataset.range(4).flat_map(lambda x: tf.data.Dataset.range(x).map(lambda y: y + x))
        element = tf.data.make_one_shot_iterator(dataset).get_next()
        queue = tf.FIFOQueue(10, tf.float32, shapes=[[]], shared_name="q")
        a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
        first = a + 1
    with tf.device("/job:ps/task:0"):
        second = first * b
        v = tf.get_variable("v", initializer=[1.0, 2.0])
        r = tf.get_variable("r", initializer=[1.0, 2.0], use_resource=True)

    def body(i, total):
        with tf.device("/job:ps/task:0"):
            total = total + tf.cast(i, tf.float32)
        with tf.device("/job:worker/task:0"):
            return i + 1, total

    with tf.device("/job:worker/task:0"):
        _, total = tf.while_loop(lambda i, t: i < 20, body, [tf.constant(0), tf.constant(0.0)])
        loss = tf.reduce_sum(tf.square(v - 3.0)) + tf.reduce_sum(tf.square(r - 5.0))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session(targets[0], config=config) as session:
        story.say("a loop", session.run(total))
        story.say("a dataset", [session.run(element) for _ in range(6)])
        session.run(queue.enqueue(3.0))
        story.say("a queue", session.run([queue.size(), queue.dequeue()])[1])
        handle = session.partial_run_setup([first, second], [a, b])
        story.say("a partial run", [session.partial_run(handle, first, {a: 1.0}), session.partial_run(handle, second, {b: 10.0})])
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(train)
        story.say("training", session.run([v, r, loss]))


def state(targets, story):
    """Sessions have state of their own, unless the client shares it."""
    def value(session, variable):
        return lambda: session.run(variable)

    for share in (False, True):
        with tf.Graph().as_default():
            with tf.device("/job:worker/task:1"):
                variables = [tf.get_variable("v%d" % share, initializer=1.0), tf.get_variable("r%d" % share, initializer=2.0, use_resource=True)]
            config = two_workers(targets, share)
            with tf.Session(targets[0], config=config) as session:
                session.run(tf.global_variables_initializer())
                session.run([v.assign_add(10.0) for v in variables])
                story.say("own %s" % share, session.run(variables))
            for master in (0, 1):
                with tf.Session(targets[master], config=config) as session:
                    for v in variables:
                        label = "%s at %d, %s" % (v.op.name, master, share)
                        if share:
                            story.say(label, session.run(v))
                        else:
                            story.fails(label, tf.errors.FailedPreconditionError, "", value(session, v))
    with tf.Graph().as_default():
        v = tf.get_variable("v1", initializer=0.0)
        with tf.Session(targets[1]) as session:
            story.say("without a cluster", session.run(v))


SCRIPTS = [device_names, placement, programs, state]


def tell(script, targets):
    tf.reset_default_graph()
    tf.set_random_seed(1)
    story = stories.Story()
    script(targets, story)
    return story


class ClusterDefTest(stories.StoryTestCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.control = [servers.TensorFlowServer() for _ in range(3)]
        cls.servers = [servers.SluiceServer() for _ in range(3)]

    @classmethod
    def tearDownClass(cls):
        for server in cls.servers:
            server.kill()
        super().tearDownClass()

    def test_scripts(self):
        for script in SCRIPTS:
            with self.subTest(script.__name__):
                ours = tell(script, [s.target for s in self.servers])
                theirs = tell(script, [s.target for s in self.control])
                self.assert_same_stories(theirs, ours, script.__name__)

    def test_errors_name_the_task_as_the_client_does(self):
        targets = [s.target for s in self.servers]
        with tf.Graph().as_default():
            for task in range(2):
                with tf.device("/job:worker/task:%d" % task):
                    bad = tf.gather([1, 2], tf.placeholder(tf.int32, [], name="i%d" % task))
                with tf.Session(targets[0], config=two_workers(targets)) as session:
                    with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "From /job:worker/replica:0/task:%d:" % task):
                        session.run(bad, {"i%d:0" % task: 7})

    def test_two_clusters_with_the_same_names_do_not_end_each_other(self):
        a, b, c = [s.target for s in self.servers]
        with tf.Graph().as_default():
            with tf.device("/job:worker/task:1"):
                v = tf.get_variable("v", initializer=1.0)
                update = v.assign_add(1.0)
            with tf.Session(a, config=config_of(worker={0: a, 1: c})) as first, tf.Session(b, config=config_of(worker={0: b, 1: c})) as second:
                first.run(v.initializer)
                second.run(v.initializer)
                first.run(update)
                self.assertEqual(second.run(v), 1)
                self.assertEqual(first.run(v), 2)


if __name__ == "__main__":
    unittest.main()
