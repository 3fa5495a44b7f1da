# TensorFlow 1's Python on a Sluice server: keep_python.py grpc://HOST:PORT
import sys

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

xs = np.random.RandomState(1).rand(64, 3).astype(np.float32)
ys = (xs @ [[1], [-2], [3]] + 4).astype(np.float32)

# [client]
x = tf.placeholder(tf.float32, [None, 3], name="x")
y = tf.placeholder(tf.float32, [None, 1], name="y")
w = tf.get_variable("w", [3, 1])
b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y), name="loss")
train = tf.train.AdamOptimizer(0.1).minimize(loss, name="train")
init = tf.global_variables_initializer()

with tf.Session(sys.argv[1]) as session:  # for example grpc://127.0.0.1:7000
    session.run(init)
    for _ in range(1000):
        _, value = session.run([train, loss], {x: xs, y: ys})
    print("loss %.4f" % value)
# [/client]

# [export]
np.savez("batch.npz", **{"x:0": xs, "y:0": ys})
tf.train.export_meta_graph("model.meta")
# [/export]
