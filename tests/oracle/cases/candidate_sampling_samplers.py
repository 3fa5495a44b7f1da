"""Candidate samplers: the same classes and expected counts as TensorFlow's for the same seeds, over several steps."""

from tests.oracle.table import *


def sampler(op, seed=7, **attrs):
    def build(b):
        fetches = []
        for k, (unique, sampled, batch, num_true) in enumerate([(True, 5, 3, 1), (False, 30, 2, 2), (True, 20, 1, 1), (True, 12, 0, 1)]):
            classes = b.input(ints(0, attrs.get("range_max", sampled)).of(batch, num_true).typed("int64"))
            fetches += b.op(op, classes, num_true=num_true, num_sampled=sampled, unique=unique, seed=seed, seed2=k + (seed == 0), **attrs).outputs
        for _ in range(3):
            b.run(fetches=fetches, tol=1e-6)
        bad = b.op(op, b.hidden(values([[1, 2]], "int64")), num_true=1, num_sampled=3, unique=True, seed=1, **attrs)
        b.run(fetches=[bad[0]], error=True, says="num_true")
        bad = b.op(op, b.hidden(values([[attrs.get("range_max", 99)]], "int64")), num_true=1, num_sampled=3, unique=True, seed=1, **attrs)
        b.run(fetches=[bad[0]], error=True, says="out of range")

    return build


WEIGHTS = [1.0, 5.0, 0.5, 2.0, 7.0, 3.0, 1.5, 0.25, 1.0, 1.0, 4.0, 2.0, 1.0, 1.0, 0.75, 6.0, 1.0, 2.0, 3.0, 1.0, 2.5]
ROWS = [
    Row("UniformCandidateSampler", build=sampler("UniformCandidateSampler", range_max=21), types=[{}]),
    Row("LogUniformCandidateSampler", build=sampler("LogUniformCandidateSampler", range_max=21), types=[{}]),
    Row("LearnedUnigramCandidateSampler", build=sampler("LearnedUnigramCandidateSampler", range_max=21), types=[{}]),
    Row("ThreadUnsafeUnigramCandidateSampler", build=sampler("ThreadUnsafeUnigramCandidateSampler", range_max=32), types=[{}]),
    Row("AllCandidateSampler", build=sampler("AllCandidateSampler"), types=[{}]),
    Row("FixedUnigramCandidateSampler", build=sampler("FixedUnigramCandidateSampler", range_max=21, unigrams=WEIGHTS), types=[{}]),
    Row("FixedUnigramCandidateSampler", build=sampler("FixedUnigramCandidateSampler", range_max=23, unigrams=WEIGHTS, distortion=0.75, num_reserved_ids=2), types=[{}], name="distorted"),
    Row("FixedUnigramCandidateSampler", cases=[], errors=[C(values([[1]]), num_true=1, num_sampled=2, unique=True, range_max=5, unigrams=[1.0, 2.0], says="range"), C(values([[1]]), num_true=1, num_sampled=2, unique=True, range_max=5, says="Must provide")], name="errors"),
    Row("UniformCandidateSampler", cases=[], errors=[C(values([[1]]), num_true=1, num_sampled=8, unique=True, range_max=5, seed=1, says="too small")], name="errors"),
    Row("ComputeAccidentalHits", cases=[C(values([[1, 2], [3, 4], [5, 1]]), values([5, 1, 7]), num_true=2), C(values([[1]]), values([2]), num_true=1), C(values([[1]]), values([1, 1]), num_true=1)],
        errors=[C(values([[1, 2]]), values([2]), num_true=1, says="num_true|equal|must be"), C(values([[1]]), values([[2]]), num_true=1, says="vector|rank 1")]),
]
# Other ranges and seeds: few classes, powers of two, many.
for seed, classes in ((1, 20), (0, 64), (123456789, 100), (-3, 50000)):
    ROWS += [Row(name, build=sampler(name, seed=seed, range_max=classes), types=[{}], name="%d of %d" % (seed, classes)) for name in (
        "UniformCandidateSampler", "LogUniformCandidateSampler", "LearnedUnigramCandidateSampler", "ThreadUnsafeUnigramCandidateSampler")]
    ROWS.append(Row("AllCandidateSampler", build=sampler("AllCandidateSampler", seed=seed), types=[{}], name="seed %d" % seed))
