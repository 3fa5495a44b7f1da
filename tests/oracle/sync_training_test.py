"""Synchronous training, its graphs built and exported in C++: TensorFlow runs them to Sluice's parameters."""

import os
import subprocess
import tempfile
import threading
import unittest

import numpy
import tensorflow
from tensorflow.core.framework import graph_pb2

from tests.oracle import sluice_side

tf = tensorflow.compat.v1
STEPS = 50


class Replica:
    """One replica's graph, with its own session on the shared server."""

    def __init__(self, server, stem):
        self.names = {}
        with open(stem + ".txt", encoding="utf-8") as file:
            for line in file:
                key, name = line.split()
                self.names.setdefault(key, []).append(name)
        with open(stem + ".pb", "rb") as file:
            definition = graph_pb2.GraphDef.FromString(file.read())
        self.graph = tf.Graph()
        with self.graph.as_default():
            tensorflow.graph_util.import_graph_def(definition, name="")
        self.session = tf.Session(server.target, graph=self.graph)

    def run(self, key, feeds=None):
        for name in self.names[key]:
            self.session.run(self.graph.get_operation_by_name(name), feeds)

    def step(self, x, y):
        self.run("train", {self.names["x"][0]: x, self.names["y"][0]: y})

    def parameters(self):
        return self.session.run(self.names["read"])


def enqueue_until(stopped, chief, failures):
    """The body of a queue runner's thread."""
    try:
        while True:
            chief.run("enqueue")
    except (tensorflow.errors.OpError, RuntimeError) as error:
        if not stopped.is_set():
            failures.append(error)


def train(server, folder, count, data):
    """The parameters after the last step of `count` replicas, each in its thread."""
    replicas = [Replica(server, os.path.join(folder, "%d_%d" % (count, i))) for i in range(count)]
    chief = replicas[0]
    chief.run("init")
    chief.run("chief_init")
    for replica in replicas:
        replica.run("local_init")
    stopped, failures = threading.Event(), []
    runner = threading.Thread(target=enqueue_until, args=(stopped, chief, failures), daemon=True)
    runner.start()
    # As in C++, every replica pushes one gradient per step.
    together = threading.Barrier(count, timeout=60)

    def work(i):
        try:
            for step in range(STEPS):
                together.wait()
                part = slice(i * 24 // count, (i + 1) * 24 // count)
                replicas[i].step(data["x%d" % step][part], data["y%d" % step][part])
        except Exception as error:  # pylint: disable=broad-except  # told by the caller
            failures.append(error)
            together.abort()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    parameters = chief.parameters()
    # The runner waits for more gradients until its session ends.
    stopped.set()
    chief.session.close()
    return parameters


class SyncTraining(unittest.TestCase):

    def check(self, kind):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([os.path.join(sluice_side.ROOT, "tests/oracle/export_sync_training"), folder, kind], check=True)
            data = dict(numpy.load(os.path.join(folder, "data.npz")))
            read = lambda name: [v for _, v in sorted(numpy.load(os.path.join(folder, name + ".npz")).items())]
            alone = read("alone")
            for count in (1, 2, 4):
                with self.subTest("%d replicas" % count):
                    server = tf.train.Server.create_local_server(
                        config=tf.ConfigProto(device_count={"CPU": count + 1}))
                    theirs = train(server, folder, count, data)
                    for our, their, whole in zip(read(str(count)), theirs, alone, strict=True):
                        self.assertGreater(numpy.abs(whole).max(), 0.01)  # training changed the parameters
                        numpy.testing.assert_allclose(our, their, rtol=0, atol=1e-5)
                        numpy.testing.assert_allclose(their, whole, rtol=0, atol=1e-5)

    def test_reference_variables(self):
        self.check("ref")

    def test_resource_variables(self):
        self.check("resource")
