"""Attacks with connections: more than the server has descriptors, silent ones, and endless headers."""

import io
import resource
import socket
import time
import unittest
import urllib.request

from tests.attacks import attack
from tests.attacks.http2 import CONTINUATION, HEADERS, PREFACE, SETTINGS, frame


class ConnectionsTest(attack.AttackTest):

    def test_more_connections_than_descriptors(self):
        """gRPC 1.51 alone accepts nothing any more after this (CVE-2023-4785)."""
        self.attack(open_connections, 1100)

    def test_connections_that_come_and_go(self):
        self.attack(connect_and_leave, 5000)

    def test_a_silent_connection_is_closed(self):
        self.attack(await_close, b"")

    def test_a_greeting_without_a_call_does_not_keep_others_out(self):
        self.attack(open_connections, 1100, PREFACE + frame(SETTINGS))


class WithoutIpv6Test(attack.AttackTest):
    """A host without IPv6. The server then listens on all IPv4 addresses, and its watchdog connects by IPv4."""
    flags = ["--bind=0.0.0.0", "--insecure", "--metrics_port=0"]
    ipv6 = False

    def start_server(self):
        process = super().start_server()
        pipe = process.stdout
        self.addCleanup(pipe.close)
        self.lines = [pipe.readline() for _ in range(2)]
        process.stdout = io.StringIO("".join(self.lines))  # for the frame
        return process

    def test_more_connections_than_descriptors(self):
        with self.assertRaises(OSError):
            socket.create_connection(("::1", self.server.port), timeout=20)
        self.attack(open_connections, 1100)
        self.assertTrue(self._await(self.is_ready, attack.RETURN_S))

    def is_ready(self):
        port = self.lines[1].split(":")[-1].split("/")[0]
        with urllib.request.urlopen("http://127.0.0.1:%s/readyz" % port, timeout=20) as page:
            return page.status == 200


class HeadersTest(attack.AttackTest):
    growth = dict(attack.AttackTest.growth, memory=160 << 20)  # headers take several times their size

    def test_endless_headers_before_a_call(self):
        """HEADERS and CONTINUATION frames without an end took 425 MB per second."""
        self.attack(send_endless_headers)


def open_connections(server, count, greeting=b""):
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    opened = []
    for _ in range(count):
        opened.append(socket.create_connection((server.host, server.port), timeout=20))
        try:
            opened[-1].sendall(greeting)
        except OSError:  # closed in favour of a later one
            pass
    time.sleep(3)  # while the honest client works


def connect_and_leave(server, count):
    for _ in range(count):
        socket.create_connection((server.host, server.port), timeout=20).close()


def await_close(server, greeting):
    with socket.create_connection((server.host, server.port), timeout=60) as connection:
        connection.sendall(greeting)
        while connection.recv(4096):
            pass


def send_endless_headers(server):
    header = b"\x00\x03xyz\x64" + b"a" * 100  # a literal header of 100 bytes
    block = header * (16000 // len(header))
    with socket.create_connection((server.host, server.port), timeout=20) as connection:
        connection.sendall(PREFACE + frame(SETTINGS) + frame(HEADERS, block, 1))
        sent = 0
        try:
            while sent < 1 << 30:
                connection.sendall(frame(CONTINUATION, block, 1))
                sent += len(block)
        except OSError:
            pass
    if sent > 100 << 20:
        raise AssertionError("the server took %d bytes of headers" % sent)


if __name__ == "__main__":
    unittest.main()
