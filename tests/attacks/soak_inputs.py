"""A client of the soak test that sends the inputs of hostile_inputs.py and advisory_inputs.py with TensorFlow: soak_inputs.py TARGET PER_SECOND SEED.

Prints the lines that soak_client.h describes, until its standard input ends.
"""

import json
import os
import random
import select
import sys
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from tests.attacks import advisory_inputs, hostile_inputs  # noqa: E402

tf = hostile_inputs.tf


def graphs():
    """The inputs as [name, graph, fetch]. Those that TensorFlow's client rejects are left out."""
    made = []
    for name, make in {**hostile_inputs.everything(), **advisory_inputs.everything()}.items():
        with tf.Graph().as_default() as graph:
            try:
                made.append((name, graph, make()))
            except ValueError:
                pass
    return made


def main():
    target, rate, rand = sys.argv[1], float(sys.argv[2]), random.Random(int(sys.argv[3]))
    made = graphs()
    answers, ms, errors = {}, [], []
    printed = due = time.monotonic()
    while True:
        due = max(due + 1 / rate, time.monotonic() - 10)
        if select.select([sys.stdin], [], [], max(due - time.monotonic(), 0))[0]:
            break
        name, graph, fetch = rand.choice(made)
        start = time.monotonic()
        answer = "OK"
        try:
            with tf.Session(target, graph=graph, config=tf.ConfigProto(isolate_session_state=True)) as session:
                session.run(fetch, options=tf.RunOptions(timeout_in_ms=5000))
        except tf.errors.OpError as error:
            answer = type(error).__name__
            if answer in ("UnavailableError", "DeadlineExceededError", "InternalError"):
                errors.append("%s: %s" % (name, error.message))
        answers[answer] = answers.get(answer, 0) + 1
        ms.append(round(1000 * (time.monotonic() - start), 2))
        if time.monotonic() > printed + 1:
            print(json.dumps({"requests": len(ms), "answers": answers, "ms": ms, "errors": errors[:3]}), flush=True)
            answers, ms, errors, printed = {}, [], [], time.monotonic()


if __name__ == "__main__":
    main()
