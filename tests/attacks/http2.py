"""HTTP/2 frames for attacks, made by hand: a library would refuse to send most of them.

Reference: RFC 9113 (frames), RFC 7541 (compression of headers).
"""

import collections
import socket
import time

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RESET, SETTINGS, PUSH, PING, GO_AWAY, WINDOW, CONTINUATION = range(10)

ACK = 1  # flags
END_OF_STREAM = 1
END_OF_HEADERS = 4
PADDED = 8
WITH_PRIORITY = 32

# Counted by Connection.read like kinds of frames: the end of the connection, and answers to PING.
END, ANSWER = "end", "answer"

RUN_STEP = b"/tensorflow.MasterService/RunStep"


def frame(kind, body=b"", stream=0, flags=0):
    return len(body).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + body


def header(name, value):
    """A literal header that does not enter the table of the connection."""
    return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value


def indexed_header(name, value):
    """A literal header that enters the table. Entry 62 is the last one."""
    return b"\x40" + header(name, value)[1:]


def call_pairs(path=RUN_STEP):
    return [(b":method", b"POST"), (b":scheme", b"http"), (b":path", path), (b":authority", b"localhost"),
            (b"te", b"trailers"), (b"content-type", b"application/grpc")]


def call(*more, path=RUN_STEP):
    """The headers of a call."""
    return b"".join(header(*pair) for pair in call_pairs(path) + list(more))


class Connection:
    """A connection after the greetings of both sides. Limits of the server bind only a client that acknowledges its settings."""

    def __init__(self, server, timeout_s=60, acknowledges=True):
        self._socket = socket.create_connection((server.host, server.port), timeout=timeout_s)
        self._timeout_s = timeout_s
        self._rest = b""
        self._socket.sendall(PREFACE + frame(SETTINGS))
        assert self.read(timeout_s, until=[SETTINGS])[SETTINGS]
        if acknowledges:
            self._socket.sendall(frame(SETTINGS, flags=ACK))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()

    def send(self, data):
        """False if the server has closed the connection."""
        self._socket.settimeout(self._timeout_s)
        try:
            self._socket.sendall(data)
            return True
        except ConnectionError:
            return False

    def read(self, seconds, until=()):
        """Counts the frames that arrive in this time by kind, until one of these kinds or the end of the connection arrives."""
        kinds, end = collections.Counter(), time.monotonic() + seconds
        while not any(kinds[kind] for kind in (*until, END)) and (left := end - time.monotonic()) > 0:
            self._socket.settimeout(left)
            try:
                received = self._socket.recv(1 << 16)
            except ConnectionError:
                received = b""
            except socket.timeout:
                break
            self._rest += received
            kinds[END] += not received
            while len(self._rest) >= 9 and len(self._rest) >= (size := 9 + int.from_bytes(self._rest[:3], "big")):
                kind, flags = self._rest[3:5]
                kinds[ANSWER if kind == PING and flags & ACK else kind] += 1
                self._rest = self._rest[size:]
        return kinds
