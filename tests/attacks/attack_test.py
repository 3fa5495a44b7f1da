"""The frame of the attacks: the server has the limits of a container, and the frame notices what it must."""

import os
import socket
import unittest

from tests.attacks import attack


class LimitsTest(attack.AttackTest):

    def limit(self, name):
        with open("/proc/%d/limits" % self.process.pid) as file:
            return next(line.split()[-3] for line in file if line.startswith(name))

    def test_the_server_runs_under_limits_and_not_as_root(self):
        self.assertEqual(self.limit("Max data size"), str(1 << 30))
        self.assertEqual(self.limit("Max open files"), "1024")
        self.assertGreaterEqual(int(self.limit("Max processes")), 400)
        self.assertNotEqual(os.stat("/proc/%d" % self.process.pid).st_uid, 0)

    def test_garbage_is_not_answered(self):
        self.attack(send_garbage)

    def test_an_attack_that_raises_fails_the_test(self):
        with self.assertRaisesRegex(AssertionError, "raise_error failed"):
            self.attack(raise_error)

    def test_an_attack_that_hangs_fails_the_test(self):
        with self.assertRaisesRegex(AssertionError, "did not end within 1 s"):
            self.attack(wait_forever, timeout_s=1)

    def test_connections_of_an_attacker_that_dies_are_closed(self):
        before = self.server.usage()["descriptors"]
        self.attack_and_die(connect_and_wait, 50, when=lambda server: server.usage()["descriptors"] >= before + 50)


def send_garbage(server):
    with socket.create_connection((server.host, server.port), timeout=10) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n\r\n" * 100)
        while connection.recv(4096):
            pass


def raise_error(server):
    raise ValueError("this error is part of the test")


def wait_forever(server):
    connect_and_wait(server, 1)


def connect_and_wait(server, connections):
    opened = [socket.create_connection((server.host, server.port), timeout=10) for _ in range(connections)]
    opened[0].settimeout(None)
    while opened[0].recv(4096):
        pass
