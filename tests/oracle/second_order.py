"""Gradients of gradients of the rows' cases, in TensorFlow, in Sluice, and by differences.

For a case y = f(x) with incoming gradients g and random v: the gradient of sum(v * dx(g, x)) with
respect to x and g.
"""

import dataclasses

import numpy
import tensorflow
from tensorflow.core.framework import graph_pb2
from tensorflow.python.ops import gradients_impl

from tests.oracle import compare
from tests.oracle import expand
from tests.oracle import outcome
from tests.oracle import sluice_side
from tests.oracle import tensorflow_side

tf = tensorflow.compat.v1
STEP = 1e-5
# TensorFlow's second gradients of these rows are wrong: that of Cumprod, which Prod uses, divides
# by x.
WRONG_IN_TENSORFLOW = {"Prod/zeros"}


@dataclasses.dataclass
class Second:
    """One case with its first gradient (`wanted`, with the incoming gradients that TensorFlow's
    side chose)."""
    case: expand.Case
    wanted: object
    first: list = None      # TensorFlow's first gradients, or None each
    weights: list = None    # per x with a gradient: the placeholder of v
    theirs: object = None   # arrays or None for xs + grad_ys, or a Failure


def cases_of(row, most):
    """Cases with double inputs whose first gradient is checked numerically, the first `most`."""
    if row.build is not None:
        return []
    found = [c for c in expand.expand(row) if c.op_node is not None and not c.is_error and any(
        g.numeric and all(x.dtype == "double" for x in g.xs + g.ys) for g in c.builder.gradients_wanted)]
    return found[:most]


def in_tensorflow(cases, random):
    """[Second] of the cases whose first gradient TensorFlow has."""
    evaluation = tensorflow_side.Evaluation(cases, random)
    try:
        outcomes = evaluation.run_all()
        seconds = [Second(case, case.builder.gradients_wanted[0], result.gradients[0])
                   for case, result in zip(cases, outcomes)
                   if result.gradients and not isinstance(result.gradients[0], outcome.Failure)
                   and any(g is not None for g in result.gradients[0])]
        for second in seconds:
            second.weights = [None if g is None else second.case.builder.placeholder(
                numpy.asarray(random.uniform(0.2, 1.2, g.shape) * random.choice([-1, 1], g.shape)), "double", g.shape)
                for g in second.first]
        evaluation.add_new_nodes()
        for second in seconds:
            second.theirs = _gradient(evaluation, second)
        return seconds
    finally:
        evaluation.close()


def _gradient(evaluation, second):
    get = evaluation.graph.get_tensor_by_name
    wanted = second.wanted
    xs, grad_ys = [get(x.name) for x in wanted.xs], [get(g.name) for g in wanted.grad_ys]
    try:
        with evaluation.graph.as_default():
            first = gradients_impl.gradients([get(y.name) for y in wanted.ys], xs, grad_ys)
            pairs = [(tf.convert_to_tensor(g), get(w.name)) for g, w in zip(first, second.weights) if w is not None]
            found = gradients_impl.gradients([g for g, _ in pairs], xs + grad_ys, [w for _, w in pairs])
            found = [None if g is None else tf.convert_to_tensor(g) for g in found]
        values = iter(evaluation.session.run([g for g in found if g is not None], feed_dict=second.case.builder.feeds))
        return [None if g is None else numpy.asarray(next(values)) for g in found]
    except Exception as error:  # pylint: disable=broad-except  # no second gradient there
        return tensorflow_side.failure(error)


def in_sluice(runner, second):
    """(arrays or None for xs + grad_ys, numeric derivative) or a Failure."""
    case, wanted = second.case, second.wanted
    graph = graph_pb2.GraphDef()
    graph.versions.producer = tensorflow_side.PRODUCER
    graph.node.extend(case.builder.nodes)
    request = runner.request_class(graph_def=graph.SerializeToString())
    names = lambda tensors: [t.name for t in tensors]
    request.gradient.add(name="first", y=names(wanted.ys), x=names(wanted.xs), grad_y=names(wanted.grad_ys))
    with_gradient = [i for i, w in enumerate(second.weights) if w is not None]
    request.gradient.add(name="second", y=["first/%d" % i for i in with_gradient],
                         x=names(wanted.xs + wanted.grad_ys), grad_y=[second.weights[i].name for i in with_gradient])
    count = len(wanted.xs) + len(wanted.grad_ys)
    run = request.run.add(timeout_ms=60000, fetch=["second/%d" % j for j in range(count)])
    sluice_side.add_feeds(run, case.builder.feeds, case.builder.feed_types)
    for sign in (1, -1):
        run = request.run.add(timeout_ms=60000, fetch=["first/%d" % i for i in with_gradient])
        sluice_side.add_feeds(run, sluice_side.shifted_feeds(case, wanted, sign), case.builder.feed_types)
    answer = runner.ask(request)
    failed = sluice_side.failed(answer)
    if failed is not None:
        return sluice_side.status_failure(failed)
    values = iter(answer.run[0].tensor)
    found = [sluice_side.read_tensor(next(values)) if exists else None for exists in answer.gradient[1].exists]
    plus, minus = ([sluice_side.read_tensor(t) for t in run.tensor] for run in answer.run[1:3])
    numeric = sum(float(numpy.sum(case.builder.feeds[second.weights[i].name] * (p - m))) / (2 * STEP)
                  for i, p, m in zip(with_gradient, plus, minus))
    size = sum(float(numpy.sum(numpy.abs(p))) for p in plus)
    return found, numeric, size


def complaints(runner, second):
    """Complaints about our second gradient of a case."""
    theirs = second.theirs
    ours = in_sluice(runner, second)
    if isinstance(ours, outcome.Failure):
        return [] if isinstance(theirs, outcome.Failure) else ["failed: %s" % ours]
    found, numeric, size = ours
    said = []
    if not isinstance(theirs, outcome.Failure):
        tol = compare.tolerance(second.case.row.grad_tol, "double", 16)
        for i, (our, their) in enumerate(zip(found, theirs)):
            # A zero gradient equals a missing one.
            our, their = ((numpy.zeros_like(b) if a is None and b is not None else a) for a, b in ((our, their), (their, our)))
            complaint = compare.arrays(our, their, tol) if our is not None else None
            if complaint:
                said.append("%s: %s" % (("x%d" % i if i < len(second.wanted.xs) else "grad_y"), complaint))
    by_gradient = sum(float(numpy.sum(g * d)) for g, d in zip(found, sluice_side.directions(second.case, second.wanted))
                      if g is not None)
    if second.case.row.id not in WRONG_IN_TENSORFLOW and not abs(numeric - by_gradient) <= 1e-5 * max(1, abs(numeric)) + 1e-15 * size / STEP:
        said.append("numeric derivative %.9g, by gradients %.9g" % (numeric, by_gradient))
    return said
