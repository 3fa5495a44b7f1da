"""A client of the soak test that speaks to the server's sockets without a library: soak_sockets.py HOST PORT METRICS_PORT PER_SECOND SEED.

It sends garbage, frames of HTTP/2 without a meaning and broken requests for the page of metrics, and leaves connections open for a while.
Prints the lines that soak_client.h describes, until its standard input ends.
"""

import json
import random
import select
import socket
import sys
import time

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
MOST_OPEN = 200


def frame(kind, flags, stream, body):
    return len(body).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + body


def frames(rand):
    return PREFACE + frame(4, 0, 0, b"") + b"".join(
        frame(rand.randrange(12), rand.randrange(256), rand.choice((0, 1, 3, rand.getrandbits(31))), rand.randbytes(rand.randrange(200)))
        for _ in range(rand.randrange(1, 20)))


def page(rand):
    path = rand.choice(("/metrics", "/healthz", "/" + "a" * rand.randrange(5000), "//..%00"))
    text = "%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (rand.choice(("GET", "POST", "PUT", "\0")), path, rand.choice((0, -1, 1 << 40)))
    return text.encode()[:rand.choice((10, 10000))]


def nothing(rand):
    return b""


def garbage(rand):
    return rand.randbytes(rand.randrange(1, 3000))


def send_one(host, ports, rand, opened):
    """A connection and what is sent on it. Some stay open."""
    make, port = rand.choice(((garbage, ports[0]), (frames, ports[0]), (nothing, ports[0]), (page, ports[1]), (page, ports[0])))
    connection = socket.create_connection((host, port), timeout=20)
    try:
        connection.sendall(make(rand))
        if rand.random() < 0.3:
            connection.settimeout(0.2)
            connection.recv(1000)
    except OSError:  # closed, which is an answer
        pass
    if rand.random() < 0.5:
        opened.append(connection)
    else:
        connection.close()
    while len(opened) > MOST_OPEN:
        opened.pop(rand.randrange(len(opened))).close()


def main():
    host, ports, rate, rand = sys.argv[1], (int(sys.argv[2]), int(sys.argv[3])), float(sys.argv[4]), random.Random(int(sys.argv[5]))
    opened, answers, ms, errors = [], {}, [], []
    printed = due = time.monotonic()
    while True:
        due = max(due + 1 / rate, time.monotonic() - 10)
        if select.select([sys.stdin], [], [], max(due - time.monotonic(), 0))[0]:
            break
        start = time.monotonic()
        try:
            send_one(host, ports, rand, opened)
            answer = "OK"
        except OSError as error:
            answer = type(error).__name__
            errors.append(str(error))
        answers[answer] = answers.get(answer, 0) + 1
        ms.append(round(1000 * (time.monotonic() - start), 2))
        if time.monotonic() > printed + 1:
            print(json.dumps({"requests": len(ms), "answers": answers, "ms": ms, "errors": errors[:3]}), flush=True)
            answers, ms, errors, printed = {}, [], [], time.monotonic()


if __name__ == "__main__":
    main()
