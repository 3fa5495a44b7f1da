"""Attacks on `sluice server`: the frame of all tests in this folder.

    class Connections(attack.AttackTest):
        flags = ["--max_connections=100"]       # of the server, in addition to --port=0

        def test_more_connections_than_files(self):
            self.attack(open_connections, 1100)

    def open_connections(server, count): ...    # in a process of its own; fails if it raises

Each test has a server of its own, which runs as an unused user under the limits of a container, and
an honest client that runs steps and opens connections throughout. After the test it is checked that
- the honest client got right answers, each within HONEST_S,
- memory, threads and descriptors of the server have returned to their values before the attack,
- the server ends with status 0 after SIGTERM.

The attack is forked from this process, so a test file imports TensorFlow in its attacks only. Without
Bazel: SLUICE_ORACLE_ROOT=bazel-bin PYTHONPATH=. PYTHON bazel/oracle/run.py tests/attacks/x_test.py
"""

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import unittest

ROOT = os.environ.get("SLUICE_ORACLE_ROOT", "")
SLUICE = os.path.join(ROOT, "tools/sluice")
HONEST_CLIENT = os.path.join(ROOT, "tests/attacks/honest_client")
LIMITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "limits.py")

# Longest time of an answer to the honest client. Sanitizers and busy machines need more.
HONEST_S = float(os.environ.get("SLUICE_HONEST_S", "1"))
RETURN_S = 60  # in which the server returns what attacks took
STOP_S = 20  # in which it ends after SIGTERM


class Server:
    """What an attack knows of the server. Fields: host, port, target, pid, folder (the server may use its files)."""

    def __init__(self, target, pid, folder):
        self.target, self.pid, self.folder = target, pid, folder
        self.host, port = target[len("grpc://"):].rsplit(":", 1)
        self.port = int(port)

    def usage(self):
        """Bytes in memory, threads and open descriptors."""
        with open("/proc/%d/status" % self.pid) as file:
            status = dict(line.split(":", 1) for line in file)
        return {"memory": int(status["VmRSS"].split()[0]) << 10, "threads": int(status["Threads"]),
                "descriptors": len(os.listdir("/proc/%d/fd" % self.pid))}


class AttackTest(unittest.TestCase):
    # Flags and limits of the server.
    flags = ()
    data_bytes = 1 << 30
    threads = 400
    files = 1024
    ipv6 = True
    # Permitted growth of each figure of Server.usage() after an attack, in addition to 10 %: caches and pools that fill once.
    growth = {"memory": 64 << 20, "threads": 8, "descriptors": 8}

    def setUp(self):
        super().setUp()
        self.folder = tempfile.mkdtemp(prefix="sluice_attack_", dir="/tmp")
        os.chmod(self.folder, 0o777)
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.process = self.start_server()
        self.addCleanup(self._kill, self.process)
        line = self.process.stdout.readline().strip()
        self.assertTrue(line.startswith("listening at "), "the server did not start: '%s'" % line)
        self.server = Server(line[len("listening at "):], self.process.pid, self.folder)
        self.honest = subprocess.Popen([HONEST_CLIENT, self.server.target] + self.client_arguments(), stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True)
        self.addCleanup(self._kill, self.honest)
        self.assertEqual(self.honest.stdout.readline().strip(), "ready")
        self.before = self.server.usage()

    def server_flags(self):
        return list(self.flags)

    def client_arguments(self):
        """Of the honest client, after the target."""
        return []

    def start_server(self):
        limits = "data=%d threads=%d files=%d ipv6=%d" % (self.data_bytes, self.threads, self.files, self.ipv6)
        return subprocess.Popen(
            [sys.executable, "-I", LIMITS, limits, SLUICE, "server", "--port=0"] + self.server_flags(),
            stdout=subprocess.PIPE, stderr=self.server_log(), text=True)

    def server_log(self):
        """The file for the log of the server. None: that of the test."""
        return None

    def attack(self, function, *arguments, timeout_s=120):
        """Runs function(server, *arguments) in a process of its own, which must not raise."""
        process = multiprocessing.get_context("fork").Process(target=self._run, args=(function, arguments))
        process.start()
        process.join(timeout_s)
        if process.is_alive():
            process.kill()
            process.join()
            self.fail("%s did not end within %d s" % (function.__name__, timeout_s))
        self.assertEqual(process.exitcode, 0, "%s failed; its error is in the output" % function.__name__)

    def attack_and_die(self, function, *arguments, when, timeout_s=120):
        """Runs function(server, *arguments) in a process of its own, and kills it when `when(server)` is true."""
        process = multiprocessing.get_context("fork").Process(target=self._run, args=(function, arguments))
        process.start()
        self._await(lambda: when(self.server) or not process.is_alive(), timeout_s)
        alive = process.is_alive()
        process.kill()
        process.join()
        self.assertTrue(alive, "%s ended before its state was reached; its error is in the output" % function.__name__)

    def tearDown(self):
        self.assertIsNone(self.process.poll(), "the server has ended with status %s" % self.process.poll())
        self._check_honest_client()
        self._check_usage()
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(STOP_S), 0)
        super().tearDown()

    def _check_honest_client(self):
        out, _ = self.honest.communicate(timeout=30)
        self.assertEqual(self.honest.returncode, 0, "the honest client failed: " + out)
        rounds, slowest_ms = (int(word) for word in out.split())
        print("%s: %d honest answers, the slowest after %d ms" % (self.id(), rounds, slowest_ms))
        self.assertLessEqual(slowest_ms, HONEST_S * 1000)

    def _check_usage(self):
        limits = {name: value * 1.1 + self.growth[name] for name, value in self.before.items()}
        returned = self._await(lambda: all(self.server.usage()[name] <= most for name, most in limits.items()), RETURN_S)
        print("%s: before %s, after %s" % (self.id(), self.before, self.server.usage()))
        self.assertTrue(returned, "the server does not return what the attack took")

    def _run(self, function, arguments):
        try:
            function(self.server, *arguments)
        except BaseException:
            traceback.print_exc()
            os._exit(1)

    @staticmethod
    def _await(condition, seconds):
        """Nothing notifies of what /proc shows, so it is read until the condition is true. False after the time."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                return False
            time.sleep(0.1)
        return True

    @staticmethod
    def _kill(process):
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
