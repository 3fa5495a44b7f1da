"""Conditional accumulators: means and sums of gradients, staleness, messages."""

from tests.oracle.table import *


class Accumulator:
    """One accumulator of a program. form: "" (by two strings), "Resource" or "Sparse"."""

    def __init__(self, b, form, dtype, shape, **attrs):
        self.b, self.form, self.dtype = b, form, dtype
        self.handle = b.op(form + "ConditionalAccumulator", dtype=dtype, shape=shape, **{"shared_name": b.name("a"), **attrs})

    def apply(self, step, *gradient, **attrs):
        step = self.b.input(values(step), "int64") if isinstance(step, int) else step
        return self.b.op(self.form + "AccumulatorApplyGradient", self.handle, step, *gradient, dtype=self.dtype, **attrs)

    def take(self, n):
        return self.b.op(self.form + "AccumulatorTakeGradient", self.handle, n, dtype=self.dtype)

    def _shared(self, op, *inputs):
        return self.b.op(("Resource" if self.form == "Resource" else "") + op, self.handle, *inputs)

    def set_step(self, step):
        return self._shared("AccumulatorSetGlobalStep", step)

    def count(self):
        return self._shared("AccumulatorNumAccumulated")


def dense(form, reduction):

    def build(b):
        dtype = b.types["dtype"]
        a = Accumulator(b, form, dtype, [2, -1], reduction_type=reduction)
        count = a.count()
        add = lambda step: a.apply(step, b.input(rand(2, 3), dtype))
        for _ in range(3):
            b.run(targets=[add(0)])
        b.run(fetches=[count])
        b.run(fetches=[a.take(2)])
        b.run(targets=[add(0)])  # stale now
        b.run(fetches=[count])
        b.run(targets=[a.set_step(values(5))])
        for step in (4, 5, 9):
            b.run(targets=[add(step)])
            b.run(fetches=[count])
        b.run(fetches=[a.take(1)])
        b.run(targets=[a.set_step(values(2))])
        b.run(targets=[add(2)])
        b.run(fetches=[a.take(1)])

    return build


def dense_errors(form):

    def build(b):
        a = Accumulator(b, form, "float", [2])
        f = lambda *shape: b.hidden(rand(*shape).typed("float"))
        says = "Shape mismatch: expected \\[2\\], got \\[3\\]"
        b.run(targets=[a.apply(0, f(3))], error=True, says=says)
        b.run(targets=[a.apply(0, f(2))])
        b.run(targets=[a.apply(0, f(3))], error=True, says=says)
        b.run(targets=[a.set_step(b.hidden(values([0], "int64")))], error=True,
              says="Argument num_required must be scalar, but had bad shape \\[1\\]")
        b.run(fetches=[a.take(b.hidden(values(0, "int32")))], error=True,
              says="Argument num_required must be positive, but was 0")
        b.run(fetches=[a.take(2)], error=True, timeout_ms=300)
        b.run(fetches=[a.count()])
        # TensorFlow reports an error but adds the gradient anyway.
        b.run(targets=[a.apply(b.hidden(values([0], "int64")), f(2))], error=True,
              says="Argument local_step must be scalar, but had bad shape \\[1\\]")

    return build


def one_after_another(form):
    """Gradients of many shapes and types, including empty and large ones. After a take, the
    accumulator starts again."""

    def build(b):
        dtype = b.types["dtype"]
        for shape, known in (((), []), ((3,), [3]), ((0, 2), [-1, 2]), ((60, 50), None)):
            a = Accumulator(b, form, dtype, known, shared_name=b.name("a%s" % (shape,)))
            b.run(fetches=[a.count()])
            for n in (1, 3):
                b.run(targets=[a.set_step(values(n))])
                for _ in range(n):
                    b.run(targets=[a.apply(n, b.input(rand(*shape), dtype))])
                b.run(targets=[a.apply(n - 1, b.input(rand(*shape), dtype))])  # stale
                b.run(fetches=[a.count()])
                b.run(fetches=[a.take(n)])
            b.run(fetches=[a.count()])

    return build


def reopened(form, change):
    """A second op with the same name gets the existing accumulator, whatever its attributes are."""

    def build(b):
        attrs = dict(dtype="float", shape=[2], shared_name=b.name("a"), reduction_type="MEAN")
        first = b.op(form + "ConditionalAccumulator", **attrs)
        second = b.op(form + "ConditionalAccumulator", **{**attrs, **change})
        count = ("Resource" if form == "Resource" else "") + "AccumulatorNumAccumulated"
        b.run(fetches=[b.op(count, first)])
        apply = ("Resource" if form == "Resource" else "") + "AccumulatorApplyGradient"
        b.run(targets=[b.op(apply, first, b.input(values(0), "int64"), b.input(rand(2), "float"), dtype="float")])
        b.run(fetches=[b.op(count, second)])

    return build


def waiting(form):
    """A take waits for gradients of its own step."""

    def build(b):
        a = Accumulator(b, form, "float", [2])
        both = [a.apply(0, b.input(rand(2), "float")) for _ in range(2)]
        b.run(fetches=[a.take(2)], targets=both)

    return build


def rows_of(b, indices, dtype, width=2):
    return (b.input(values(numpy.array(indices, numpy.int64)), "int64"),
            b.input(rand(len(indices), *([width] if width else [])), dtype))


def sparse(shape, reduction):

    def build(b):
        dtype = b.types["dtype"]
        a = Accumulator(b, "Sparse", dtype, shape, reduction_type=reduction)
        for gradients in (([0, 2], [2, 3]), ([1],), ([], [1, 3], []), ([2, 0], [2, 3]), ([2, 2], [2, 3]),
                          ([0, 1], [1], [1, 2])):
            b.run(targets=[a.set_step(values(0))])
            for indices in gradients:
                add = a.apply(0, *rows_of(b, indices, dtype), b.input(values([4, 2]), "int64"), has_known_shape=True)
                b.run(targets=[add])
            b.run(fetches=[a.count()])
            b.run(fetches=[a.take(len(gradients))])

    return build


SPARSE_ERRORS = [  # indices, shape of values, dense shape or None, message
    ([[0]], (1, 2), [4, 2], "Input indices should be vector but received shape: \\[1,1\\]"),
    ([0], (), [4, 2], "Values cannot be 0-dimensional."),
    ([0, 1], (1, 2), [4, 2], "Expected 2 non-empty input values, got 1"),
    ([0], (1, 2), [4], "Shape mismatch: expected shape rank at least 2, got 1"),
    ([0], (1, 2), [4, 3], "Shape mismatch: expected shape dim 1 to be 2, got 3"),
    ([4], (1, 2), [4, 2], "index of slice 0 exceeded limits of shape; index is 4 exceeded 4"),
    ([0], (1,), None, "Shape mismatch: expected values rank at least 2, got 1"),
    ([0], (1, 3), None, "Shape mismatch: expected values dim 1 to be 2, got 3"),
]


def sparse_errors(b):
    a = Accumulator(b, "Sparse", "float", [4, 2])
    f = lambda *shape: b.hidden(rand(*shape).typed("float"))
    for indices, shape, dense_shape, says in SPARSE_ERRORS:
        known = dense_shape is not None
        add = a.apply(0, b.hidden(values(numpy.array(indices), "int64")), f(*shape),
                      b.hidden(values(numpy.array(dense_shape or [], numpy.int64), "int64")), has_known_shape=known)
        b.run(targets=[add], error=True, says=says)
    b.run(fetches=[a.count()])


def sparse_second(b):
    """The first gradient determines which gradients may follow."""
    a = Accumulator(b, "Sparse", "float", None)
    f = lambda *shape: b.hidden(rand(*shape).typed("float"))
    one = lambda *shape: a.apply(0, b.hidden(values([0], "int64")), f(*shape), b.hidden(values([0], "int64")),
                                 has_known_shape=False)
    b.run(targets=[one(1, 2)])
    b.run(targets=[one(1)], error=True, says="Shape mismatch: expected values rank 2, got 1")
    b.run(targets=[one(1, 3)], error=True, says="Shape mismatch: expected values dim 1 to be 2, got 3")
    b.run(fetches=[a.take(1)])


def sparse_life(b):
    """Gradients with different numbers of rows, counted and taken."""
    dtype = b.types["dtype"]
    for width, rows, known in ((2, [0, 2], [4, 2]), (0, [1], []), (300, list(range(40)), [-1, 300])):
        a = Accumulator(b, "Sparse", dtype, known, shared_name=b.name("a%d" % width))
        for n in (1, 2):
            b.run(targets=[a.set_step(values(n))])
            for _ in range(n):
                b.run(targets=[a.apply(n, *rows_of(b, rows, dtype, width), b.input(values([]), "int64"), has_known_shape=False)])
            b.run(targets=[a.apply(0, *rows_of(b, rows, dtype, width), b.input(values([]), "int64"), has_known_shape=False)])
            b.run(fetches=[a.count()])
            b.run(fetches=[a.take(n)])


def sparse_take_errors(b):
    a = Accumulator(b, "Sparse", "float", [4, 2])
    b.run(fetches=[a.take(b.hidden(values(0, "int32")))], error=True, says="Argument num_required must be positive, but was 0")
    b.run(targets=[a.set_step(b.hidden(values([0], "int64")))], error=True, says="must be scalar, but had bad shape \\[1\\]")
    b.run(fetches=[a.take(1)], error=True, timeout_ms=300)
    b.run(fetches=[a.count()])


ONE = {"dtype": ("float",)}
GRADIENTS = {"dtype": ("half", "float", "double")}
ROWS = []
for form in ("", "Resource"):
    ROWS += [Row(form + "ConditionalAccumulator", build=dense(form, r), types=GRADIENTS, name=r) for r in ("MEAN", "SUM")]
    ROWS += [Row(form + "AccumulatorApplyGradient", build=dense_errors(form), types=ONE),
             Row(form + "AccumulatorTakeGradient", build=waiting(form), types=ONE),
             Row(form + "AccumulatorSetGlobalStep", build=dense(form, "MEAN"), types=ONE),
             Row(form + "AccumulatorNumAccumulated", build=dense(form, "MEAN"), types=ONE)]
ROWS += [Row("SparseConditionalAccumulator", build=sparse(shape, r), types=GRADIENTS, name="%s %s" % (r, shape))
         for r in ("MEAN", "SUM") for shape in ([4, 2], [-1, 2], [], None)]
ROWS += [Row("SparseAccumulatorApplyGradient", build=sparse_errors, types=ONE),
         Row("SparseAccumulatorTakeGradient", build=sparse_second, types=ONE)]
USES = ("AccumulatorApplyGradient", "AccumulatorTakeGradient", "AccumulatorSetGlobalStep", "AccumulatorNumAccumulated")
REOPENED = ({"shape": [3]}, {"dtype": "double"}, {"reduction_type": "SUM"})
EACH = [{"dtype": t} for t in ("half", "float", "double")]
for form in ("", "Resource"):
    ROWS += [Row(form + use, build=one_after_another(form), types=EACH, name="sizes") for use in USES]
    ROWS += [Row(form + use, build=dense_errors(form), types=ONE, name="misuse") for use in USES[1:]]
    ROWS += [Row(form + "ConditionalAccumulator", build=reopened(form, change), types=ONE, name="reopened " + " ".join(change)) for change in REOPENED]
ROWS += [Row("Sparse" + use, build=sparse_life, types=EACH, name="sizes") for use in USES[:2]]
ROWS.append(Row("SparseAccumulatorTakeGradient", build=sparse_take_errors, types=ONE, name="misuse"))
