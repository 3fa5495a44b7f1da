"""Starts servers for TensorFlow's clients.

    import sluice_server
    import tensorflow as tf

    with sluice_server.start() as target:
        with tf.compat.v1.Session(target) as session:
            ...

PROGRAM is the path of `sluice`; `sluice --help` lists its commands.
"""

import contextlib
import os
import subprocess
import sys

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sluice")


@contextlib.contextmanager
def start(*arguments):
    """Runs `sluice server` on a free port of this machine while the block runs.

    Yields the target for tf.compat.v1.Session. `arguments` are further options of the server. Raises
    RuntimeError if the server does not start; its own message is on stderr.
    """
    command = [PROGRAM, "server", "--port=0", *arguments]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        line = server.stdout.readline()
        if not line.startswith("listening at "):
            raise RuntimeError("'%s' ended with %d" % (" ".join(command), server.wait()))
        yield line[len("listening at "):].strip()
    finally:
        server.terminate()
        server.communicate()


def main():
    """The command `sluice`."""
    os.execv(PROGRAM, [PROGRAM, *sys.argv[1:]])
