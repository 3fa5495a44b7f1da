"""Compares Sluice's outcome of a case with TensorFlow's. A complaint is a line of text."""

import re

import numpy

from tests.oracle import outcome
from tests.oracle import sluice_side
from tests.oracle import table
from tests.oracle import wording


def tolerance(option, dtype_name, factor=1):
    if isinstance(option, dict):
        option = option.get(dtype_name)
    return table.TOLERANCES.get(dtype_name, 0) * factor if option is None else option


def dtype_name(array):
    return {"float32": "float", "float64": "double", "float16": "half", "object": "string"}.get(
        array.dtype.name, array.dtype.name)


def wide(array):
    return array.astype(numpy.complex128 if array.dtype.kind == "c" else numpy.float64)


def differing(ours, theirs, tol):
    """A mask of the elements that differ."""
    if dtype_name(theirs) in table.INTS + ("bool", "string"):
        return ours != theirs
    with numpy.errstate(all="ignore"):
        a, b = wide(ours), wide(theirs)
        finite = numpy.isfinite(a) & numpy.isfinite(b)
        close = numpy.abs(a - b) <= tol * numpy.maximum(1, numpy.abs(b))
        # Complex numbers with a NaN or an infinity are equal if these are equal.
        odd = (numpy.isnan(a) & numpy.isnan(b)) | (a == b)
        if b.dtype.kind == "c":
            odd |= numpy.isinf(a) & numpy.isinf(b)
    return ~numpy.where(finite, close, odd)


def arrays(ours, theirs, tol):
    """None, or how two tensors differ."""
    if dtype_name(ours) != dtype_name(theirs):
        return "dtype %s, TensorFlow's is %s" % (dtype_name(ours), dtype_name(theirs))
    if ours.shape != theirs.shape:
        return "shape %s, TensorFlow's is %s" % (list(ours.shape), list(theirs.shape))
    mask = numpy.asarray(differing(ours, theirs, tol), bool)
    if not mask.any():
        return None
    where = tuple(int(i) for i in numpy.argwhere(mask)[0]) if mask.ndim else ()
    return "%d of %d elements differ, first at %s: %r, TensorFlow has %r (tolerance %g)" % (
        mask.sum(), mask.size, list(where), ours[where], theirs[where], tol)


def runs(case, ours, theirs):
    """Complaints about the steps."""
    for k, run in enumerate(case.builder.runs):
        our, their = ours.runs[k], theirs.runs[k]
        label = "run %d: " % k if len(case.builder.runs) > 1 else ""
        if run.error:
            yield from (label + c for c in errors(case.row.op, run, our, their))
            continue
        if isinstance(their, outcome.Failure):
            yield label + "TensorFlow refuses this: %s" % their
            return
        if isinstance(our, outcome.Failure):
            yield label + "failed: %s" % our
            return
        mode = run.compare or (case.option("compare") if case.spec is None else case.row.compare)
        for i, (a, b) in enumerate(zip(our, their)):
            complaint = values(mode, a, b, tolerance(run.tol if run.tol is not None else case.option("tol"), dtype_name(b)))
            if complaint:
                yield "%soutput %d: %s" % (label, i, complaint)


def values(mode, ours, theirs, tol):
    if callable(mode):
        return mode(ours, theirs)
    if mode == "shapes":
        return arrays(numpy.zeros_like(ours), numpy.zeros_like(theirs), 0)
    return arrays(ours, theirs, tol)


def errors(op, run, ours, theirs):
    """Complaints about a step that must fail, in a row of `op`."""
    if not isinstance(theirs, outcome.Failure):
        yield "TensorFlow accepts this"
    elif not isinstance(ours, outcome.Failure):
        yield "accepted; TensorFlow says %s" % theirs
    else:
        expected = run.code or theirs.code
        if ours.code != expected:
            yield "fails with %s; expected %s, as TensorFlow: %s" % (ours, expected, theirs.message[:300])
        if run.says and not re.search(run.says, ours.message, re.DOTALL):
            yield "says '%s', which does not match '%s'" % (ours.message[:400], run.says)
        phrase = wording.key_phrase(theirs.message)
        if not wording.contains(ours.message, phrase) and not wording.exempts(op, phrase):
            yield "says '%s', which lacks TensorFlow's phrase '%s'" % (ours.message[:400], phrase)


def static_shapes(case, ours, theirs):
    """Complaints about static shapes that are wrong or less precise than TensorFlow's."""
    if not case.row.static_shapes:
        return
    for i, (a, b) in enumerate(zip(ours.shapes, theirs.shapes)):
        if b is not None and (a is None or len(a) != len(b) or
                              any(n is not None and m != n for m, n in zip(a, b))):
            yield "output %d: static shape %s, TensorFlow's is %s" % (i, a, b)
    fetched = {t.name: v for run, values_ in zip(case.builder.runs, ours.runs) if not isinstance(values_, outcome.Failure)
               for t, v in zip(run.fetches, values_)}
    for tensor, shape in zip(case.op_node.outputs if case.op_node is not None else [], ours.shapes):
        value = fetched.get(tensor.name)
        if shape is None or value is None:
            continue
        if len(shape) != value.ndim or any(m is not None and m != n for m, n in zip(shape, value.shape)):
            yield "output %d: static shape %s of a value of shape %s" % (tensor.index, shape, list(value.shape))


def gradients(case, ours, theirs):
    """Complaints about gradients, by TensorFlow's and by differences."""
    for k, wanted in enumerate(case.builder.gradients_wanted[:len(theirs.gradients)]):
        their = theirs.gradients[k]
        our = ours.gradients[k] if k < len(ours.gradients) else outcome.Failure("INTERNAL", "no answer")
        # We may differentiate more than TensorFlow. Then only differences can check the result.
        if isinstance(our, outcome.Failure):
            if not isinstance(their, outcome.Failure):
                yield "gradient: failed: %s" % our
            continue
        for x, a, b in zip(wanted.xs, our, their) if wanted.beside and not isinstance(their, outcome.Failure) else ():
            if (a is None) != (b is None):
                yield "gradient of %s: %s, TensorFlow's is %s" % (x.name, "None" if a is None else "a tensor",
                                                                  "None" if b is None else "a tensor")
            elif a is not None:
                complaint = arrays(a, b, tolerance(case.row.grad_tol, dtype_name(b), 4))
                if complaint:
                    yield "gradient of %s: %s" % (x.name, complaint)
        if k < len(ours.shifted) and ours.shifted[k] is not None:
            yield from numeric(case, wanted, our, ours.shifted[k])


def numeric(case, wanted, grads, shifted):
    """Compares the directional derivative by central difference with that of the gradients."""
    inner = lambda a, b: float(numpy.sum(numpy.real(numpy.conj(wide(a)) * wide(b))))
    h = sluice_side.step(wanted.xs[0].dtype)
    found, size = 0.0, 1.0
    for y, plus, minus in zip(wanted.grad_ys, *shifted):
        incoming = case.builder.feeds[y.name]
        found += inner(incoming, (wide(plus) - wide(minus)) / (2 * h))
        size += float(numpy.sum(numpy.abs(wide(incoming)) * numpy.abs(wide(plus))))
    expected = sum(inner(g, d) for g, d in zip(grads, sluice_side.directions(case, wanted)) if g is not None)
    precision = 2.3e-16 if h < 1e-3 else 1.2e-7
    tol = case.row.numeric_tol or (1e-6 if h < 1e-3 else 3e-2)
    if not abs(found - expected) <= tol * max(1, abs(found)) + 4 * precision * size / h:
        yield "numeric derivative %.9g, by gradients %.9g" % (found, expected)


def complaints(case, ours, theirs):
    """All complaints about our outcome of a case."""
    if case.is_error:
        run = case.builder.runs[0]
        first = lambda o: o.built or o.runs[0]
        return list(errors(case.row.op, run, first(ours), first(theirs)))
    if theirs.built:
        return ["TensorFlow refuses the graph: %s" % theirs.built]
    if ours.built:
        return ["the graph is refused: %s" % ours.built]
    return list(runs(case, ours, theirs)) + list(static_shapes(case, ours, theirs)) + list(gradients(case, ours, theirs))
