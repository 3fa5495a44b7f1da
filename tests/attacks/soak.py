"""Runs `sluice server` for a bounded time under the limits of a container, with clients that train, hang, die and send garbage.

    tools/soak --minutes=120 --requests=1000000 --hostile=100000 --out=/tmp/soak

builds what it needs and runs this file. It writes into the folder:
- samples.csv: memory, threads, descriptors, processor time, requests and the latency of honest clients, per sample,
- result.json and result.txt: what was counted, and what was wrong; brought up to date every minute,
- soak.svg: the samples as a picture,
- events.txt: errors as the clients saw them, and server.log.

The status is 1 if the server ended, an honest client got an error that no limit explains, a wrong or a late answer, memory, threads or
descriptors grew, or there were fewer requests than demanded.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(os.path.dirname(HERE)))

from tests.attacks import attack, soak_clients, soak_report  # noqa: E402


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--requests", type=int, default=1_000_000, help="of honest clients, in this time")
    parser.add_argument("--hostile", type=int, default=100_000, help="requests of hostile clients, in this time")
    parser.add_argument("--out", default="soak", help="the folder of the results; it must not exist or be empty")
    parser.add_argument("--sample_s", type=float, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sluice", default=attack.SLUICE)
    parser.add_argument("--client", default=os.path.join(attack.ROOT, "tests/attacks/soak_client"))
    parser.add_argument("--corpus", default=os.path.join(os.path.dirname(HERE), "fuzz/corpus/services"), help="recorded calls")
    parser.add_argument("--tensorflow", default="", help="a Python with TensorFlow, which then sends hostile inputs of ops, too")
    return parser.parse_args(arguments)


class Soak:

    def __init__(self, options):
        self.options = options
        self.out = os.path.abspath(options.out)
        os.makedirs(self.out, exist_ok=True)
        if os.listdir(self.out):
            raise SystemExit("soak: expected an empty folder, got '%s'" % self.out)
        self.files = tempfile.mkdtemp(prefix="sluice_soak_", dir="/tmp")  # all files that clients may use
        os.chmod(self.files, 0o777)
        self.report = soak_report.Report(self.out, options)

    def start_server(self):
        limits = "data=%d threads=%d files=%d" % (1 << 30, 400, 1024)
        flags = ["--port=0", "--metrics_port=0", "--session_lost_s=10", "--max_message_mb=64", "--file_root=" + self.files]
        self.log = open(os.path.join(self.out, "server.log"), "wb")
        self.process = subprocess.Popen([sys.executable, "-I", attack.LIMITS, limits, self.options.sluice, "server"] + flags,
                                        stdout=subprocess.PIPE, stderr=self.log, text=True)
        lines = [self.process.stdout.readline().strip() for _ in range(2)]
        if not lines[0].startswith("listening at "):
            raise SystemExit("soak: the server did not start: %s" % lines)
        self.server = attack.Server(lines[0][len("listening at "):], self.process.pid, self.files)
        self.metrics_port = int(lines[1].split(":")[-1].split("/")[0])

    def run(self):
        self.start_server()
        clients = soak_clients.Clients(self.options, self.server, self.metrics_port, self.report)
        clients.start_honest()
        clients.await_first_answers()
        self.report.begin(self.server.usage())
        clients.start_hostile()
        end = time.monotonic() + 60 * self.options.minutes
        due = written = time.monotonic()
        while self.process.poll() is None and time.monotonic() < end:
            due += self.options.sample_s
            clients.attend(until=min(due, end))
            if self.process.poll() is None:
                self.report.sample(self.server.usage(), soak_report.cpu_s(self.process.pid))
            if time.monotonic() > written + 60:
                written = time.monotonic()
                self.report.write()
        clients.stop()
        return self.finish()

    def finish(self):
        """Waits until the server has returned what the clients took, and stops it."""
        if self.process.poll() is None:
            end = time.monotonic() + attack.RETURN_S
            while not self.report.end(self.server.usage()) and time.monotonic() < end:
                time.sleep(0.2)  # nothing notifies of what /proc shows
            self.process.send_signal(signal.SIGTERM)
            try:
                self.report.server_ended(self.process.wait(attack.STOP_S), was_stopped=True)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.report.server_ended(None, was_stopped=True)
        else:
            self.report.server_ended(self.process.returncode, was_stopped=False)
        self.log.close()
        shutil.rmtree(self.files, ignore_errors=True)
        return self.report.write(is_last=True)


def main(arguments):
    options = parse(arguments)
    random.seed(options.seed)
    soak = Soak(options)
    try:
        wrong = soak.run()
    finally:
        if getattr(soak, "process", None) is not None and soak.process.poll() is None:
            soak.process.kill()
    with open(os.path.join(soak.out, "result.txt"), encoding="utf-8") as file:
        print(file.read())
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
