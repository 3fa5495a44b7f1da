"""Branches whose nodes stand on the device of a node outside of them, in both kinds of control flow. The scripts are like those in scripts.py."""

import tensorflow
from tensorflow.python.ops import control_flow_util

tf = tensorflow.compat.v1


def fetches_of(taken, index):
    with tf.device("/cpu:1"):
        ref = tf.Variable([1.0, 2.0], use_resource=False, name="ref")
        handle = tf.Variable([1.0, 2.0], use_resource=True, name="handle")
    zeros = lambda: tf.zeros([1])

    def row_of(variable):
        with tf.colocate_with(variable):
            return tf.add(tf.gather(variable, index), 1.0)

    def beside_the_op():
        with tf.colocate_with(ref.op):
            return tf.constant(3.0) + ref[0]

    def nested():
        with tf.device("/cpu:1"):
            copy = tf.identity(handle)
        with tf.colocate_with(copy):
            return tf.cond(index[0] > 0, lambda: copy * 2.0, lambda: copy)

    rows = [tf.cond(taken, lambda: row_of(ref), zeros), tf.cond(taken, lambda: row_of(handle), zeros)]
    loop = tf.while_loop(lambda i, _: i < 2, lambda i, t: (i + 1, t + tf.cond(taken, lambda: row_of(ref), zeros)), (0, tf.zeros([1])),
                         shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])))[1]
    gradient = tf.convert_to_tensor(tf.gradients(rows[1], handle)[0])
    fetches = rows + [tf.cond(taken, beside_the_op, lambda: tf.constant(1.0)), tf.cond(taken, nested, lambda: tf.zeros([2])), loop, gradient]
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(rows[0]) + tf.reduce_sum(rows[1]))
    return fetches, train, [ref, handle]


def colocated_branches(target, story):
    before = control_flow_util.ENABLE_CONTROL_FLOW_V2
    for v2 in (False, True):
        (tf.enable_control_flow_v2 if v2 else tf.disable_control_flow_v2)()
        try:
            with tf.Graph().as_default():
                taken, index = tf.placeholder(tf.bool, []), tf.placeholder(tf.int32, [None])
                fetches, train, variables = fetches_of(taken, index)
                with tf.Session(target) as session:
                    session.run(tf.global_variables_initializer())
                    for value in (True, False):
                        story.say("v2 %s, taken %s" % (v2, value), session.run(fetches, {taken: value, index: [1]}))
                    session.run(train, {taken: True, index: [1]})
                    story.say("v2 %s, trained" % v2, session.run(variables))
        finally:
            (tf.enable_control_flow_v2 if before else tf.disable_control_flow_v2)()
    tf.Session.reset(target)


SCRIPTS_OF_TWO_DEVICES = [colocated_branches]
