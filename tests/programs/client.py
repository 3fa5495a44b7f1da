"""Runs one client of a program. Its last line is a report in JSON.

  python -m tests.programs.client PROGRAM[.MODEL] --target=grpc://HOST:PORT --folder=FOLDER
"""

import argparse
import importlib
import json
import os

import tensorflow

from tests.programs.run import Run

tf = tensorflow.compat.v1


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("program")
    p.add_argument("--target", required=True)
    p.add_argument("--folder", required=True)
    p.add_argument("--steps", type=int, default=20)
    p.add_argument("--cluster", type=json.loads)
    p.add_argument("--job", default="worker")
    p.add_argument("--task", type=int, default=0)
    p.add_argument("--take_turns", action="store_true")
    a = p.parse_args()
    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    run = Run(a.target, a.folder, a.steps, a.cluster, a.job, a.task, a.take_turns)
    module, _, model = a.program.partition(".")
    importlib.import_module("tests.programs." + module).train(run, *filter(None, [model]))
    print(json.dumps(run.report()), flush=True)
    os._exit(0)  # threads of Supervisors and queue runners may still wait for a server


if __name__ == "__main__":
    main()
