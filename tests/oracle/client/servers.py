"""Servers to run clients' scripts against: TensorFlow's own, in this process, and `sluice server`."""

import os
import subprocess

import tensorflow

SLUICE = os.path.join(os.environ.get("SLUICE_ORACLE_ROOT", ""), "tools/sluice")


class TensorFlowServer:
    """A cluster of one task, in this process: TensorFlow's servers cannot be stopped."""

    def __init__(self, cpus=1):
        config = tensorflow.compat.v1.ConfigProto(device_count={"CPU": cpus})
        self._server = tensorflow.distribute.Server({"localhost": ["127.0.0.1:0"]}, job_name="localhost", task_index=0, config=config)
        self.target = self._server.target

    def stop(self):
        pass


class SluiceServer:
    """A process of `sluice server`."""

    def __init__(self, *flags):
        self.process = subprocess.Popen([SLUICE, "server"] + list(flags or ["--port=0"]), stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline().strip()
        if not line.startswith("listening at "):
            raise RuntimeError("sluice server did not start: '%s'" % line)
        self.target = line[len("listening at "):]

    def stop(self):
        """Asks it to stop; its exit status."""
        self.process.terminate()
        return self.process.wait(60)

    def kill(self):
        self.process.kill()
        self.process.wait()
