"""The ops of TensorFlow's first word2vec tutorial."""

import os
import tempfile

from tests.oracle.table import *

FOLDER = tempfile.mkdtemp(prefix="sluice_oracle_")


def corpus(name, text):
    os.makedirs(FOLDER, exist_ok=True)
    path = os.path.join(FOLDER, name)
    temporary = path + ".%d" % os.getpid()
    with open(temporary, "w") as f:
        f.write(text)
    os.replace(temporary, path)
    return path


# Words of different frequency. Words of equal frequency have no fixed order.
TEXT = corpus("words.txt", " ".join("w%d" % w + ("\n" if w == 3 else "") for k in range(40) for w in range(8) if k % (w + 1) == 0))
SHORT = corpus("short.txt", "a b c")


def skipgram(**attrs):
    def build(b):
        node = b.op("Skipgram", filename=TEXT, **attrs)
        for _ in range(3):
            b.run(fetches=[node[k] for k in range(7)], tol=0)
    return build


def neg_train(shape, count, samples, rows):
    def build(b):
        w_in, w_out = (b.op("VariableV2", shape=list(shape), dtype="float") for _ in range(2))
        b.run(targets=[b.op("Assign", w, b.input(rand(*shape).typed("float"))) for w in (w_in, w_out)])
        step = b.op("NegTrain", w_in, w_out, b.const(rows[0], "int32"), b.const(rows[1], "int32"), b.const(0.1, "float"), vocab_count=count, num_negative_samples=samples)
        for _ in range(2):
            b.run(targets=[step])
            b.run(fetches=[b.op("Identity", w_in), b.op("Identity", w_out)], tol=1e-5)
    return build


def neg_train_errors(b):
    w_in, w_out = (b.op("VariableV2", shape=[3, 2], dtype="float") for _ in range(2))
    b.run(targets=[b.op("Assign", w, b.input(rand(3, 2).typed("float"))) for w in (w_in, w_out)])
    step = lambda examples, labels, count: b.op("NegTrain", w_in, w_out, b.const(examples, "int32"), b.const(labels, "int32"), b.const(0.1, "float"), vocab_count=count, num_negative_samples=0)
    b.run(targets=[step([0, 1], [1], [1, 2, 3])], error=True, says="shape")
    b.run(targets=[step([0], [1], [1, 2])], error=True, says="vocab_size mismatches")


def no_text(b):
    b.run(fetches=[b.op("Skipgram", filename=SHORT, batch_size=2)[0]], error=True, says="too little data")


ROWS = [
    Row("Skipgram", build=skipgram(batch_size=20), producer=18),
    Row("Skipgram", name="all words", build=skipgram(batch_size=1500, window_size=2, min_count=0, subsample=0.0), producer=18),
    Row("Skipgram", name="rare words", build=skipgram(batch_size=7, window_size=3, min_count=12, subsample=0.05), producer=18),
    Row("Skipgram", name="errors", build=no_text, producer=18),
    # Negative samples are random in every program, except with a single word, which is skipped if
    # it is the label.
    Row("NegTrain", build=neg_train((5, 3), [5, 4, 3, 2, 1], 0, ([0, 1, 1, 4], [1, 0, 2, 3])), producer=18),
    Row("NegTrain", name="one word", build=neg_train((1, 4), [9], 3, ([0, 0], [0, 0])), producer=18),
    Row("NegTrain", name="errors", build=neg_train_errors, producer=18),
]
