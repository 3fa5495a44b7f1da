"""Attacks with HTTP/2 headers that break the rules, and with thousands of streams."""

import contextlib
import os
import time
import unittest

from tests.attacks import attack
from tests.attacks.http2 import *

LONG = b"\xff\xff\xff\xff\x0f"  # behind a prefix of only ones: a number above 2^32
NEVER_ENDS = b"\x80" * 1000
FIRST_OWN_ENTRY = 62


def headers(block, stream=1, flags=END_OF_HEADERS):
    return frame(HEADERS, block, stream, flags)


def without(name):
    return b"".join(header(*pair) for pair in call_pairs() if pair[0] != name)


CODES = {
    "index 0": headers(b"\x80"),
    "an index behind the table": headers(call() + bytes([0x80 | 100])),
    "a huge index": headers(call() + b"\xff" + LONG),
    "an index without an end": headers(call() + b"\xff" + NEVER_ENDS),
    "a name behind the table": headers(call() + b"\x7f\x40" + b"\x01a"),
    "a table of 4 GB": headers(b"\x3f" + LONG + call()),
    "three sizes of the table": headers(b"\x20\x3f\x10\x20" + call()),
    "a size of the table after a header": headers(call() + b"\x20"),
    "a size of the table without an end": headers(b"\x3f" + NEVER_ENDS),
    "a name of 4 GB": headers(call() + b"\x00\x7f" + LONG),
    "a value of 4 GB": headers(call() + b"\x00\x01a\x7f" + LONG),
    "a name that the frame cuts": headers(call() + b"\x00\x10abc"),
    "a Huffman code of only ones": headers(call() + b"\x00\x01a\x84\xff\xff\xff\xff"),
    "Huffman padding of zeros": headers(call() + b"\x00\x01a\x81\x00"),
    "an empty block": headers(b""),
}

FRAMES = {
    "CONTINUATION without HEADERS": frame(CONTINUATION, call(), 1, END_OF_HEADERS),
    "CONTINUATION after the end of headers": headers(call()) + frame(CONTINUATION, call(), 1, END_OF_HEADERS),
    "CONTINUATION of another stream": headers(call(), flags=0) + frame(CONTINUATION, call(), 3, END_OF_HEADERS),
    "CONTINUATION on stream 0": headers(call(), flags=0) + frame(CONTINUATION, call(), 0, END_OF_HEADERS),
    "DATA between headers": headers(call(), flags=0) + frame(DATA, b"\0" * 5, 1) + frame(CONTINUATION, b"", 1, END_OF_HEADERS),
    "10,000 empty CONTINUATION frames": headers(call(), flags=0) + frame(CONTINUATION, b"", 1) * 10_000,
    "HEADERS on stream 0": headers(call(), stream=0),
    "HEADERS on a stream of the server": headers(call(), stream=2),
    "HEADERS on an older stream": headers(call(), stream=9) + headers(call(), stream=7),
    "HEADERS on the last stream": headers(call(), stream=0x7FFFFFFF) + headers(call(), stream=1),
    "HEADERS on a stream with the reserved bit": headers(call(), stream=0x80000001),
    "HEADERS three times": headers(call()) * 3,
    "more padding than frame": headers(b"\xff" + call(), flags=END_OF_HEADERS | PADDED),
    "padding without a length": headers(b"", flags=END_OF_HEADERS | PADDED),
    "a stream that depends on itself": headers(b"\0\0\0\1\0" + call(), flags=END_OF_HEADERS | WITH_PRIORITY),
    "a cut priority": headers(b"\0\0", flags=END_OF_HEADERS | WITH_PRIORITY),
    "PRIORITY of a wrong size": frame(PRIORITY, b"\0", 1),
    "DATA on stream 0": frame(DATA, b"\0" * 5),
    "DATA without HEADERS": frame(DATA, b"\0" * 5, 1),
    "a message of 4 GB": headers(call()) + frame(DATA, b"\0\xff\xff\xff\xff", 1),
    "a message with unknown compression": headers(call()) + frame(DATA, b"\7\0\0\0\0", 1, END_OF_STREAM),
    "RST_STREAM of an unknown stream": frame(RESET, b"\0\0\0\1", 5),
    "RST_STREAM on stream 0": frame(RESET, b"\0\0\0\1"),
    "RST_STREAM of a wrong size": headers(call()) + frame(RESET, b"\0", 1),
    "SETTINGS of a wrong size": frame(SETTINGS, b"\0"),
    "SETTINGS on a stream": frame(SETTINGS, b"", 1),
    "SETTINGS with a window above 2^31": frame(SETTINGS, b"\0\4\xff\xff\xff\xff"),
    "SETTINGS with frames of 1 byte": frame(SETTINGS, b"\0\5\0\0\0\1"),
    "SETTINGS with a table of 4 GB": frame(SETTINGS, b"\0\1\xff\xff\xff\xff"),
    "SETTINGS 10,000 times": frame(SETTINGS) * 10_000,
    "an acknowledgement of nothing": frame(SETTINGS, flags=ACK) * 100,
    "PUSH_PROMISE of a client": frame(PUSH, b"\0\0\0\2" + call(), 1, END_OF_HEADERS),
    "PING of a wrong size": frame(PING, b"\0"),
    "PING 10,000 times": frame(PING, b"\0" * 8) * 10_000,
    "GOAWAY of a wrong size": frame(GO_AWAY, b"\0"),
    "GOAWAY, then a call": frame(GO_AWAY, b"\0" * 8) + headers(call()),
    "WINDOW_UPDATE of 0": frame(WINDOW, b"\0" * 4),
    "WINDOW_UPDATE above 2^31": frame(WINDOW, b"\x7f\xff\xff\xff") * 3,
    "a frame above the limit": b"\xff\xff\xff" + frame(HEADERS, b"", 1, END_OF_HEADERS)[3:] + b"\0" * 100_000,
    "an unknown frame": frame(200, b"abc", 1, 255),
    "a second greeting": PREFACE + frame(SETTINGS),
}

LISTS = {
    "an upper-case name": call((b"Upper", b"1")),
    "an upper-case :path": without(b":path") + header(b":PATH", RUN_STEP),
    "no :path": without(b":path"),
    "an empty :path": call(path=b""),
    "two :path": call((b":path", RUN_STEP)),
    "a :path without a slash": call(path=b"x"),
    "a :path with a NUL": call(path=RUN_STEP + b"\0/x"),
    "a :path of 8,000 bytes": b"".join(header(*pair) for pair in call_pairs() if pair[0] != b":path") + b"\x00\x05:path\x7f\xc1\x3d" + b"/" * 8000,
    "no :method": without(b":method"),
    "GET": without(b":method") + header(b":method", b"GET"),
    "no :scheme": without(b":scheme"),
    "no :authority": without(b":authority"),
    "no te": without(b"te"),
    "no content-type": without(b"content-type"),
    "a pseudo-header at the end": without(b":path") + header(b"a", b"1") + header(b":path", RUN_STEP),
    "an unknown pseudo-header": call((b":x", b"1")),
    ":status in a request": call((b":status", b"200")),
    "an empty name": call((b"", b"1")),
    "a name with spaces and line ends": call((b"a b\r\nc", b"1")),
    "a value with line ends": call((b"a", b"1\r\nb: 2")),
    "connection": call((b"connection", b"close"), (b"transfer-encoding", b"chunked"), (b"upgrade", b"h2c")),
    "te: gzip": without(b"te") + header(b"te", b"gzip"),
    "a negative content-length": call((b"content-length", b"-1")),
    "a timeout of words": call((b"grpc-timeout", b"soon")),
    "a negative timeout": call((b"grpc-timeout", b"-1S")),
    "a huge timeout": call((b"grpc-timeout", b"99999999999999999999H")),
    "an unknown encoding": call((b"grpc-encoding", b"zip"), (b"grpc-accept-encoding", b"\xff,,,")),
    "a binary header that is not base64": call((b"a-bin", b"!!!!"), (b"b-bin", b"="), (b"grpc-status-details-bin", b"*")),
    "a status in a request": call((b"grpc-status", b"x"), (b"grpc-message", b"%%%0")),
    "a name of a chunked message": call((b"sluice-parcel", b"../../x")),
    "100 headers of one name": call(*[(b"a", b"1")] * 100),
}


class MalformedHeadersTest(attack.AttackTest):

    def test_codes_that_are_no_headers(self):
        self.attack(send_each, CODES)

    def test_frames_that_break_the_rules(self):
        self.attack(send_each, FRAMES)

    def test_lists_of_headers_that_are_no_call(self):
        self.attack(send_each, {name: headers(block) for name, block in LISTS.items()})


class StreamsTest(attack.AttackTest):

    def test_20_000_streams_of_one_connection(self):
        """Each stream is a call that never sends its message."""
        self.attack(open_streams, 1, 20_000)

    def test_100_000_streams_of_a_client_that_acknowledges_no_limit(self):
        self.attack(open_streams, 1, 100_000, False)

    def test_20_000_streams_on_each_of_five_connections(self):
        """gRPC's threads take 20 us for each, and answer nobody else meanwhile."""
        self.attack(open_streams, 5, 20_000, False)

    def test_20_000_calls_whose_answers_are_not_read(self):
        self.attack(call_without_reading, 20_000)

    def test_20_000_streams_that_are_reset_at_once(self):
        """Rapid reset (CVE-2023-44487)."""
        self.attack(open_and_reset_streams, 20_000)


class LogTest(attack.AttackTest):
    """What a client sends does not reach the operator's terminal as it is, and fills no disk."""

    def server_log(self):
        self.log = open(os.path.join(self.folder, "server.log"), "w+b")
        self.addCleanup(self.log.close)
        return self.log

    def test_bytes_of_malformed_headers_are_quoted(self):
        self.attack(send_control_characters, 200)
        self.log.seek(0)
        log = self.log.read().decode()
        self.assertIn(" grpc message=", log)
        self.assertNotRegex(log, r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
        lines = log.split("\n")[:-1]
        for line in lines:
            self.assertRegex(line, r"^\d{4}-\d\d-\d\dT[\d:.]+Z [A-Z]+ \w+ ")
        self.assertLess(len(lines), 100)


def send_each(server, attacks):
    """Afterwards the server answers a PING, or has ended the connection. It answers no call."""
    for name, data in attacks.items():
        for _ in range(5):
            with Connection(server) as connection:
                connection.send(data)
                connection.send(frame(PING, b"sluice!!"))
                kinds = connection.read(20, until=[ANSWER])
                assert kinds[ANSWER] or kinds[END], "%s: no answer, but %s" % (name, kinds)
                assert not kinds[DATA], "%s: a call was answered: %s" % (name, kinds)


def streams(count, after=lambda stream: b""):
    """`count` calls without messages. All but the first consist of indices of the table."""
    pairs = call_pairs()
    first = b"".join(indexed_header(*pair) for pair in pairs)
    indices = bytes(0x80 | (FIRST_OWN_ENTRY + i) for i in range(len(pairs)))
    return b"".join(headers(indices if i > 0 else first, 2 * i + 1) + after(2 * i + 1) for i in range(count))


def open_streams(server, connections, count, acknowledges=True):
    """The server rejects most of them, and gives back their memory at once."""
    before = server.usage()["memory"]
    with contextlib.ExitStack() as stack:
        open_ones = [stack.enter_context(Connection(server, acknowledges=acknowledges)) for _ in range(connections)]
        for connection in open_ones:
            connection.send(streams(count) + frame(PING, b"sluice!!"))
        for connection in open_ones:
            kinds = connection.read(60, until=[ANSWER])
            assert kinds[ANSWER] or kinds[END], kinds
            # A stream without a message is answered only if it is rejected.
            rejections = kinds if kinds[HEADERS] or kinds[RESET] else connection.read(20, until=[HEADERS, RESET])
            assert rejections[HEADERS] or rejections[RESET] or rejections[END], (kinds, rejections)
        took = (server.usage()["memory"] - before) >> 20
        print("%d streams on each of %d connections take %d MB" % (count, connections, took))
        assert took < 300, took


def call_without_reading(server, count):
    """Complete calls. Nothing takes their answers, which fill the buffers of the connection."""
    before = server.usage()["memory"]
    message = b"\0" + (0).to_bytes(4, "big")
    with Connection(server, acknowledges=False) as connection:
        connection.send(streams(count, lambda stream: frame(DATA, message, stream, END_OF_STREAM)))
        most = 0  # nothing notifies of what /proc shows
        for _ in range(20):
            most = max(most, (server.usage()["memory"] - before) >> 20)
            time.sleep(0.1)
        print("%d calls take %d MB" % (count, most))
        assert most < 300, most


def open_and_reset_streams(server, count):
    with Connection(server) as connection:
        connection.send(streams(count, lambda stream: frame(RESET, b"\0\0\0\x08", stream)))
        connection.send(frame(PING, b"sluice!!"))
        kinds = connection.read(60, until=[ANSWER])
        assert kinds[ANSWER] or kinds[END], kinds


def send_control_characters(server, count):
    escape = b"\x1b]0;owned\x07\x1b[2J\r\nFATAL forged\x00\x7f\x9b31m\xff"
    pairs = [(b"x" + escape, b"1"), (b"x-sluice", escape), (b"x-bin", escape), (b"grpc-timeout", escape), (b"grpc-encoding", escape),
             (b"te", escape), (b"content-type", escape), (b":path", b"/" + escape), (b":method", escape),
             (b"grpc-accept-encoding", escape), (b"X" + escape, escape)]
    everything = b"".join(header(*pair) for pair in pairs)
    for i in range(count):
        with Connection(server) as connection:
            connection.send(headers(call(pairs[i % len(pairs)])) + headers(everything, 3))
            connection.read(0.05)


if __name__ == "__main__":
    unittest.main()
