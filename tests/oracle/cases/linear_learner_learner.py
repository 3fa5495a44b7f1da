"""k-means, dual coordinate ascent, and warm starts with other vocabularies."""

import itertools
import os
import tempfile

from tests.oracle.table import *

FOLDER = tempfile.mkdtemp(prefix="sluice_oracle_")
LOSSES = ("logistic_loss", "squared_loss", "hinge_loss", "smooth_hinge_loss", "poisson_loss")


def lines(name, *words):
    os.makedirs(FOLDER, exist_ok=True)
    path = os.path.join(FOLDER, name)
    with open(path + ".%d" % os.getpid(), "w") as f:
        f.write("".join(w + "\n" for w in words))
    os.replace(path + ".%d" % os.getpid(), path)
    return path


OLD, NEW, TWICE = lines("old", "knitting", "flask", "socks", "jelly"), lines("new", "socks", "tea", "knitting", "lamp", "flask"), lines("twice", "a", "b", "a")
EMPTY, NOTHING = lines("empty", "a", "", "b"), lines("nothing")
KEYS = itertools.count()


def i64(x):
    return values(numpy.array(x, "int64"), "int64")


def remap(offset, count, size=-1, new=NEW, old=OLD):
    return C(values(new, "string"), values(old, "string"), new_vocab_offset=offset, num_new_vocab=count, old_vocab_size=size)


def matrix(rows, columns, extra, most=-1, says=None, name="m"):
    """A matrix in a checkpoint, as both sides write it, and read in another order."""
    key = next(KEYS)

    def build(b):
        prefix = os.path.join(FOLDER, "ckpt_%d_%s" % (key, b.prefix.replace("/", "_")))
        os.makedirs(FOLDER, exist_ok=True)
        saved = [b.input(rand(4, 3).typed("float")), b.input(rand(4).typed("float")), b.input(rand(2, 3).typed("double"))]
        save = b.op("SaveV2", b.const(prefix, "string"), b.const(["m", "v", "d"], "string"), b.const(["", "", ""], "string"), saved)
        load = b.op("LoadAndRemapMatrix", b.const(prefix, "string"), b.const(name, "string"), b.input(i64(rows)), b.input(i64(columns)), b.input(rand(extra).typed("float")), num_rows=len(rows), num_cols=max(len(columns), 3), max_rows_in_memory=most)
        b.run(targets=[save])
        b.run(fetches=[load], error=says is not None, says=says, tol=0)
    return build


def sdca(op, loss, examples, **attrs):
    """Examples that share no feature, so that their order does not matter: sparse with values, sparse without, and dense for one alone."""
    n = examples
    label = ints(0, 2).of(n).typed("float") if loss != "squared_loss" else rand(n).typed("float")
    sparse = [i64(range(n)), i64(numpy.repeat(range(n), 2))], [i64([7 * k for k in range(n)]), i64(range(2 * n))], [rand(n).typed("float")]
    weights = [rand(n).typed("float"), rand(2 * n).typed("float")]
    ids = [i64([7 * k for k in range(n)]), i64(range(2 * n))]
    dense = [rand(1, 3).typed("float")] if n == 1 else []
    state = [[0.0] * 4] * n  # a constant, because TensorFlow writes into fed tensors
    return C(*sparse, dense, uniform(0.5, 2).of(n), label, ids, weights, [rand(3).typed("float")] if n == 1 else [], state, loss_type=loss, l1=0.1, l2=1.5, **dict(dict(num_loss_partitions=1, num_inner_iterations=1, variants=("known",)), **attrs))


def bad(says, **change):
    """One example of one dense column, with something wrong."""
    parts = dict(dense=[rand(1, 3).typed("float")], weights=[rand(3).typed("float")], label=values([1.0]), state=rand(1, 4))
    parts.update(change)
    return C([], [], [], parts["dense"], values([1.0]), parts["label"], [], [], parts["weights"], parts["state"], loss_type="logistic_loss", l1=0.0, l2=1.0, num_loss_partitions=1, num_inner_iterations=1, says=says)


def shrink(b):
    weights = [b.op("VariableV2", shape=[n], dtype="float") for n in (4, 2)]
    b.run(targets=[b.op("Assign", w, b.input(rand(n).typed("float"))) for w, n in zip(weights, (4, 2))])
    b.run(targets=[b.op("SdcaShrinkL1", weights, l1=0.6, l2=1.2)])
    b.run(fetches=[b.op("Identity", w) for w in weights])


TOL = 1e-4

ROWS = [
    Row("GenerateVocabRemapping", cases=[remap(0, 5), remap(1, 3), remap(2, 0), remap(0, 5, 2)], types=[{}],
        errors=[remap(3, 3), remap(0, 5, 9), remap(0, 2, old=TWICE), remap(0, 1, new=EMPTY), remap(0, 0, new=NOTHING), remap(0, 2, old=NOTHING), remap(0, 2, 0), C(values([NEW], "string"), values(OLD, "string"), new_vocab_offset=0, num_new_vocab=1, says="rank|single"), C(values("", "string"), values(OLD, "string"), new_vocab_offset=0, num_new_vocab=1, says="empty")]),
    Row("LoadAndRemapMatrix", build=matrix([2, 0], [], 0)),
    Row("LoadAndRemapMatrix", name="parts", build=matrix([3, -1, 0, 1], [], 3, 1)),
    Row("LoadAndRemapMatrix", name="columns", build=matrix([3, -1, 0], [2, -1, 0, 1], 6)),
    Row("LoadAndRemapMatrix", name="too few values", build=matrix([3, -1, 0], [], 2, says="more missing values")),
    Row("LoadAndRemapMatrix", name="too many values", build=matrix([3, 1], [], 2, says="only 0")),
    Row("LoadAndRemapMatrix", name="twice", build=matrix([1, 1], [], 0, says="mapped to both")),
    Row("LoadAndRemapMatrix", name="a vector", build=matrix([1], [], 0, says="rank", name="v")),
    Row("LoadAndRemapMatrix", name="type", build=matrix([1], [], 0, says="type", name="d")),
    Row("KMC2ChainInitialization", cases=[C(uniform(0, 5).of(n), i64(s)) for n in (1, 5, 200) for s in (0, 1, 12345)], types=[{}], errors=[C(rand(0), i64(1), says="size"), C(rand(2, 2), i64(1), says="vector|rank"), C(rand(2), i64([1]), says="scalar|rank")]),
    Row("KmeansPlusPlusInitialization", cases=[C(uniform(-5, 5).of(30, 3), i64(k), i64(s), i64(r)) for k in (1, 4, 30) for s in (0, 7) for r in (0, 2, -1)] + [C(uniform(0, 0).of(4, 2), i64(3), i64(1), i64(0))], types=[{}],
        errors=[C(rand(3, 2), i64(4), i64(1), i64(0), says="<= points"), C(rand(3, 2), i64(0), i64(1), i64(0), says="> 0"), C(rand(3), i64(1), i64(1), i64(0), says="matrix"), C(rand(0, 2), i64(1), i64(1), i64(0), says="rows")]),
    Row("NearestNeighbors", cases=[C(rand(6, 3), rand(5, 3), i64(k)) for k in (0, 1, 3, 9)] + [C(rand(2, 2), rand(0, 2), i64(1))], types=[{}], tol=1e-4,
        errors=[C(rand(2, 3), rand(2, 2), i64(1), says="dimensions"), C(rand(0, 2), rand(2, 2), i64(1), says="rows"), C(rand(2), rand(2, 2), i64(1), says="matrix")]),
    *[Row(op, name=loss, cases=[sdca(op, loss, n, num_loss_partitions=p) for n in (1, 4) for p in (1, 3)] + [sdca(op, loss, 1, **{spelling: True})], types=[{}], tol=TOL) for op, spelling in (("SdcaOptimizer", "adaptative"), ("SdcaOptimizerV2", "adaptive")) for loss in LOSSES],
    Row("SdcaOptimizerV2", name="errors", errors=[bad("labels of 0.0 or 1.0", label=values([2.0])), bad("example labels", label=values([1.0, 0.0])), bad("rank", dense=[rand(3).typed("float")]), bad("example_state_data", state=rand(1, 3))]),
    Row("SdcaShrinkL1", build=shrink),
    Row("SdcaFprint", cases=[C(strings("a", "", "bc", b"\x00\xff", "a long string of more than sixteen bytes").of(n)) for n in (0, 1, 6)], types=[{}], tol=0, errors=[C(strings("a").of(2, 2), says="vector|rank")]),
]
