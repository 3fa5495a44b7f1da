"""A generative adversarial network of transposed convolutions (DCGAN) on Fashion-MNIST."""

import numpy as np
import tensorflow

from tests.oracle.client.clusters import fashion_mnist

tf = tensorflow.compat.v1
BATCH, NOISE, FILTERS = 16, 32, 16
NORMAL = tf.random_normal_initializer(stddev=0.02)


def generator(noise, training):
    with tf.variable_scope("generator"):
        net = tf.layers.dense(noise, 7 * 7 * 2 * FILTERS, use_bias=False, kernel_initializer=NORMAL)
        net = tf.reshape(net, [-1, 7, 7, 2 * FILTERS])
        net = tf.nn.relu(tf.layers.batch_normalization(net, training=training))
        net = tf.layers.conv2d_transpose(net, FILTERS, 5, 2, "same", use_bias=False, kernel_initializer=NORMAL)
        net = tf.nn.relu(tf.layers.batch_normalization(net, training=training))
        return tf.tanh(tf.layers.conv2d_transpose(net, 1, 5, 2, "same", kernel_initializer=NORMAL))


def discriminator(images, reuse=False):
    with tf.variable_scope("discriminator", reuse=reuse):
        net = tf.nn.leaky_relu(tf.layers.conv2d(images, FILTERS, 5, 2, "same", kernel_initializer=NORMAL))
        net = tf.layers.conv2d(net, 2 * FILTERS, 5, 2, "same", use_bias=False, kernel_initializer=NORMAL)
        net = tf.nn.leaky_relu(tf.layers.batch_normalization(net, training=True))
        return tf.layers.dense(tf.layers.flatten(net), 1, kernel_initializer=NORMAL)


def cross_entropy(logits, label):
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(logits=logits, labels=tf.fill(tf.shape(logits), label)))


def minimize(loss, scope):
    variables = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS, scope)):
        return tf.train.AdamOptimizer(0.0002, beta1=0.5).minimize(loss, var_list=variables)


def train(run):
    images = fashion_mnist("train")[0].reshape(-1, 28, 28, 1) * 2 - 1
    tf.set_random_seed(1)
    real, noise = tf.placeholder(tf.float32, [None, 28, 28, 1]), tf.placeholder(tf.float32, [None, NOISE])
    fake = generator(noise, True)
    real_logits, fake_logits = discriminator(real), discriminator(fake, reuse=True)
    d_loss = cross_entropy(real_logits, 0.9) + cross_entropy(fake_logits, 0.0)
    g_loss = cross_entropy(fake_logits, 1.0)
    d_train, g_train = minimize(d_loss, "discriminator"), minimize(g_loss, "generator")

    rng = np.random.RandomState(5)
    with tf.Session(run.target) as session:
        session.run(tf.global_variables_initializer())
        for _ in run.steps():
            feed = {real: images[rng.randint(0, len(images), BATCH)], noise: rng.uniform(-1, 1, [BATCH, NOISE])}
            _, d = session.run([d_train, d_loss], feed)
            _, g = session.run([g_train, g_loss], feed)
            run.record(d + g)
