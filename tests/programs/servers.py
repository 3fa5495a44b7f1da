"""Server processes: TensorFlow's and `sluice server`. Reads their memory and processor time."""

import json
import os
import subprocess
import sys

from tests.oracle.client.clusters import free_ports

SLUICE = os.path.join(os.environ.get("SLUICE_ORACLE_ROOT", ""), "tools/sluice")


def tensorflow_command(spec, job, task):
    return [sys.executable, "-m", "tests.programs.tensorflow_server", json.dumps(spec), job, str(task)]


def sluice_command(spec, job, task):
    return [SLUICE, "server", "--cluster=" + json.dumps(spec), "--job=" + job, "--task=%d" % task]


class Cluster:
    """One process per task. `command` returns the command of a task. A cluster of one task has no spec for its clients."""

    def __init__(self, command, **counts):
        ports = iter(free_ports(sum(counts.values())))
        spec = {job: ["127.0.0.1:%d" % next(ports) for _ in range(count)] for job, count in counts.items()}
        self.spec = spec if sum(counts.values()) > 1 else None
        self.tasks = [(job, i) for job, addresses in spec.items() for i in range(len(addresses))]
        self.targets, self._processes = {}, []
        for job, i in self.tasks:
            self._processes.append(subprocess.Popen(command(spec, job, i), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True))
        for (job, i), process in zip(self.tasks, self._processes):
            line = process.stdout.readline().strip()
            if not line.startswith("listening at "):
                self.kill()
                raise RuntimeError("The server of /job:%s/task:%d did not start: '%s'" % (job, i, line))
            self.targets[job, i] = line[len("listening at "):]
        self._start = self._processor_seconds()

    def _processor_seconds(self):
        ticks = 0
        for process in self._processes:
            with open("/proc/%d/stat" % process.pid) as f:
                fields = f.read().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def processor_seconds(self):
        """Of all tasks, since they listen."""
        return self._processor_seconds() - self._start

    def memory(self):
        """The most memory that each task has held (bytes), summed."""
        total = 0
        for process in self._processes:
            with open("/proc/%d/status" % process.pid) as f:
                total += sum(int(line.split()[1]) * 1024 for line in f if line.startswith("VmHWM:"))
        return total

    def kill(self):
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()
