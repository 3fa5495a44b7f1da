"""Compares clusters of Sluice, of TensorFlow's servers and of PyTorch on loopback, as a table of
ratios. Started by ./cluster.

Every pass starts, measures and ends the processes of one framework after the other, so that noise
of the machine affects all of them. A result is the median of the passes.
"""
import argparse
import collections
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import time

BARS = {"noop": 5, "scalar": 5, "64MB_between_tasks": 4, "64MB_to_client": 4, "logistic 1 ps + 2 workers": 6, "logistic 1 ps + 4 workers": 6,
        "mlp 1 ps + 2 workers": 4, "mlp 1 ps + 4 workers": 4}
BAR_OF_TORCH = 1  # for cases that it has


def arguments():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--ours", required=True)
    p.add_argument("--tensorflow", required=True)
    p.add_argument("--torch", help="a Python that has PyTorch; none: without it")
    p.add_argument("--graphs", required=True)
    p.add_argument("--passes", type=int, default=3)
    p.add_argument("--what", default="rpc,client,idle,sync", help="rpc: steps over tasks; client: the same from another process; idle; sync")
    p.add_argument("--models", default="logistic,mlp")
    p.add_argument("--workers", default="2,4")
    p.add_argument("--windows", type=int, default=3)
    p.add_argument("--window_s", type=float, default=1.5)
    p.add_argument("--only", help="ours, tensorflow or torch: no comparison")
    p.add_argument("--json")
    return p.parse_args()


def free_ports(count):
    """Ports below those of outgoing connections, so that no connection takes one before its server
    does."""
    ports = set()
    while len(ports) < count:
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", random.randint(10_000, 29_999)))
                ports.add(s.getsockname()[1])
            except OSError:
                pass
    return list(ports)


class Cluster:
    """Processes of one framework, which end with the block."""

    def __init__(self, program, workers):
        ports = free_ports(1 + workers)
        self.program, self.tasks = program, []
        self.worker_port = ports[1] if workers else None
        self.spec = f"ps=127.0.0.1:{ports[0]};worker=" + ",".join(f"127.0.0.1:{p}" for p in ports[1:])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for task in self.tasks:
            task.kill()
        for task in self.tasks:
            task.wait()

    def start(self, mode, job=None, task=0, **flags):
        command = [*self.program, mode]
        if job:
            command += ["--cluster", self.spec, "--job", job, "--task", str(task)]
        for name, value in flags.items():
            command += ["--" + name, value]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"})
        self.tasks.append(process)
        return process


def expect(process, word):
    for line in process.stdout:
        if line.split()[0] == word:
            return line.split()[1:]
    raise RuntimeError(process.stderr.read()[-2000:])


def say(process, line):
    process.stdin.write(line + "\n")
    process.stdin.flush()


def megabytes(process, field):
    with open(f"/proc/{process.pid}/status") as f:
        return next(int(line.split()[1]) / 1024 for line in f if line.startswith(field))


def time_steps(program, graphs, is_client):
    """case -> seconds, for steps that use a parameter server and a worker."""
    manifest, times = os.path.join(graphs, "manifest.tsv"), {}
    with Cluster(program, 1) as cluster:
        expect(cluster.start("serve", "ps"), "up")
        if is_client:
            expect(cluster.start("serve", "worker"), "up")
            client = cluster.start("time", manifest=manifest, target=f"grpc://127.0.0.1:{cluster.worker_port}")
        else:
            client = cluster.start("time", "worker", manifest=manifest)
        for line in client.stdout:
            _, case, seconds, _ = line.split()
            times[case + (" through another process's master" if is_client else "")] = float(seconds)
        if client.wait() != 0:
            raise RuntimeError(client.stderr.read()[-2000:])
    return times


def idle(program):
    with Cluster(program, 1) as cluster:
        begin = time.time()
        server = cluster.start("serve", "ps")
        expect(server, "up")
        return {"start of a parameter server": time.time() - begin, "idle parameter server MB": megabytes(server, "VmRSS")}


def train(program, has_servers, graphs, model, workers, windows, window_s):
    """Seconds per global step."""
    with Cluster(program, workers) as cluster:
        if has_servers:
            expect(cluster.start("serve", "ps"), "up")
        replicas = [cluster.start("train", "worker", i, graph=os.path.join(graphs, f"{model}_{workers}_{i}")) for i in range(workers)]
        for replica in replicas[:1] if has_servers else replicas:
            expect(replica, "ready")
        for replica in replicas:
            say(replica, "go")
        for replica in replicas:
            expect(replica, "up")
        time.sleep(1)
        rates, before = [], None
        for _ in range(windows + 1):
            for replica in replicas:
                say(replica, "count")
            count, now = sum(int(expect(replica, "steps")[0]) for replica in replicas), time.time()
            if before:
                rates.append((count - before[0]) / workers / (now - before[1]))
            before = count, now
            time.sleep(window_s)
        return {f"{model} 1 ps + {workers} workers": 1 / statistics.median(rates)}


def measure_side(a, program, has_servers):
    times, what = {}, set(a.what.split(","))
    if not has_servers:
        what &= {"sync"}
    if "rpc" in what:
        times.update(time_steps(program, a.graphs, False))
    if "client" in what:
        times.update(time_steps(program, a.graphs, True))
    if "idle" in what:
        times.update(idle(program))
    if "sync" in what:
        for model in a.models.split(","):
            for workers in a.workers.split(","):
                times.update(train(program, has_servers, a.graphs, model, int(workers), a.windows, a.window_s))
    return times


def over(theirs, ours):
    return theirs / ours if theirs and ours else None


def compared(theirs, ours, bar):
    ratio = over(theirs, ours)
    return "-" if ratio is None else f"{ratio:.2f}" + (" (short)" if bar and ratio < bar else "")


def shown(case, value):
    if value is None:
        return "-"
    if case.endswith("MB"):
        return f"{value:.1f}"
    if "workers" in case:
        return f"{1 / value:.1f} steps/s"
    if case.startswith("64MB"):
        return f"{0.0671 / value:.2f} GB/s"
    return f"{value * 1e3:.3f} ms"


def main():
    a = arguments()
    sides = {"ours": [a.ours], "tensorflow": [a.tensorflow]}
    if a.torch:
        sides["torch"] = [a.torch, os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_ddp.py")]
    values = collections.defaultdict(lambda: collections.defaultdict(list))
    print(f"load before: {os.getloadavg()[0]:.2f}")
    for _ in range(a.passes):
        for side, program in sides.items():
            if a.only in (None, side):
                for case, value in measure_side(a, program, side != "torch").items():
                    values[case][side].append(value)
    print("| case | ours | TensorFlow | ratio | bar | PyTorch DDP | ratio |\n|---|---|---|---|---|---|---|")
    rows = []
    for case, by_side in values.items():
        middle = {side: statistics.median(v) for side, v in by_side.items()}
        ours, theirs, torch = (middle.get(side) for side in ("ours", "tensorflow", "torch"))
        bar = BARS.get(case)
        rows.append({"case": case, "ours": ours, "tensorflow": theirs, "ratio": over(theirs, ours), "bar": bar, "torch": torch,
                     "ratio_to_torch": over(torch, ours), "bar_to_torch": BAR_OF_TORCH if torch else None, "all": by_side})
        print(f"| {case} | {shown(case, ours)} | {shown(case, theirs)} | {compared(theirs, ours, bar)} | {bar or '-'} | {shown(case, torch)} | "
              f"{compared(torch, ours, BAR_OF_TORCH)} |")
    print(f"load after: {os.getloadavg()[0]:.2f}")
    if a.json:
        with open(a.json, "w") as f:
            json.dump(rows, f, indent=1)


if __name__ == "__main__":
    sys.exit(main())
