"""Cases in TensorFlow: one graph and one session for many cases."""

import numpy
import tensorflow
from tensorflow.core.framework import graph_pb2
from tensorflow.core.protobuf import config_pb2
from tensorflow.core.protobuf import rewriter_config_pb2
from tensorflow.python.framework import op_def_registry
from tensorflow.python.framework import ops
from tensorflow.python.ops import gradients_impl

from tests.oracle import outcome
from tests.oracle import program

tf = tensorflow.compat.v1
PRODUCER = tensorflow.version.GRAPH_DEF_VERSION


def config():
    """One thread, unmodified kernels, and no rewriting of the graph. Several devices, for cases
    that name one."""
    made = config_pb2.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1, device_count={"CPU": 3})
    made.graph_options.rewrite_options.disable_meta_optimizer = True
    made.graph_options.optimizer_options.opt_level = config_pb2.OptimizerOptions.L0
    made.graph_options.rewrite_options.constant_folding = rewriter_config_pb2.RewriterConfig.OFF
    return made


def failure(error):
    if isinstance(error, tensorflow.errors.OpError):
        return outcome.Failure(outcome.CODES[error.error_code], error.message)
    if isinstance(error, (LookupError, NotImplementedError)):
        return outcome.Failure("UNIMPLEMENTED", str(error))
    return outcome.Failure("INVALID_ARGUMENT", "%s: %s" % (type(error).__name__, error))


def producer(cases):
    """The graph version that the rows of the cases request, or that their deprecated ops need."""
    asked = [case.row.producer for case in cases if case.row.producer]
    if asked:
        return min(asked)
    names = {n.op for case in cases for n in case.builder.nodes}
    removed = [op_def_registry.get(name).deprecation.version for name in names if op_def_registry.get(name)]
    return min([PRODUCER] + [v - 1 for v in removed if v])


def graph_def(cases):
    made = graph_pb2.GraphDef()
    made.versions.producer = producer(cases)
    for case in cases:
        made.node.extend(case.builder.nodes)
        made.library.function.extend(case.builder.functions)
    return made


def has_gradient(op):
    try:
        return ops.gradient_registry.lookup(op) is not None
    except LookupError:
        return False


class Evaluation:
    """Runs cases together. Raises TensorFlow's exception if the graph is rejected. An error of the
    step is that of all cases."""

    def __init__(self, cases, random):
        self.cases = cases
        self.random = random
        self.graph = tf.Graph()
        with self.graph.as_default():
            tensorflow.graph_util.import_graph_def(graph_def(cases), name="")
        self.session = tf.Session(graph=self.graph, config=config())
        self.outcomes = [outcome.Outcome(shapes=self._shapes(case)) for case in cases]

    def _shapes(self, case):
        shapes = []
        for tensor in case.op_node.outputs if case.op_node is not None else []:
            shape = self.graph.get_tensor_by_name(tensor.name).shape
            shapes.append(None if shape.rank is None else shape.as_list())
        return shapes

    def step(self, runs):
        """One step over one run of each of some cases: [[array]]."""
        feeds, fetches, targets = {}, [], []
        for run in runs:
            feeds.update(run.feeds)
            fetches += [t.name for t in run.fetches]
            targets += [t.node.name if isinstance(t, program.Tensor) else t.name for t in run.targets]
        options = config_pb2.RunOptions(timeout_in_ms=runs[0].timeout_ms)
        operations = [self.graph.get_operation_by_name(t) for t in targets]
        values, _ = self.session.run([fetches, operations], feed_dict=feeds, options=options)
        values = [numpy.asarray(v, object) if isinstance(v, (bytes, str)) else numpy.asarray(v) for v in values]
        return split(values, [len(run.fetches) for run in runs])

    def choose_incoming(self):
        """Random incoming gradients for the ys, shaped as their values, as placeholders that both sides get."""
        for case, result in zip(self.cases, self.outcomes):
            for wanted in case.builder.gradients_wanted:
                if wanted.grad_ys is None or not result.runs or isinstance(result.runs[0], outcome.Failure):
                    continue
                values = dict(zip([t.name for t in case.builder.runs[0].fetches], result.runs[0]))
                wanted.grad_ys = []
                for y in wanted.ys:
                    array = self._incoming(values[y.name], y.dtype)
                    shape = None if case.builder.variant == "unknown" else array.shape
                    wanted.grad_ys.append(case.builder.placeholder(array, y.dtype, shape))
        self.add_new_nodes()

    def add_new_nodes(self):
        """Adds the nodes that the cases got after the graph was built."""
        with self.graph.as_default():
            extra = graph_pb2.GraphDef()
            extra.versions.producer = producer(self.cases)
            for case in self.cases:
                extra.node.extend(n for n in case.builder.nodes if not self._has(n.name))
            tensorflow.graph_util.import_graph_def(extra, name="")

    def _has(self, name):
        try:
            self.graph.get_operation_by_name(name)
            return True
        except KeyError:
            return False

    def _incoming(self, value, dtype):
        array = self.random.uniform(0.2, 1.2, value.shape) * self.random.choice([-1, 1], value.shape)
        if dtype.startswith("complex"):
            array = array + 1j * self.random.uniform(-1, 1, value.shape)
        return numpy.asarray(array).astype(program.numpy_type(dtype))

    def gradients(self, cases_wanted):
        """[[array or None]] for each (case, Gradient)."""
        ys, xs, grad_ys = [], [], []
        get = self.graph.get_tensor_by_name
        for _, wanted in cases_wanted:
            ys += [get(y.name) for y in wanted.ys]
            xs += [get(x.name) for x in wanted.xs]
            grad_ys += [get(g.name) for g in wanted.grad_ys] if wanted.grad_ys is not None else [None] * len(wanted.ys)
        with self.graph.as_default():
            grads = gradients_impl.gradients(ys, xs, grad_ys)
            grads = [None if g is None else tf.convert_to_tensor(g) for g in grads]
        feeds = {}
        for case, _ in cases_wanted:
            feeds.update(case.builder.feeds)
        values = iter(self.session.run([g for g in grads if g is not None], feed_dict=feeds))
        return split([None if g is None else numpy.asarray(next(values)) for g in grads],
                     [len(wanted.xs) for _, wanted in cases_wanted])

    def run_all(self):
        """Runs everything: all first runs in one step if possible, otherwise each case alone."""
        try:
            if all(len(case.builder.runs) == 1 for case in self.cases):
                for result, values in zip(self.outcomes, self.step([case.builder.runs[0] for case in self.cases])):
                    result.runs = [values]
            else:
                self._run_apart()
        except Exception:  # pylint: disable=broad-except  # whatever TensorFlow says: which case was it?
            self._run_apart()
        self.choose_incoming()
        self._all_gradients()
        return self.outcomes

    def _run_apart(self):
        for case, result in zip(self.cases, self.outcomes):
            result.runs = []
            for run in case.builder.runs:
                try:
                    result.runs.append(self.step([run])[0])
                except Exception as error:  # pylint: disable=broad-except
                    result.runs.append(failure(error))

    def _all_gradients(self):
        wanted = [(case, g) for case, result in zip(self.cases, self.outcomes) for g in case.builder.gradients_wanted
                  if not any(isinstance(r, outcome.Failure) for r in result.runs)]
        if not wanted:
            return
        try:
            values = self.gradients(wanted)
        except Exception:  # pylint: disable=broad-except
            values = [self._one_gradient(w) for w in wanted]
        by_case = {id(case): result for case, result in zip(self.cases, self.outcomes)}
        for (case, _), value in zip(wanted, values):
            by_case[id(case)].gradients.append(value)

    def _one_gradient(self, wanted):
        try:
            return self.gradients([wanted])[0]
        except Exception as error:  # pylint: disable=broad-except
            return failure(error)

    def close(self):
        self.session.close()


def split(values, lengths):
    parts, start = [], 0
    for length in lengths:
        parts.append(values[start:start + length])
        start += length
    return parts


def evaluate(cases, random):
    """Outcomes of cases that share a graph, or of each case alone if TensorFlow rejects the graph.
    """
    try:
        evaluation = Evaluation(cases, random)
    except Exception as error:  # pylint: disable=broad-except
        if len(cases) == 1:
            return [outcome.Outcome(built=failure(error))]
        return [evaluate([case], random)[0] for case in cases]
    try:
        return evaluation.run_all()
    finally:
        evaluation.close()
