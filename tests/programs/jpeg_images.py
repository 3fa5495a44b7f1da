"""Classifies photographs in JPEG files: queue runners read, distort and batch them for a convolutional network."""

import os

import numpy as np
import tensorflow

tf = tensorflow.compat.v1
CLASSES, PER_CLASS, SIZE, CROP, BATCH = 4, 12, 40, 32, 16


def write_files(folder):
    """Stripes of one direction and colour per class, with noise. Names of files end with their class."""
    random = np.random.RandomState(3)
    across, down = np.meshgrid(np.arange(SIZE), np.arange(SIZE))
    with tf.Graph().as_default(), tf.Session() as session:
        pixels = tf.placeholder(tf.uint8, [SIZE, SIZE, 3])
        encoded = tf.image.encode_jpeg(pixels, quality=90)
        for label in range(CLASSES):
            for i in range(PER_CLASS):
                angle = np.pi * (label + random.uniform(-0.2, 0.2)) / CLASSES
                wave = np.sin(0.5 * (across * np.cos(angle) + down * np.sin(angle)) + random.uniform(0, 6))
                colour = 40 + 60 * random.rand(3)
                image = 110 + wave[:, :, None] * colour + random.normal(0, 12, [SIZE, SIZE, 3])
                with open(os.path.join(folder, "image%02d-%d.jpg" % (i, label)), "wb") as f:
                    f.write(session.run(encoded, {pixels: np.clip(image, 0, 255).astype(np.uint8)}))


def distorted_inputs(folder):
    names = sorted(os.path.join(folder, n) for n in os.listdir(folder) if n.endswith(".jpg"))
    queue = tf.train.string_input_producer(names, seed=5)
    name, contents = tf.WholeFileReader().read(queue)
    label = tf.string_to_number(tf.string_split(tf.reshape(name, [1]), "-.").values[-2], tf.int32)
    image = tf.image.convert_image_dtype(tf.image.decode_jpeg(contents, channels=3), tf.float32)
    image = tf.random_crop(image, [CROP, CROP, 3], seed=6)
    image = tf.image.random_flip_up_down(image, seed=7)
    image = tf.image.random_brightness(image, 0.2, seed=8)
    image = tf.image.random_saturation(image, 0.5, 1.5, seed=9)
    image = tf.image.random_contrast(image, 0.5, 1.5, seed=10)
    image = tf.image.per_image_standardization(image)
    # One thread, so that the order of images is fixed.
    return tf.train.batch([image, label], BATCH, num_threads=1, capacity=3 * BATCH)


def network(images):
    net = images
    for i, filters in enumerate([16, 32]):
        net = tf.layers.conv2d(net, filters, 5, padding="same", activation=tf.nn.relu, name="conv%d" % i)
        net = tf.layers.max_pooling2d(net, 3, 2, "same")
        net = tf.nn.lrn(net, 4, bias=1.0, alpha=0.001 / 9.0, beta=0.75)
    net = tf.layers.dense(tf.layers.flatten(net), 64, tf.nn.relu, name="hidden")
    return tf.layers.dense(net, CLASSES, name="logits")


def train(run):
    write_files(run.folder)
    tf.set_random_seed(1)
    with run.device():
        images, labels = distorted_inputs(run.folder)
        logits = network(images)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        tf.add_to_collection("losses", loss)
        step = tf.train.get_or_create_global_step()
        # At four times this rate, rounding can switch a ReLU, and the losses then differ by 1e-5 to 1e-3.
        rate = tf.train.exponential_decay(0.005, step, 50, 0.9, staircase=True)
        train_op = tf.train.MomentumOptimizer(rate, 0.9).minimize(loss, global_step=step)
        averages = tf.train.ExponentialMovingAverage(0.99, step)
        with tf.control_dependencies([train_op]):
            train_op = averages.apply(tf.trainable_variables())

    with tf.Session(run.target) as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        for _ in run.steps():
            run.record(session.run([loss, train_op])[0])
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=10)
