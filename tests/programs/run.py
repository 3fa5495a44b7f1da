"""What a program is given, and what it reports."""

import json
import os
import sys
import time

import tensorflow

tf = tensorflow.compat.v1


class Run:
    """One client of a program.

    `target` is the address of the client's master. `cluster` maps each job to addresses, or is None
    on a server that is alone. `folder` holds the program's files; clients and servers share it.
    In `take_turns` mode the client waits for a line of its input before each step. The parent can
    so order the steps of several clients that update the same variables.
    """

    def __init__(self, target, folder, steps=20, cluster=None, job="worker", task=0, take_turns=False):
        self.target, self.folder, self.cluster = target, folder, cluster
        self.job, self.task, self.take_turns = job, task, take_turns
        self.steps_to_run = steps
        self.losses, self.results = [], {}
        self.seconds, self.processor_seconds = [], []  # of each step, in this process

    @property
    def is_chief(self):
        return self.cluster is None or (self.job == "worker" and self.task == 0 and "chief" not in self.cluster) or self.job == "chief"

    @property
    def replicas(self):
        return sum(len(a) for job, a in self.cluster.items() if job != "ps") if self.cluster else 1

    @property
    def replica(self):
        """Index of this client among all workers. The chief is the first."""
        return self.task + (1 if self.cluster and "chief" in self.cluster and self.job == "worker" else 0)

    def path(self, name):
        return os.path.join(self.folder, name)

    def device(self):
        """The device function of between-graph replication."""
        if self.cluster is None:
            return tf.device(None)
        return tf.device(tf.train.replica_device_setter(cluster=self.cluster, worker_device="/job:%s/task:%d" % (self.job, self.task)))

    def steps(self):
        """Yields the numbers of the steps. Between two of them the program records one loss."""
        for step in range(self.steps_to_run):
            self.wait_for_turn()
            start, processor = time.monotonic(), time.process_time()
            yield step
            self.seconds.append(time.monotonic() - start)
            self.processor_seconds.append(time.process_time() - processor)

    def wait_for_turn(self):
        if self.take_turns:
            sys.stdin.readline()

    def record(self, loss):
        self.losses.append(float(loss))
        if self.take_turns:
            print(json.dumps({"loss": self.losses[-1]}), flush=True)

    def result(self, name, value):
        """Reports a value that the comparison expects to be equal on both servers."""
        self.results[name] = value

    def report(self):
        return {"losses": self.losses, "results": self.results, "seconds": self.seconds, "processor_seconds": self.processor_seconds}

    def estimator_config(self, **kwargs):
        """Directs an Estimator to the target, as a launcher does: by TF_CONFIG."""
        config = {"session_master": self.target}
        if self.cluster is not None:
            config.update(cluster=self.cluster, task={"type": self.job, "index": self.task})
        os.environ["TF_CONFIG"] = json.dumps(config)
        return tf.estimator.RunConfig(model_dir=self.path("model"), tf_random_seed=1, **kwargs)


class EstimatorHook(tf.train.SessionRunHook):
    """Records the losses of an Estimator's training, and ends it."""

    def __init__(self, run):
        self._run = run

    def begin(self):
        self._loss = tf.get_collection(tf.GraphKeys.LOSSES)[-1]
        self._steps = self._run.steps()

    def before_run(self, run_context):
        next(self._steps)
        return tf.train.SessionRunArgs(self._loss)

    def after_run(self, run_context, run_values):
        self._run.record(run_values.results)
        if len(self._run.losses) == self._run.steps_to_run:
            next(self._steps, None)
            run_context.request_stop()
