"""Reference variables whose shape only their values decide. The scripts are like those in scripts.py."""

import os

import numpy as np
import tensorflow

tf = tensorflow.compat.v1


def values_that_change_shape(target, story):
    x = tf.placeholder(tf.float32)
    v = tf.Variable(x, validate_shape=False, use_resource=False, name="v")
    checked = tf.assign(v, x)
    added, other = tf.assign_add(v, x), tf.assign(v, x, validate_shape=False)
    with tf.Session(target) as session:
        story.say("not initialised", session.run([tf.is_variable_initialized(v), tf.report_uninitialized_variables()]))
        story.fails("read too early", tf.errors.FailedPreconditionError, "Attempting to use uninitialized value v", lambda: session.run(v))
        for value in ([1.0, 2.0], [[3.0, 4.0, 5.0]], 6.0, np.zeros([0, 3])):
            session.run(v.initializer, {x: value})
            story.say("initialised with %s" % (value,), session.run([v, v.read_value(), tf.shape(v)]))
            story.say("the same shape", session.run(added, {x: value}))
        session.run(other, {x: [7.0]})
        story.say("checked", session.run(checked, {x: [8.0]}))
        story.fails("another shape", tf.errors.InvalidArgumentError, "Assign requires shapes of both tensors to match. lhs shape= [1] rhs shape= [2]",
                    lambda: session.run(checked, {x: [8.0, 9.0]}))
    tf.Session.reset(target)


def slots(target, story):
    x = tf.placeholder(tf.float32, [None, 3])
    with tf.variable_scope("model", use_resource=False):
        w = tf.get_variable("w", initializer=tf.ones(tf.shape(x)), validate_shape=False)
    loss = tf.reduce_sum(tf.square(w - x))
    steps = [make(0.1).minimize(loss) for make in (
        lambda rate: tf.train.MomentumOptimizer(rate, 0.9), tf.train.AdagradOptimizer, tf.train.AdamOptimizer, tf.train.RMSPropOptimizer)]
    average = tf.train.ExponentialMovingAverage(0.9)
    averaged = average.apply([w])
    value = {x: [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]}
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer(), value)
        for step in steps:
            session.run(step, value)
            story.say(step.name, session.run(w))
        session.run(averaged)
        story.say("average", session.run(average.average(w)))
    tf.Session.reset(target)


def saved(target, story, folder):
    x = tf.placeholder(tf.float32)
    v = tf.Variable(x, validate_shape=False, use_resource=False, name="v")
    saver = tf.train.Saver()
    with tf.Session(target) as session:
        session.run(v.initializer, {x: [[1.0, 2.0]]})
        saver.save(session, os.path.join(folder, "model"))
        session.run(v.initializer, {x: 0.0})
        saver.restore(session, os.path.join(folder, "model"))
        story.say("restored", session.run(v))
    tf.Session.reset(target)


def matching_files(target, story, folder):
    for name in ("a.txt", "b.txt", "c.csv"):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
            out.write(name)
    names = tf.train.match_filenames_once([os.path.join(folder, "*.txt"), os.path.join(folder, "*.csv")])
    queue = tf.train.string_input_producer(names, num_epochs=1, shuffle=False)
    _, content = tf.WholeFileReader().read(queue)
    with tf.Session(target) as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        story.say("names", [os.path.basename(name) for name in session.run(names)])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        story.say("contents", sorted(session.run(content) for _ in range(3)))
        coordinator.request_stop()
        coordinator.join(threads)
    tf.Session.reset(target)


def barrier_components(target, story):
    barrier = tf.raw_ops.Barrier(component_types=[tf.float32], shapes=[tf.TensorShape(None)])
    insert = tf.raw_ops.BarrierInsertMany(handle=barrier, keys=["a", "b"], values=[1.0, 2.0], component_index=0)
    take = tf.raw_ops.BarrierTakeMany(handle=barrier, num_elements=2, component_types=[tf.float32])
    with tf.Session(target) as session:
        session.run(insert)
        story.say("taken", session.run(take)[1:])
    tf.Session.reset(target)


SCRIPTS = [values_that_change_shape, slots, barrier_components]
SCRIPTS_WITH_FILES = [saved, matching_files]
