"""Segment reductions."""

from tests.oracle.table import *


def sweep(types):
    return [{"T": t, "Tindices": "int32"} for t in types] + [{"T": "float", "Tindices": "int64"}]


def unsorted(types):
    kinds = [{"T": t, "Tindices": "int32", "Tnumsegments": "int32"} for t in types]
    return kinds + [dict(kinds[0], T="float", Tindices="int64"), dict(kinds[0], T="float", Tnumsegments="int64")]


F = {"T": "float", "Tindices": "int32"}
U = dict(F, Tnumsegments="int32")
SMALL = uniform(1, 3)


def segment(op, types, gen=uniform(), **more):
    return Row(op, cases=[C(gen.of(4, 2), [0, 0, 1, 2]), C(gen.of(5), [0, 1, 1, 1, 3]), C(gen.of(3, 1, 2), [0, 0, 0]), C(gen.of(0, 2), ints(0, 1).of(0)),
                          C(gen.of(3), [1, 2, 2])], types=sweep(types),
               errors=[C(rand(2), [-1, 0], types=F, says="segment ids must be >= 0"), C(rand(3), [0, 2, 1], types=F, says="not increasing|sorted"),
                       C(rand(3), [0, 1], types=F, says="same size|must be equal"), C(rand(2), [[0, 1]], types=F, says="vector|rank 1")], **more)


def unsorted_segment(op, types, gen=uniform(), **more):
    return Row(op, cases=[C(gen.of(4, 2), [2, 0, 2, 1], 3), C(gen.of(5), [0, -1, 1, 1, 3], 5), C(gen.of(2, 2, 2), [[0, 1], [1, 0]], 2),
                          C(gen.of(0, 2), ints(0, 1).of(0), 2), C(gen.of(3), 1, 2), C(gen.of(3, 300), [1, 1, 0], 2)], types=unsorted(types),
               errors=[C(rand(2), [0, 3], 3, types=U, says="segment_ids\\[1\\] = 3 is out of range \\[0, 3\\)"), C(rand(3), [0, 1], 3, types=U, says="does not start with|must be equal"),
                       C(rand(2), [0, 1], -1, types=U, says="negative"), C(rand(2), [0, 1], [2], types=U, says="scalar|rank 0")], **more)


def pairs(types, extra=()):
    kinds = [dict({"T": t, "Tidx": "int32", "Tsegmentids": "int32"}, **{e: "int32" for e in extra}) for t in types]
    first = dict(kinds[0], T="float")
    return kinds + [dict(first, Tidx="int64"), dict(first, Tsegmentids="int64")] + [dict(first, **{e: "int64"}) for e in extra]


S = {"T": "float", "Tidx": "int32", "Tsegmentids": "int32"}
N = dict(S, Tnumsegments="int32")


# Without indices, TensorFlow leaves the gradient uninitialized.
def sparse_segment(kind, types):
    op = "SparseSegment" + kind
    yield Row(op, cases=[C(rand(5, 2), [0, 3, 3], [0, 0, 1]), C(rand(5), [4, 1], [0, 2]), C(rand(4, 2, 2), [0, 1, 2, 3], [0, 0, 0, 0]),
                         C(rand(3, 2), ints(0, 1).of(0), ints(0, 1).of(0), grad=False)], types=pairs(types),
              errors=[C(rand(3), [0, 3], [0, 1], types=S, says="out of range"), C(rand(3), [0, 1], [1, 0], types=S, says="not increasing"),
                      C(rand(3), [0, 1], [-1, 0], types=S, says=">= 0"), C(rand(3), [0, 1], [0], types=S, says="same size|must be equal")])
    yield Row(op, cases=[C(rand(5, 2), [0, 3, 3], [0, 0, 1], sparse_gradient=True)], types=[S], name="sparse_gradient")
    yield Row(op + "WithNumSegments", cases=[C(rand(5, 2), [0, 3, 3], [0, 0, 1], 4), C(rand(5), [4, 1], [0, 2], 3), C(rand(3, 2), ints(0, 1).of(0), ints(0, 1).of(0), 2, grad=False)],
              types=pairs(types, ("Tnumsegments",)),
              errors=[C(rand(3), [0, 1], [0, 2], 2, types=N, says="num_segments"), C(rand(3), [0, 1], [0, 1], -1, types=N, says=">= 0|non-negative")])
    yield Row(op + "Grad", cases=[C(rand(2, 2), [0, 3, 3], [0, 0, 1], 5), C(rand(3), [4, 1], [0, 2], 5)],
              types=pairs(ALL_FLOATS), grad=False,
              errors=[C(rand(2), [0, 5], [0, 1], 5, types=S, says="Index 5 out of range \\[0, 5\\)"), C(rand(1), [0, 1], [0, 1], 5, types=S, says="Segment id 1 out of range \\[0, 1\\)")])
    yield Row(op + "GradV2", cases=[C(rand(2, 2), [0, 3, 3], [0, 0, 1], 5), C(rand(3), [4, 1], [0, 2], 5)], types=pairs(ALL_FLOATS), grad=False,
              errors=[C(rand(2), [0, 5], [0, 1], 5, types=S, says="Index 5 out of range \\[0, 5\\)")])


ROWS = [
    segment("SegmentSum", NUMBERS),
    segment("SegmentMean", NUMBERS, uniform(0, 9)),
    segment("SegmentProd", REALS, SMALL),
    segment("SegmentProd", COMPLEX, SMALL, grad="tf", name="complex"),  # TensorFlow does not conjugate
    segment("SegmentMax", REALS, distinct()),
    segment("SegmentMin", REALS, distinct()),
    Row("SegmentProd", cases=[C(values([0.0, 2, 3, 0, 0, 5]), [0, 0, 0, 1, 1, 2])], types=[F], grad="tf", name="zeros"),
    Row("SegmentMax", cases=[C(values([1.0, 1, 0, 2]), [0, 0, 0, 2])], types=[F], grad="tf", name="ties"),
    Row("SegmentProd", cases=[C(values([65535, 65535, 3]), [0, 0, 1])], types=[dict(F, T="uint16")], name="wraps"),
    Row("SparseSegmentSum", cases=[C(values([[2**31 - 1, -(2**31)], [1, -1]]), [0, 1], [0, 0])], types=[dict(S, T="int32")], name="wraps"),
    unsorted_segment("UnsortedSegmentSum", NUMBERS),
    unsorted_segment("UnsortedSegmentProd", REALS, SMALL),
    unsorted_segment("UnsortedSegmentProd", COMPLEX, SMALL, grad="tf", name="complex"),
    unsorted_segment("UnsortedSegmentMax", REALS, distinct()),
    unsorted_segment("UnsortedSegmentMin", REALS, distinct()),
    Row("UnsortedSegmentSum", cases=[C(rand(3), values([1, 0, 1]), 2)], types=[dict(U, Tindices="int16")], name="short"),
    Row("UnsortedSegmentProd", cases=[C(values([0.0, 2, 3, 0, 0, 5]), [0, 0, 0, 1, 1, 2], 3)], types=[U], grad="tf", name="zeros"),
    Row("UnsortedSegmentMax", cases=[C(values([1.0, 1, 0, 2]), [0, 0, 0, 2], 3)], types=[U], grad="tf", name="ties"),
    *sparse_segment("Sum", REALS),
    *sparse_segment("Mean", ALL_FLOATS),
    *sparse_segment("SqrtN", ALL_FLOATS),
]
