"""Models of images: classifiers and generators."""

from tests.oracle.models.model import Seeds, finish, tf


def classes_loss(labels, logits):
    return tf.losses.sparse_softmax_cross_entropy(labels, logits)


def inputs():
    return tf.placeholder(tf.float32, [None, 28, 28, 1], "images"), tf.placeholder(tf.int32, [None], "labels")


def softmax_regression():
    seeds = Seeds()
    x, y = inputs()
    logits = tf.layers.dense(tf.reshape(x, [-1, 784]), 10, kernel_initializer=seeds.glorot())
    loss = classes_loss(y, logits)
    step = tf.train.get_or_create_global_step()
    return finish(loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step), [x, y])


def mlp():
    """Dropout, weight decay, Adam; resource variables."""
    seeds = Seeds()
    tf.get_variable_scope().set_use_resource(True)
    x, y = inputs()
    net = tf.layers.flatten(x)
    for units in (48, 32):
        net = tf.layers.dense(net, units, tf.nn.relu, kernel_initializer=seeds.glorot(),
                              kernel_regularizer=lambda w: 0.001 * tf.nn.l2_loss(w))
        net = tf.layers.dropout(net, 0.2, seed=seeds.next(), training=True)
    logits = tf.layers.dense(net, 10, kernel_initializer=seeds.glorot())
    loss = classes_loss(y, logits) + tf.losses.get_regularization_loss()
    return finish(loss, tf.train.AdamOptimizer(0.002).minimize(loss), [x, y])


def lenet():
    seeds = Seeds()
    x, y = inputs()
    net = tf.layers.conv2d(x, 6, 5, padding="same", activation=tf.nn.tanh, kernel_initializer=seeds.glorot())
    net = tf.layers.average_pooling2d(net, 2, 2)
    net = tf.layers.conv2d(net, 16, 5, activation=tf.nn.tanh, kernel_initializer=seeds.glorot())
    net = tf.layers.max_pooling2d(net, 2, 2)
    net = tf.layers.flatten(net)
    for units in (120, 84):
        net = tf.layers.dense(net, units, tf.nn.tanh, kernel_initializer=seeds.glorot())
    loss = classes_loss(y, tf.layers.dense(net, 10, kernel_initializer=seeds.glorot()))
    return finish(loss, tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss), [x, y])


def train_after_updates(optimizer, loss, **kwargs):
    """Batch normalization requires it: every step updates the moving averages."""
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        return optimizer.minimize(loss, **kwargs)


def resnet20():
    """He et al. (2015) for CIFAR-10, with a quarter of the channels; resource variables, a falling learning rate.

    In double precision: 20 layers of batch normalisation and corners make a difference in the last digit of a float a
    million times as large in ten steps (TensorFlow with oneDNN differs from TensorFlow without it as much).
    """
    seeds = Seeds()
    tf.get_variable_scope().set_use_resource(True)
    x, y = inputs()

    net = tf.cast(x, tf.float64)

    def conv(net, channels, size, stride):
        return tf.layers.conv2d(net, channels, size, stride, "same", use_bias=False, kernel_initializer=seeds.he(),
                                kernel_regularizer=lambda w: 1e-4 * tf.nn.l2_loss(w))

    def normal(net):
        return tf.layers.batch_normalization(net, momentum=0.9, fused=False, training=True)

    net = tf.nn.relu(normal(conv(net, 4, 3, 1)))
    for channels in (4, 8, 16):
        for block in range(3):
            stride = 2 if channels > 4 and block == 0 else 1
            shortcut = net if stride == 1 else conv(net, channels, 1, stride)
            net = tf.nn.relu(normal(conv(net, channels, 3, stride)))
            net = tf.nn.relu(normal(conv(net, channels, 3, 1)) + shortcut)
    net = tf.reduce_mean(net, [1, 2])
    loss = classes_loss(y, tf.layers.dense(net, 10, kernel_initializer=seeds.glorot()))
    loss += tf.losses.get_regularization_loss()
    step = tf.train.get_or_create_global_step()
    rate = tf.train.piecewise_constant(step, [50, 80], [0.02, 0.01, 0.005])
    return finish(loss, train_after_updates(tf.train.MomentumOptimizer(rate, 0.9), loss, global_step=step), [x, y])


def inception():
    """Four branches joined, twice; batch normalisation, RMSProp."""
    seeds = Seeds()
    x, y = inputs()

    def conv(net, channels, size):
        net = tf.layers.conv2d(net, channels, size, padding="same", use_bias=False, kernel_initializer=seeds.he())
        return tf.nn.relu(tf.layers.batch_normalization(net, training=True, scale=False))

    net = tf.layers.max_pooling2d(conv(x, 8, 3), 3, 2, "same")
    for block in range(2):
        with tf.variable_scope("mixed_%d" % block):
            pooled = tf.layers.max_pooling2d(net, 3, 1, "same")
            branches = [conv(net, 4, 1), conv(conv(net, 4, 1), 6, 3), conv(conv(net, 2, 1), 4, 5), conv(pooled, 4, 1)]
            net = tf.concat(branches, 3)
    net = tf.reduce_mean(net, [1, 2])
    loss = classes_loss(y, tf.layers.dense(net, 10, kernel_initializer=seeds.glorot()))
    return finish(loss, train_after_updates(tf.train.RMSPropOptimizer(0.0001, momentum=0.5), loss), [x, y])


def vae():
    """Kingma and Welling (2013)."""
    seeds = Seeds()
    x = tf.placeholder(tf.float32, [16, 28, 28, 1], "images")
    pixels = tf.layers.flatten(x)
    hidden = tf.layers.dense(pixels, 64, tf.nn.softplus, kernel_initializer=seeds.glorot())
    mean = tf.layers.dense(hidden, 8, kernel_initializer=seeds.glorot())
    log_variance = tf.layers.dense(hidden, 8, kernel_initializer=seeds.glorot())
    noise = tf.random_normal(tf.shape(mean), seed=seeds.next())
    code = mean + tf.exp(0.5 * log_variance) * noise
    hidden = tf.layers.dense(code, 64, tf.nn.softplus, kernel_initializer=seeds.glorot())
    logits = tf.layers.dense(hidden, 784, kernel_initializer=seeds.glorot())
    likelihood = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=pixels, logits=logits), 1)
    divergence = -0.5 * tf.reduce_sum(1 + log_variance - tf.square(mean) - tf.exp(log_variance), 1)
    loss = tf.reduce_mean(likelihood + divergence)
    return finish([loss, tf.reduce_mean(divergence)], tf.train.AdamOptimizer(0.001).minimize(loss), [x])


def dcgan():
    """Radford et al. (2015), narrow. Both optimizers take the gradients at the same parameters; resource variables."""
    seeds = Seeds()
    tf.get_variable_scope().set_use_resource(True)
    x = tf.placeholder(tf.float32, [8, 28, 28, 1], "images")
    z = tf.placeholder(tf.float32, [8, 16], "noise")

    def up(net, channels, stride, activation=None, **kwargs):
        return tf.layers.conv2d_transpose(net, channels, 5, stride, "same", activation=activation,
                                          kernel_initializer=seeds.normal(0.05), **kwargs)

    def normal(net):
        return tf.nn.relu(tf.layers.batch_normalization(net, training=True))

    with tf.variable_scope("generator"):
        net = tf.layers.dense(z, 7 * 7 * 8, kernel_initializer=seeds.normal(0.05))
        net = normal(tf.reshape(net, [-1, 7, 7, 8]))
        net = normal(up(net, 6, 2, use_bias=False))
        made = up(net, 1, 2, tf.nn.sigmoid)

    kernels = [seeds.normal(0.05), seeds.normal(0.05), seeds.glorot()]

    def discriminator(net, reuse):
        with tf.variable_scope("discriminator", reuse=reuse):
            for i, channels in enumerate((6, 8)):
                net = tf.layers.conv2d(net, channels, 5, 2, "same", kernel_initializer=kernels[i], name="conv%d" % i)
                net = tf.nn.leaky_relu(net, 0.2)
            return tf.layers.dense(tf.layers.flatten(net), 1, kernel_initializer=kernels[2], name="logit")

    real, fake = discriminator(x, False), discriminator(made, True)
    cross = tf.nn.sigmoid_cross_entropy_with_logits
    d_loss = (tf.reduce_mean(cross(labels=tf.ones_like(real), logits=real)) +
              tf.reduce_mean(cross(labels=tf.zeros_like(fake), logits=fake)))
    g_loss = tf.reduce_mean(cross(labels=tf.ones_like(fake), logits=fake))
    pairs = []
    optimizers = [tf.train.AdamOptimizer(0.0003, beta1=0.5, name=name) for name in ("AdamD", "AdamG")]
    for optimizer, loss, scope in zip(optimizers, (d_loss, g_loss), ("discriminator", "generator")):
        variables = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope)
        pairs.append(optimizer.compute_gradients(loss, variables))
    gradients = [g for of in pairs for g, _ in of]
    with tf.control_dependencies(gradients + tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = tf.group(*[o.apply_gradients(p) for o, p in zip(optimizers, pairs)], name="train")
    return finish([d_loss, g_loss], train, [x, z])


MODELS = [softmax_regression, mlp, lenet, resnet20, inception, vae, dcgan]
