"""Clients that die: their sessions are closed, and readings that nobody waits for stop."""

import os
import re
import subprocess
import threading
import time
import unittest

from tests.attacks import attack


class DyingClient(attack.AttackTest):

    def sessions(self):
        """The lines of `sluice top` about sessions."""
        top = subprocess.run([attack.SLUICE, "top", self.server.target, "--times=1"], stdout=subprocess.PIPE, text=True, check=True)
        return [line for line in top.stdout.splitlines() if line.startswith("  session ")]

    def calls_of_attackers(self):
        """Running calls in sessions of attackers. The honest client's sessions live for less than 2 s."""
        found = [re.search(r": (\d+) s old, .* (\d+) running calls", line) for line in self.sessions()]
        return sum(int(session[2]) for session in found if int(session[1]) >= 2)

    def die_while_running(self, *kinds):
        """The client dies while a step of each kind runs, each in a session of its own."""
        self.attack_and_die(run_steps, *kinds, when=lambda server: self.calls_of_attackers() == len(kinds))

    def lost_sessions(self):
        return sum("client lost" in line for line in self.sessions())


class ClosedSessionsTest(DyingClient):
    flags = ["--session_lost_s=2"]

    def test_sessions_of_a_dead_client_are_closed(self):
        self.die_while_running("queue", "filter", "prefetch", "flat_map", "batch")
        self.assertTrue(self._await(lambda: self.lost_sessions() == 0 and self.calls_of_attackers() == 0, 40), self.sessions())


class KeptSessionsTest(DyingClient):
    """With the defaults a session waits for its client for a day, but computes nothing."""

    def test_a_reading_that_nobody_waits_for_stops(self):
        self.die_while_running("filter", "flat_map")
        self.assertTrue(self._await(lambda: self.calls_of_attackers() == 0, 40), self.sessions())
        self.assertEqual(self.lost_sessions(), 2)
        before, start = self.cpu_s(), time.monotonic()
        time.sleep(3)
        self.assertLess((self.cpu_s() - before) / (time.monotonic() - start), 0.3)  # the honest client's steps

    def cpu_s(self):
        with open("/proc/%d/stat" % self.server.pid) as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run_steps(server, *kinds):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow
    tf = tensorflow.compat.v1
    tf.disable_v2_behavior()
    threads = [threading.Thread(target=run_step, args=(tf, server.target, kind)) for kind in kinds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def run_step(tf, target, kind):
    with tf.Graph().as_default():
        if kind == "queue":
            return tf.Session(target).run(tf.FIFOQueue(1, tf.float32).dequeue())
        numbers = tf.data.Dataset.range(1 << 60)
        none = numbers.filter(lambda x: x < 0)
        dataset = {
            "filter": lambda: none,
            "prefetch": lambda: none.prefetch(2),
            "flat_map": lambda: numbers.flat_map(lambda x: tf.data.Dataset.range(0)),
            "batch": lambda: none.batch(10),
        }[kind]()
        iterator = tf.data.make_initializable_iterator(dataset)
        item = iterator.get_next()
        session = tf.Session(target)
        session.run(iterator.initializer)
        session.run(item)


if __name__ == "__main__":
    unittest.main()
