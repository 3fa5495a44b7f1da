"""The examples for systemd and containers: systemd accepts the unit, and the server accepts their flags.

    service_test.py SLUICE FOLDER

The server runs with the flags of each example (on free ports of loopback and without certificates),
answers its health checks, and ends with status 0 after SIGTERM.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request

SLUICE, FOLDER = sys.argv[1:3]


def read(name):
    with open(os.path.join(FOLDER, name)) as file:
        return file.read()


def check(condition, message):
    if not condition:
        sys.exit("FAILED: " + message)


def check_unit():
    """systemd's own check, with the built program in the place of the installed one."""
    if shutil.which("systemd-analyze") is None:
        print("systemd-analyze is not installed: the unit is not verified")
        return
    unit = read("sluice.service").replace("/usr/bin/sluice ", os.path.abspath(SLUICE) + " ")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "sluice.service")
        with open(path, "w") as file:
            file.write(unit)
        for arguments in (["verify", "--man=no", path], ["security", "--offline=yes", "--threshold=40", path]):
            run = subprocess.run(["systemd-analyze"] + arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            complaints = [line for line in run.stdout.splitlines() if path in line or "sluice.service:" in line]
            check(run.returncode == 0 and (arguments[0] != "verify" or not complaints),
                  "systemd-analyze %s: %s" % (arguments[0], run.stdout[-2000:]))
            print("systemd-analyze %s: %s" % (arguments[0], run.stdout.strip().splitlines()[-1:]))


def flags_of_examples():
    unit = re.search(r"^ExecStart=/usr/bin/sluice server (.*)$", read("sluice.service"), re.M)
    command = re.search(r"^CMD (\[.*?\])", read("Dockerfile").replace("\\\n", ""), re.M | re.S)
    return {
        "sluice.service": [word for word in shlex.split(unit.group(1)) if word.startswith("--")],
        "Dockerfile": re.findall(r'"(--[^"]*)"', command.group(1)),
        "kubernetes.yaml": re.findall(r"^ +- (--\S+)$", read("kubernetes.yaml"), re.M),
    }


def run_server(name, flags):
    replaced = {"bind": "127.0.0.1", "metrics_bind": "127.0.0.1", "port": "0", "metrics_port": "0"}
    arguments = []
    for flag in flags:
        key, value = flag[2:].split("=", 1)
        if not key.startswith("tls_"):
            arguments.append("--%s=%s" % (key, replaced.get(key, value)))
    server = subprocess.Popen([SLUICE, "server"] + arguments, stdout=subprocess.PIPE, text=True)
    try:
        check(server.stdout.readline().startswith("listening at grpc://"), name + ": the server did not start")
        page = server.stdout.readline().split()[-1]
        for path, expected in (("/healthz", "ok\n"), ("/readyz", "ok\n"), ("/metrics", None)):
            with urllib.request.urlopen(page.replace("/metrics", path), timeout=30) as answer:
                text = answer.read().decode()
                check(expected is None or text == expected, "%s: %s answers %r" % (name, path, text))
        check("sluice_accepting_connections 1" in text, name + ": no metrics")
        server.send_signal(signal.SIGTERM)
        check(server.wait(60) == 0, name + ": the server ended with an error")
    finally:
        server.kill()
        server.wait()
    print(name + ": the server runs with", " ".join(arguments))


def check_stop_times():
    """The time to stop is longer than the time to drain, or the server is killed while it drains."""
    for name, pattern in (("sluice.service", r"TimeoutStopSec=(\d+)"), ("kubernetes.yaml", r"terminationGracePeriodSeconds: (\d+)")):
        drain = int(re.search(r"--drain_s=(\d+)", read(name)).group(1))
        check(int(re.search(pattern, read(name)).group(1)) > drain + 2, name + ": stops sooner than it drains")


check_unit()
check_stop_times()
examples = flags_of_examples()
check(all(len(flags) >= 4 for flags in examples.values()), "examples without flags: %s" % examples)
for example, flags in examples.items():
    run_server(example, flags)
