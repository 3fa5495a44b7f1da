"""Runs programs on TensorFlow's server and on `sluice server`, and compares. tools/check_clients starts it.

  python -m tests.programs.compare [PROGRAM ...] [--rounds=3] [--cluster]

Exits with 1 if losses or results differ.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile

import numpy as np

from tests.programs import servers

STEPS = 20  # whose losses are compared
TOLERANCE = 1e-4
# Steps of a measurement, the first STEPS of which warm up.
PROGRAMS = {
    "mnist_replicas": 320,
    "wide_deep": 220,
    "word2vec": 320,
    "char_rnn": 120,
    "seq2seq": 80,
    "dcgan": 80,
    "gcn": 220,
    "bert": 80,
    "recommenders.deepfm": 220,
    "recommenders.din": 220,
    "recommenders.mmoe": 220,
    "a2c": 220,
    "jpeg_images": 120,
    "lstm_resume": 220,
}
# Programs that also run on a cluster. The clients of synchronous training run each step together. Others run one after another, because
# asynchronous updates have no fixed order.
ON_A_CLUSTER = {"mnist_replicas": "together", "wide_deep": "in turns", "recommenders.din": "in turns", "bert": "in turns"}
COMMANDS = {"TensorFlow": servers.tensorflow_command, "Sluice": servers.sluice_command}


class Client:
    """A client's process."""

    def __init__(self, program, cluster, folder, steps, job, task, take_turns=False):
        command = [sys.executable, "-m", "tests.programs.client", program, "--target=" + cluster.targets[job, task], "--folder=" + folder,
                   "--steps=%d" % steps, "--job=" + job, "--task=%d" % task]
        if cluster.spec:
            command.append("--cluster=" + json.dumps(cluster.spec))
        if take_turns:
            command.append("--take_turns")
        self._errors = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True)

    def begin_step(self):
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def end_step(self):
        self._read()

    def step(self):
        self.begin_step()
        self.end_step()

    def _read(self):
        line = self._process.stdout.readline()
        if not line.startswith("{"):
            self._process.kill()
            self._process.wait()
            self._errors.seek(0)
            raise RuntimeError("The client failed: %s\n%s" % (line, self._errors.read()[-4000:]))
        return json.loads(line)

    def report(self):
        report = self._read()
        self._process.wait()
        return report


def run(program, side, steps):
    """The report of a client on a server that is alone, and of the server."""
    with tempfile.TemporaryDirectory() as folder:
        cluster = servers.Cluster(COMMANDS[side], localhost=1)
        try:
            report = Client(program, cluster, folder, steps, "localhost", 0).report()
            report.update(server_seconds=cluster.processor_seconds(), server_memory=cluster.memory())
            return report
        finally:
            cluster.kill()


def run_on_cluster(program, side, steps):
    """The same for a parameter server, a chief and two workers; the reports of the three clients."""
    with tempfile.TemporaryDirectory() as folder:
        cluster = servers.Cluster(COMMANDS[side], ps=1, chief=1, worker=2)
        try:
            start = lambda job, task: Client(program, cluster, folder, steps, job, task, take_turns=True)
            clients = [start("chief", 0)]
            if ON_A_CLUSTER[program] == "together":
                clients += [start("worker", 0), start("worker", 1)]
                for _ in range(steps):
                    for client in clients:
                        client.begin_step()
                    for client in clients:
                        client.end_step()
            else:
                clients[0].step()  # initializes the variables before the workers look for them
                clients += [start("worker", 0), start("worker", 1)]
                for client in clients[1:] + clients * (steps - 1):
                    client.step()
            return [client.report() for client in clients]
        finally:
            cluster.kill()


def differences(theirs, ours):
    """What differs between two reports, as lines."""
    lines = []
    if len(theirs["losses"]) != len(ours["losses"]):
        lines.append("%d losses, but %d" % (len(theirs["losses"]), len(ours["losses"])))
    for step, (a, b) in enumerate(list(zip(theirs["losses"], ours["losses"]))[:STEPS]):
        if not abs(a - b) <= TOLERANCE * max(1, abs(a)):
            lines.append("step %d: loss %.7g, but %.7g" % (step, a, b))
    if theirs["results"].keys() != ours["results"].keys():
        lines.append("results %s, but %s" % (sorted(theirs["results"]), sorted(ours["results"])))
    for name in theirs["results"].keys() & ours["results"].keys():
        a, b = np.array(theirs["results"][name]), np.array(ours["results"][name])
        equal = np.allclose(a, b, TOLERANCE, TOLERANCE) if a.dtype.kind == "f" and a.shape == b.shape else np.array_equal(a, b)
        if not equal:
            lines.append("%s: %s, but %s" % (name, a, b))
    return lines


def largest_difference(theirs, ours):
    return max(abs(a - b) for a, b in list(zip(theirs["losses"], ours["losses"]))[:STEPS])


def steps_per_second(report):
    return 1 / statistics.median(report["seconds"][STEPS:])


def client_share(report):
    return sum(report["processor_seconds"][STEPS:]) / sum(report["seconds"][STEPS:])


def measure(program, rounds):
    """Prints one row of the table. Returns the ratio of steps per second, and what differs."""
    sides = {side: [] for side in COMMANDS}
    for _ in range(rounds):
        for side, reports in sides.items():
            reports.append(run(program, side, PROGRAMS[program]))
    different = differences(sides["TensorFlow"][0], sides["Sluice"][0])
    median = lambda side, value: statistics.median(value(report) for report in sides[side])
    speed = [median(side, steps_per_second) for side in COMMANDS]
    memory = [median(side, lambda r: r["server_memory"]) / 1e6 for side in COMMANDS]
    seconds = [median(side, lambda r: r["server_seconds"]) for side in COMMANDS]
    print("| %s | %.1e | %.0f | %.0f | %.2f | %.0f %% | %.0f | %.0f | %.2f | %.1f | %.1f | %.2f |" % (
        program, largest_difference(sides["TensorFlow"][0], sides["Sluice"][0]), *speed, speed[1] / speed[0], 100 * median("Sluice", client_share),
        *memory, memory[1] / memory[0], *seconds, seconds[1] / seconds[0]), flush=True)
    return speed[1] / speed[0], different


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("programs", nargs="*")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--cluster", action="store_true", help="on a parameter server, a chief and two workers; compares losses only")
    a = p.parse_args()
    failures, ratios = {}, []
    if a.cluster:
        for program in a.programs or ON_A_CLUSTER:
            theirs, ours = (run_on_cluster(program, side, STEPS) for side in COMMANDS)
            failures[program] = [line for pair in zip(theirs, ours) for line in differences(*pair)]
            print("%s: largest difference of a loss %.1e" % (program, max(map(largest_difference, theirs, ours))), flush=True)
    else:
        print("| program | losses differ by at most | steps/s, TensorFlow | Sluice | ratio | client's share | memory (MB), TensorFlow | Sluice | ratio "
              "| server's CPU time (s), TensorFlow | Sluice | ratio |\n|---|---|---|---|---|---|---|---|---|---|---|---|")
        for program in a.programs or PROGRAMS:
            ratio, failures[program] = measure(program, a.rounds)
            ratios.append(ratio)
        print("Geometric mean of the ratios of steps/s: %.2f" % statistics.geometric_mean(ratios))
    for program, lines in failures.items():
        for line in lines:
            print("%s: %s" % (program, line))
    sys.exit(any(failures.values()))


if __name__ == "__main__":
    main()
