"""The clients of the soak test as processes: started, ended or killed, and started again."""

import json
import os
import random
import selectors
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))


class Client:
    """A process that prints lines about its requests (soak_client.h). It ends after `life_s`; half of the hostile ones are killed."""

    def __init__(self, name, is_honest, command, life_s=None):
        self.name, self.is_honest, self.command = name, is_honest, command
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.rest = b""
        self.ends = time.monotonic() + (life_s or 1e9)

    def lines(self):
        """The reports that have arrived. None after the end of the process."""
        read = os.read(self.process.stdout.fileno(), 1 << 20)
        if not read:
            return None
        *lines, self.rest = (self.rest + read).split(b"\n")
        return [json.loads(line) for line in lines]

    def end(self, kill):
        if kill:
            self.process.kill()
        else:
            self.process.stdin.close()

    def wait(self, seconds):
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


class Clients:

    def __init__(self, options, server, metrics_port, report):
        self.options, self.server, self.report, self.metrics_port = options, server, report, metrics_port
        self.selector = selectors.DefaultSelector()
        self.clients = set()
        self.random = random.Random(options.seed)
        self.seeds = options.seed << 32
        self.kinds = {}  # name -> function that starts a client

    def start(self, name, is_honest, command, life_s=None):
        client = Client(name, is_honest, command, life_s)
        self.clients.add(client)
        self.selector.register(client.process.stdout, selectors.EVENT_READ, client)

    def soak_client(self, mode, rate, *arguments):
        self.seeds += 1 << 20
        return [self.options.client, mode, self.server.target, str(rate), str(self.seeds)] + [str(a) for a in arguments]

    def start_honest(self):
        """One client with long sessions, one with a session per few steps. They send 5 % more than demanded, since they start late."""
        rate = 1.05 * self.options.requests / (60 * self.options.minutes)
        self.seeds += 1  # odd: shared variables
        self.start("train", True, self.soak_client("train", 0.7 * rate, 500))
        self.seeds += 1  # even: variables of its own
        self.start("train in short sessions", True, self.soak_client("train", 0.3 * rate, 5))

    def start_hostile(self):
        rate = 1.3 * self.options.hostile / (60 * self.options.minutes)
        life = lambda least, most: self.random.uniform(least, most)  # noqa: E731
        corpus = [os.path.join(self.options.corpus, name) for name in sorted(os.listdir(self.options.corpus))]
        sockets = [sys.executable, "-I", os.path.join(HERE, "soak_sockets.py"), self.server.host, str(self.server.port), str(self.metrics_port)]

        def hang(*kinds, least=5, most=20):
            return lambda name: self.start(name, False, self.soak_client("hang", 1, self.random.choice(kinds)), life(least, most))

        # A graph is three to five requests.
        self.kinds = {
            "graphs": lambda name: self.start(name, False, self.soak_client("graphs", 0.4 * rate / 4), life(30, 90)),
            "calls": lambda name: self.start(name, False, self.soak_client("calls", 0.4 * rate, *corpus), life(30, 90)),
            "sockets": lambda name: self.start(name, False, sockets + [str(0.2 * rate), str(self.seeds)], life(60, 300)),
            "waiting": hang("queue", "partial", "idle"),
            "waiting too": hang("queue", "partial", "idle"),
            "endless": hang("endless", "prefetch", least=1, most=2),
        }
        if self.options.tensorflow:
            inputs = [self.options.tensorflow, os.path.join(HERE, "soak_inputs.py"), self.server.target, str(0.2 * rate)]
            self.kinds["inputs"] = lambda name: self.start(name, False, inputs + [str(self.random.randrange(1 << 30))], life(300, 900))
        self.due = {name: time.monotonic() for name in self.kinds}

    def await_first_answers(self):
        self.attend(until=time.monotonic() + 60, while_true=lambda: not all(name in self.report.seen for name in {c.name for c in self.clients}))

    def attend(self, until, while_true=lambda: True):
        """Reads the clients' reports until the time. Ends clients whose life is over, and starts others in their place."""
        while time.monotonic() < until and while_true():
            now = time.monotonic()
            for client in [c for c in self.clients if c.ends < now]:
                client.ends = now + 20  # then it is killed
                client.end(kill=client.process.stdin.closed or self.random.random() < 0.5)
            for name, start in self.kinds.items():
                if name in self.due and self.due[name] < now:
                    del self.due[name]
                    start(name)
            events = [client.ends for client in self.clients] + list(self.due_times())
            for key, _ in self.selector.select(max(0, min([until] + events) - time.monotonic())):
                self.read(key.data)

    def due_times(self):
        return self.due.values() if self.kinds else ()

    def read(self, client):
        lines = client.lines()
        for line in lines or []:
            self.report.add(client.name, client.is_honest, line)
        if lines is not None:
            return
        self.selector.unregister(client.process.stdout)
        self.clients.remove(client)
        status = client.wait(1)
        self.report.client_ended(client.name, client.is_honest, status)
        for pipe in (client.process.stdout, client.process.stdin):
            pipe.close()
        if client.name in self.kinds:
            # Endless computations are rare, since each occupies a core.
            self.due[client.name] = time.monotonic() + (self.random.uniform(20, 60) if client.name == "endless" else self.random.uniform(0.1, 2))

    def stop(self):
        """Ends all clients, the honest ones last."""
        self.kinds = {}
        for is_honest in (False, True):
            stopped = [c for c in self.clients if c.is_honest == is_honest]
            for client in stopped:
                client.end(kill=False)
                client.ends = time.monotonic() + 20
            self.report.is_stopping = True
            self.attend(until=time.monotonic() + 25, while_true=lambda: any(c in self.clients for c in stopped))
