"""Strings, joined."""

from tests.oracle.table import *

ONE, TWO = strings("a", "", "bc").of(), strings("x", "yz", "").of(2)

def segment_join():
    i = lambda *x: values(numpy.array(x[0]))
    words = lambda *shape: strings("a", "", "bc").of(*shape)
    types = {"Tindices": INDEX, "Tnumsegments": INDEX}
    one = {"Tindices": "int32", "Tnumsegments": "int32"}
    return [Row("UnsortedSegmentJoin", cases=[C(words(4), i([0, 2, 0, 1]), n, separator=s) for n in (3, 4) for s in ("", "--")] + [C(words(3, 2), i([1, 0, 1]), 2, separator=","), C(words(2, 2), i([[0, 1], [1, 0]]), 2, separator=","), C(words(0), i(numpy.zeros(0)), 2)], types=types,
                errors=[C(words(2), i([0, 3]), 3, types=one, says="exceed num_segments"), C(words(2), i([0, -1]), 3, types=one, says="negative"), C(words(2), i([0, 1, 2]), 3, types=one, says="dimension|equal"), C(words(), i(0), 3, types=one, says="rank 0")])]


ROWS = [
    Row("StringJoin", cases=[C([ONE, TWO], separator="-"), C([TWO, ONE, TWO]), C([ONE]), C([strings("a").of(0, 2), ONE]), C([], N=0)],
        errors=[C([TWO, strings("a").of(3)], says="do not match|must be equal")]),
    *segment_join(),
    Row("Fingerprint", cases=[C(rand(*d), "farmhash64") for d in ((3,), (2, 3), (2, 1, 2), (0,), (1, 4))], types={"T": PLAIN + ("string",)}, tol=0,
        errors=[C(rand(), "farmhash64", types={"T": "float"}, says="at least"), C(rand(2), "md5", types={"T": "float"}, says="[Uu]nsupported"), C(rand(2), values(["farmhash64"], "string"), types={"T": "float"}, says="scalar|rank")]),
]
