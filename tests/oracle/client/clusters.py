"""A cluster of `sluice server`s, and synchronous training on it: one client a worker, between-graph replication."""

import gzip
import json
import os
import socket
import threading

import numpy as np
import tensorflow

from tests.oracle.client import servers

tf = tensorflow.compat.v1
FASHION_MNIST = "/usr/share/datasets/fashion-mnist"  # Debian's dataset-fashion-mnist


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class SluiceCluster:
    """A cluster in which each task is a process. `counts` has the number of tasks of each job."""

    def __init__(self, **counts):
        ports = iter(free_ports(sum(counts.values())))
        self.spec = {job: ["127.0.0.1:%d" % next(ports) for _ in range(count)] for job, count in counts.items()}
        self.servers = {}
        for job, addresses in self.spec.items():
            for i in range(len(addresses)):
                self.start(job, i)

    def start(self, job, index):
        self.servers[job, index] = servers.SluiceServer(
            "--cluster=" + json.dumps(self.spec), "--job=" + job, "--task=%d" % index)

    def target(self, job, index):
        return self.servers[job, index].target

    def targets(self):
        return [self.target("worker", i) for i in range(len(self.spec["worker"]))]

    def stop(self):
        for server in self.servers.values():
            server.kill()


class TensorFlowCluster:
    """The same with TensorFlow's servers, all in this process. They cannot be stopped."""

    def __init__(self, **counts):
        ports = iter(free_ports(sum(counts.values())))
        self.spec = {job: ["127.0.0.1:%d" % next(ports) for _ in range(count)] for job, count in counts.items()}
        self.servers = {(job, i): tensorflow.distribute.Server(self.spec, job_name=job, task_index=i)
                        for job, count in counts.items() for i in range(count)}

    def target(self, job, index):
        return self.servers[job, index].target


def fashion_mnist(part):
    """Images in [0, 1], one per row, and labels."""
    def read(name):
        with gzip.open(os.path.join(FASHION_MNIST, name), "rb") as f:
            return np.frombuffer(f.read(), np.uint8)
    images = read("%s-images-idx3-ubyte.gz" % part)[16:].reshape(-1, 784).astype(np.float32) / 255
    return images, read("%s-labels-idx1-ubyte.gz" % part)[8:].astype(np.int32)


class Replica:
    """A worker's client: its own graph, and a monitored session on its own worker's master.

    `build()` builds the model. It returns the loss, the feeds (a function from the step to a batch)
    and the tensors to evaluate.
    """

    def __init__(self, cluster, index, build, make_optimizer, aggregate, steps):
        self.index, self.target = index, cluster.targets()[index]
        self.error, self.steps, self.losses, self.result = None, [], [], None
        self.graph = tf.Graph()
        setter = tf.train.replica_device_setter(cluster=cluster.spec, worker_device="/job:worker/task:%d" % index)
        with self.graph.as_default(), tf.device(setter):
            self.model = build(index)
            step = tf.train.get_or_create_global_step()
            optimizer = tf.train.SyncReplicasOptimizer(make_optimizer(), replicas_to_aggregate=aggregate,
                                                       total_num_replicas=len(cluster.spec["worker"]))
            self.fetches = [optimizer.minimize(self.model.loss, global_step=step), self.model.loss, step]
            self.hooks = [optimizer.make_session_run_hook(index == 0), tf.train.StopAtStepHook(last_step=steps)]

    def run(self, chief_is_ready):
        try:
            if self.index > 0:
                chief_is_ready.wait()
            config = tf.ConfigProto(device_filters=["/job:ps", "/job:worker/task:%d" % self.index])
            with self.graph.as_default(), tf.train.MonitoredTrainingSession(
                    self.target, is_chief=self.index == 0, hooks=self.hooks, config=config,
                    stop_grace_period_secs=2, max_wait_secs=120) as session:
                chief_is_ready.set()
                while not session.should_stop():
                    _, loss, step = session.run(self.fetches, self.model.batch())
                    self.losses.append(loss)
                    self.steps.append(step)
        except Exception as e:  # pylint: disable=broad-except
            self.error = e
            chief_is_ready.set()


def train(cluster, build, make_optimizer, aggregate, steps, seconds=240):
    """Trains one replica a worker until global step `steps`; the replicas. Raises what ended one."""
    replicas = [Replica(cluster, i, build, make_optimizer, aggregate, steps) for i in range(len(cluster.targets()))]
    chief_is_ready = threading.Event()
    threads = [threading.Thread(target=replica.run, args=(chief_is_ready,), daemon=True) for replica in replicas]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds)
    for replica in replicas:
        if replica.error is not None:
            raise replica.error
    if any(thread.is_alive() for thread in threads):
        raise RuntimeError("replicas still run at steps %s" % [r.steps[-1:] for r in replicas])
    return replicas


def evaluate(cluster, replica, fetch, feeds):
    """Evaluates in a new session: variables outlive the session of the training."""
    with replica.graph.as_default(), tf.Session(cluster.targets()[0]) as session:
        return session.run(fetch, feeds)
