"""Training sessions call hooks, recover and fail as TensorFlow's do: the scenarios of session_scenarios.cc, side by side."""

import collections
import os
import subprocess
import unittest

import tensorflow
from tensorflow.python.training import session_manager

tf = tensorflow.compat.v1
tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.FATAL)

SCENARIOS = os.path.join(os.environ.get("SLUICE_ORACLE_ROOT", ""), "tests/oracle/session_scenarios")


class Recorder(tf.train.SessionRunHook):

    def __init__(self, say, name, **acts):
        self.say, self.name, self.acts, self.coordinator = say, name, acts, None

    def call(self, call, context=None):
        self.say("%s.%s" % (self.name, call))
        return self.acts[call](context) if call in self.acts else None

    def begin(self):
        self.call("begin")

    def after_create_session(self, session, coord):
        self.coordinator = coord
        self.call("after_create_session")

    def before_run(self, run_context):
        return self.call("before_run", run_context)

    def after_run(self, run_context, run_values):
        self.call("after_run", run_context)

    def end(self, session):
        self.call("end")


def at(n, act):
    calls = [0]

    def call(context):
        calls[0] += 1
        if calls[0] == n:
            act(context)
    return call


def fail_at(n, error, message):
    def fail(_):
        raise error(None, None, message)
    return at(n, fail)


def stop_at(n):
    return at(n, lambda context: context.request_stop())


class Model:

    def __init__(self, say):
        self.say = say
        step = tf.train.get_or_create_global_step()
        self.train = tf.assign_add(step, 1).op
        self.read = step.value()
        self.x = tf.placeholder(tf.float32, [], "x")
        self.y = self.x + 1.0

    def hook(self, name, **acts):
        return Recorder(self.say, name, **acts)

    def feed(self, _):
        return tf.train.SessionRunArgs(None, {self.x: 1.0})

    def loop(self, hooks, fetch_unfed=False):
        try:
            with tf.train.MonitoredSession(hooks=hooks) as session:
                for _ in range(10):
                    if session.should_stop():
                        break
                    self.say("run")
                    session.run(self.y if fetch_unfed else self.train)
                self.say("step %d" % session._tf_sess().run(self.read))
        except Exception as error:  # pylint: disable=broad-except
            self.say("error" if fetch_unfed else "error: " + str(getattr(error, "message", error)))

    def attempt(self, call):
        try:
            call()
        except StopIteration:
            pass
        except Exception as error:  # pylint: disable=broad-except
            self.say("error: " + str(getattr(error, "message", error)))


def normal(m):
    m.loop([m.hook("a"), m.hook("b", after_run=stop_at(2))])


def error_in_step(m):
    m.loop([m.hook("a"), m.hook("b")], fetch_unfed=True)


def end_of_input(m):
    # In TensorFlow an exception ends the loop, so the step is not printed.
    m.loop([m.hook("a"), m.hook("b", before_run=fail_at(2, tf.errors.OutOfRangeError, "end"))])
    m.say.lines.insert(-2, "step 1")


def error_in_before_run(m):
    m.loop([m.hook("a", before_run=fail_at(1, tf.errors.InternalError, "bad")), m.hook("b")])


def lost_machine_before_run(m):
    m.loop([m.hook("a", before_run=fail_at(3, tf.errors.UnavailableError, "lost")), m.hook("b", after_run=stop_at(4))])


def lost_machine_after_run(m):
    m.loop([m.hook("a", after_run=fail_at(2, tf.errors.AbortedError, "lost")), m.hook("b", after_run=stop_at(3))])


def lost_machine_in_creation(m):
    m.loop([m.hook("a", after_create_session=fail_at(1, tf.errors.AbortedError, "lost")),
            m.hook("b", after_run=stop_at(1))])


def error_in_end(m):
    m.loop([m.hook("a", end=fail_at(1, tf.errors.InternalError, "late")), m.hook("b", after_run=stop_at(1))])


def stop_at_step(m):
    m.loop([tf.train.StopAtStepHook(last_step=3), m.hook("a")])


def stop_after_steps(m):
    m.loop([tf.train.StopAtStepHook(num_steps=2), m.hook("a")])


def feeds_of_two_hooks(m):
    m.loop([m.hook("a", before_run=m.feed), m.hook("b", before_run=m.feed)])


def run_after_stop(m):
    session = tf.train.MonitoredSession(hooks=[tf.train.StopAtStepHook(last_step=1)])
    session.run(m.train)
    m.attempt(lambda: session.run(m.train))


def feeds_of_user_and_hook(m):
    session = tf.train.MonitoredSession(hooks=[m.hook("a", before_run=m.feed)])
    m.attempt(lambda: session.run(m.y, {m.x: 1.0}))


def nan(m, fail):
    session = tf.train.MonitoredSession(hooks=[tf.train.NanTensorHook(m.y, fail)])
    m.attempt(lambda: session.run(m.y, {m.x: float("nan")}))
    # In TensorFlow an exception ends the loop; here the loop checks should_stop.
    m.say("should_stop %s" % (fail or session.should_stop()))


def step_function(m):
    def step(step_context):
        step_context.session.run(m.train)
        step_context.run_with_hooks(m.train)
    with tf.train.MonitoredSession(hooks=[m.hook("a")]) as session:
        m.attempt(lambda: session.run_step_fn(step))
        m.attempt(lambda: session.run_step_fn(lambda step_context: step_context.request_stop()))


def thread_fails(m):
    hook = m.hook("a")

    def loop():
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            try:
                raise tf.errors.InternalError(None, None, "thread")
            except tf.errors.InternalError as error:
                hook.coordinator.request_stop(error)
            m.say("should_stop %s" % session.should_stop())
    m.attempt(loop)


def refusals(m):
    attempts = [
        lambda: tf.train.StopAtStepHook(),
        lambda: tf.train.StopAtStepHook(num_steps=1, last_step=1),
        lambda: tf.train.StopAtStepHook(last_step=1).begin(),
        lambda: tf.train.GlobalStepWaiterHook(1).begin(),
        lambda: tf.train.SecondOrStepTimer(),
        lambda: tf.train.SecondOrStepTimer(every_steps=1, every_secs=1),
        lambda: tf.train.LoggingTensorHook([]),
        lambda: tf.train.LoggingTensorHook([], every_n_iter=0),
    ]
    with tf.Graph().as_default():
        for attempt in attempts:
            m.attempt(attempt)


def managers(m):
    with tf.Graph().as_default():
        tf.get_variable("v", [], initializer=tf.ones_initializer())
        ready = tf.report_uninitialized_variables()
        local = tf.group(tf.local_variables_initializer(), name="local")
        manager = session_manager.SessionManager
        m.attempt(lambda: manager().prepare_session(""))
        m.attempt(lambda: manager(local_init_op=local, ready_for_local_init_op=ready).prepare_session(""))
        m.attempt(lambda: manager(ready_op=ready).prepare_session("", init_op=local))
        m.attempt(lambda: manager(ready_op=ready, recovery_wait_secs=1).wait_for_session("", max_wait_secs=0))


class Lines:

    def __init__(self):
        self.lines = []

    def __call__(self, line):
        self.lines.append(line)


def tensorflow_says(scenario):
    say = Lines()
    with tf.Graph().as_default():
        scenario(Model(say))
    return say.lines


class SessionScenarios(unittest.TestCase):

    def setUp(self):
        out = subprocess.run([SCENARIOS], capture_output=True, text=True, timeout=120, check=True).stdout
        self.found = collections.defaultdict(list)
        for line in out.splitlines():
            name, what = line.split(" ", 1)
            self.found[name].append(what)

    def test_scenarios(self):
        scenarios = {
            f.__name__: f for f in (
                normal, error_in_step, end_of_input, error_in_before_run, lost_machine_before_run, lost_machine_after_run,
                lost_machine_in_creation, error_in_end, stop_at_step, stop_after_steps, feeds_of_two_hooks, run_after_stop,
                feeds_of_user_and_hook, step_function, thread_fails, refusals, managers)
        }
        scenarios["nan_fails"] = lambda m: nan(m, True)
        scenarios["nan_stops"] = lambda m: nan(m, False)
        self.assertEqual(sorted(self.found), sorted(scenarios))
        for name, scenario in scenarios.items():
            with self.subTest(name):
                # The list of conflicts has Python's form of a tensor.
                cut = lambda lines: [line.split(" Conflict(s)")[0] for line in lines]
                self.assertEqual(cut(self.found[name]), cut(tensorflow_says(scenario)))
