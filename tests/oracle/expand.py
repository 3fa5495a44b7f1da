"""Expands a row to its cases: types x shapes x attributes x static shapes."""

import dataclasses
import itertools
import zlib

import numpy
from tensorflow.python.framework import kernels
from tensorflow.python.framework import op_def_registry

from tests.oracle import program
from tests.oracle import table

# Types that rows cover by default.
COVERED = table.ALL
# The first type runs in more variants.
ORDER = {name: i for i, name in enumerate(("float", "int32", "string", "bool", "double", "int64") + table.ALL)}


@dataclasses.dataclass
class Case:
    """A built case of a row."""
    id: str
    builder: program.Builder
    row: table.Row
    spec: table.C
    op_node: object = None    # the node under test, if there is one
    is_error: bool = False
    is_edges: bool = False

    def option(self, name):
        value = getattr(self.spec, name, None) if self.spec else None
        return getattr(self.row, name) if value is None else value


def kernel_types(op):
    """Combinations of type attributes with a CPU kernel: a list of {attr: set of names}.

    TensorFlow registers a few kernels for types that the op's own definition does not allow (Acos of integers).
    """
    combinations = []
    op_def = op_def_registry.get(op)
    for kernel in kernels.get_registered_kernels_for_op(op).kernel:
        if kernel.device_type not in ("CPU", "DEFAULT") or kernel.label:
            continue
        one = {}
        for constraint in kernel.constraint:
            types = [program.type_name(t) for t in constraint.allowed_values.list.type]
            allowed = allowed_types(op_def, constraint.name)
            one[constraint.name] = [t for t in types if t in allowed]
        combinations.append(one)
    return combinations


def allowed_types(op_def, attr_name):
    for attr in op_def.attr:
        if attr.name == attr_name and attr.allowed_values.list.type:
            return [t for t in map(program.type_name, attr.allowed_values.list.type) if t in COVERED]
    return list(COVERED)


def type_attrs(op_def, given):
    """Type attributes that a row has to choose: all scalar ones that `given` (attributes of a case)
    does not determine."""
    return [a.name for a in op_def.attr if a.type == "type" and a.name not in given]


def type_combinations(row, spec):
    """All combinations of types for a case without duplicates, the most important ones first."""
    op_def = op_def_registry.get(row.op)
    if op_def is None:
        raise ValueError("TensorFlow has no op " + row.op)
    wanted = spec.types if spec is not None and spec.types is not None else row.types
    if isinstance(wanted, (list, tuple)):
        return [dict(w) for w in wanted]
    wanted = {k: [v] if isinstance(v, str) else list(v) for k, v in (wanted or {}).items()}
    names = type_attrs(op_def, spec.attrs if spec is not None else {})
    open_names = [n for n in names if n not in wanted]
    found = {}
    for kernel in kernel_types(row.op) or [{}]:
        choices = [wanted[n] if n in wanted else kernel.get(n, allowed_types(op_def, n)) for n in names]
        for combination in itertools.product(*choices):
            if all(c in allowed_types(op_def, n) or n in wanted for n, c in zip(names, combination)):
                found[combination] = None
    # Attributes that neither inputs nor the row determine have their default.
    defaults = {a.name: program.type_name(a.default_value.type) for a in op_def.attr
                if a.name in open_names and a.HasField("default_value")}
    rank = lambda c: [(ORDER.get(t, 99) if defaults.get(n) != t else -1) for n, t in zip(names, c)]
    extra = {k: v[0] for k, v in wanted.items() if k not in names}
    return [dict(zip(names, c), **extra) for c in sorted(found, key=rank)] or [extra]


def form_one(row):
    """The cases of a row's `inputs` x `shapes` x `attrs`."""
    cases = []
    for attrs in row.attrs:
        for shapes in row.shapes:
            per_input = shapes if shapes and isinstance(shapes[0], (tuple, list)) else [shapes] * len(row.inputs)
            inputs = [g if g.shape is not None else g.of(*s) for g, s in zip(row.inputs, per_input)]
            cases.append(table.C(*inputs, **attrs))
    return cases


def edge_case(row, attrs):
    """A case of vectors with all combinations of the inputs' edges; None if no input has edges."""
    if not any(isinstance(g, table.Gen) and g.edge_values for g in row.inputs):
        return None
    columns = [g.edge_values or (None,) for g in row.inputs]
    combinations = list(itertools.product(*columns))
    inputs = []
    for i, gen in enumerate(row.inputs):
        if not gen.edge_values:
            inputs.append(gen.of(len(combinations)))
            continue
        column = [c[i] for c in combinations]
        inputs.append(dataclasses.replace(
            gen, make=lambda random, shape, dtype, column=column: edge_array(column, dtype), shape=(len(column),)))
    return table.C(*inputs, **attrs)


def edge_array(column, dtype):
    if dtype in table.INTS or dtype == "bool":
        low, high = table.integer_range(dtype) if dtype != "bool" else (0, 1)
        return numpy.array([0 if v != v else int(min(max(v, low), high)) for v in column], numpy.int64)
    return numpy.array(column)


def variants(first_types, first_case):
    found = ["known"]
    if first_types:
        found.append("unknown")
    if first_types and first_case:
        found.append("const")
    return found


def seed(row, *parts):
    return zlib.crc32(repr((row.op, row.name) + parts).encode())


def build_case(row, spec, case_id, prefix, types, variant, index):
    builder = program.Builder(prefix, types, variant, numpy.random.default_rng(seed(row, index, sorted(types.items()))))
    node = builder.op(row.op, *spec.inputs, name="op", **spec.attrs)
    return builder, node


def describe(types, spec, variant):
    shapes = " ".join(describe_input(i) for i in spec.inputs)
    attrs = " ".join("%s=%s" % item for item in spec.attrs.items())
    return "%s (%s) %s %s" % (",".join(types.values()), shapes, attrs, variant)


def describe_input(value):
    if isinstance(value, table.Gen):
        return str(list(value.shape) if value.shape is not None else "?").replace(" ", "")
    if isinstance(value, (list, tuple)) and any(isinstance(v, table.Gen) for v in value):
        return "{%s}" % " ".join(describe_input(v) for v in value)
    return repr(value.tolist() if isinstance(value, numpy.ndarray) else value)[:40].replace(" ", "")


def expand(row):
    """All cases of a row, built."""
    cases = []
    if row.build is not None:
        for i, types in enumerate(type_combinations(row, None)):
            for variant in ("known", "unknown") if i == 0 else ("known",):
                builder = program.Builder("c%d/" % len(cases), types, variant,
                                          numpy.random.default_rng(seed(row, sorted(types.items()))))
                row.build(builder)
                cases.append(Case("%s program %s" % (",".join(types.values()), variant), builder, row, None))
    specs = [(s, False, False) for s in form_one(row) + list(row.cases)]
    specs += [(e, True, False) for e in (edge_case(row, a) for a in row.attrs) if e is not None]
    specs += [(s, False, True) for s in row.errors]
    seen_first = False
    for index, (spec, is_edges, is_error) in enumerate(specs):
        combinations = type_combinations(row, spec)
        if is_error and spec.types is None:
            combinations = combinations[:1]
        for t, types in enumerate(combinations):
            chosen = spec.variants or (("known", "unknown") if is_error else variants(t == 0, not seen_first))
            seen_first = seen_first or not is_error
            for variant in chosen:
                builder, node = build_case(row, spec, None, "c%d/" % len(cases), types, variant, index)
                kind = "error " if is_error else "edges " if is_edges else ""
                case = Case(kind + describe(types, spec, variant), builder, row, spec, node, is_error, is_edges)
                if not is_error:
                    add_runs(case, types)
                else:
                    builder.run([node], [] if len(node) else [node], error=True, says=spec.says, code=spec.code)
                cases.append(case)
    return cases


CARRIES_GRADIENT = table.ALL_FLOATS + table.COMPLEX


def add_runs(case, types):
    builder, node = case.builder, case.op_node
    builder.run([node], [] if len(node) else [node])
    wanted = case.option("grad")
    if wanted is False:
        return
    ys = [t for t in node.outputs if t.dtype in CARRIES_GRADIENT]
    xs = [t for t in builder.differentiated if t.dtype in CARRIES_GRADIENT]
    if ys and xs:
        numeric = wanted in (None, "numeric") and not case.is_edges and builder.variant == "known"
        builder.gradients_wanted.append(program.Gradient(ys, xs, [], numeric, wanted != "numeric"))
