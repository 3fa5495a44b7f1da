"""The form of oracle rows: the inputs of an op, and the compared results.

A row is expanded to many cases (types x shapes x attributes x static shapes), as README.md
describes. This module imports neither TensorFlow nor the harness.
"""

import dataclasses
import math
import multiprocessing
from typing import Any, Callable, Optional, Sequence

import numpy

inf, nan = math.inf, math.nan

# Names of dtypes are TensorFlow's, in lower case and without `dt_`.
HALFS = ("half", "bfloat16")
FLOATS = ("float", "double")
ALL_FLOATS = FLOATS + HALFS
COMPLEX = ("complex64", "complex128")
SIGNED = ("int32", "int64", "int8", "int16")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTS = SIGNED + UNSIGNED
INDEX = ("int32", "int64")
REALS = ALL_FLOATS + INTS
NUMBERS = REALS + COMPLEX
PLAIN = NUMBERS + ("bool",)
ALL = PLAIN + ("string",)

# Shapes for `Row.shapes`: one entry per case, either one shape for all inputs or a list with one
# shape per input.
ELEMENTWISE = ((), (5,), (2, 3), (0,), (2, 0, 3), (3, 1, 2, 2))
BROADCAST = (
    ((2, 3), (2, 3)), ((), ()), ((2, 3), (3,)), ((3,), (2, 3)), ((2, 1), (1, 3)), ((), (2, 2)), ((4,), ()),
    ((2, 1, 3), (4, 1)), ((0,), (1,)), ((2, 0), (2, 0)), ((1, 2, 1, 2), (3, 1, 2, 1)), ((3, 1, 0), (2, 1)))


@dataclasses.dataclass(frozen=True)
class Gen:
    """Values of one input. Chain the methods: each returns a changed copy."""
    make: Callable[[numpy.random.Generator, tuple, str], Any]  # (random, shape, dtype name) -> array or list
    shape: Optional[tuple] = None
    dtype: Optional[str] = None
    is_const: bool = False
    edge_values: tuple = ()
    is_differentiated: bool = True

    def of(self, *shape):
        """Uses this shape, whatever the shapes of the row are."""
        return dataclasses.replace(self, shape=shape)

    def typed(self, dtype):
        """Uses this dtype. Required if the op's definition leaves it open (inputs of mixed lists).
        """
        return dataclasses.replace(self, dtype=dtype)

    def const(self):
        """Uses a Const node, except in the variant without static shapes."""
        return dataclasses.replace(self, is_const=True)

    def edges(self, *values):
        """Adds these values: one more case, in which every input is a vector over all combinations
        of edges."""
        return dataclasses.replace(self, edge_values=values)

    def no_gradient(self):
        """Requests no gradient with respect to this input."""
        return dataclasses.replace(self, is_differentiated=False)


def uniform(lo=-2, hi=2):
    """Uniform in [lo, hi]: real and imaginary part for complex types, integers in the type's range
    for ints."""

    def make(random, shape, dtype):
        if dtype == "bool":
            return random.integers(0, 2, shape).astype(bool)
        if dtype == "string":
            return random.choice(numpy.array([b"", b"a", b"bc", b"d\x00e", "\u00fc".encode()], object), shape)
        if dtype in COMPLEX:
            return random.uniform(lo, hi, shape) + 1j * random.uniform(lo, hi, shape)
        if dtype in INTS or dtype.startswith(("qint", "quint")):
            low, high = integer_range(dtype)
            return random.integers(max(math.ceil(lo), low), min(math.floor(hi), high), shape, dtype=numpy.int64,
                                   endpoint=True)
        return random.uniform(lo, hi, shape)

    return Gen(make)


def integer_range(dtype):
    """Smallest and largest value of an integer type, both within int64."""
    info = numpy.iinfo(dtype.removeprefix("q"))
    return int(info.min), min(int(info.max), 2**63 - 1)


def ints(lo, hi):
    """Integers in [lo, hi), of the input's type (indices, sizes)."""
    return Gen(lambda random, shape, dtype: random.integers(lo, hi, shape))


def away_from_zero(lo=0.3, hi=2):
    """Both signs, magnitude in [lo, hi] (at least 1 for ints): divisors."""

    def make(random, shape, dtype):
        low, high = (1, max(1, math.floor(hi))) if dtype in INTS else (lo, hi)
        sign = random.choice([1, -1], shape) if dtype not in UNSIGNED else numpy.ones(shape, int)
        magnitude = uniform(low, high).make(random, shape, "int64" if dtype in INTS else "double")
        if dtype in COMPLEX:
            return sign * magnitude + 1j * random.uniform(lo, hi, shape)
        return sign * magnitude

    return Gen(make)


def distinct(step=0.25):
    """No two elements closer than `step`, in random order: maxima, sorting."""

    def make(random, shape, dtype):
        order = random.permutation(int(numpy.prod(shape))).reshape(shape)
        if dtype in UNSIGNED or dtype == "bool":
            return order
        order = order - int(numpy.prod(shape)) // 2
        return order if dtype in INTS else order * step + 0.1

    return Gen(make)


def strings(*choices):
    """Random choices of these strings."""
    choices = [c.encode() if isinstance(c, str) else c for c in choices]
    return Gen(lambda random, shape, dtype: random.choice(numpy.array(choices, object), shape)).typed("string")


def values(data, dtype=None):
    """Exactly these values, fed. (A plain list or number in a case is a Const.)"""
    array = numpy.array(data, object) if dtype == "string" else numpy.asarray(data)
    return Gen(lambda random, shape, d: array, shape=array.shape, dtype=dtype)


def in_child(make):
    """Returns `make()`, computed by another process: for data from TensorFlow, which must not start
    its threads here."""
    fork = multiprocessing.get_context("fork")
    for _ in range(4):
        ours, theirs = fork.Pipe(False)
        process = fork.Process(target=lambda: theirs.send(make()))
        process.start()
        if ours.poll(30):
            made = ours.recv()
            process.join()
            return made
        process.kill()  # a lock was held during its fork
    raise TimeoutError("nothing came from another process")


def of_all(compare):
    """Marks a comparison that includes everything: of messages, or of elements in any order."""
    compare.is_of_all = True
    return compare


def rand(*shape):
    """uniform() of this shape."""
    return uniform().of(*shape)


class C:
    """One case: the op's inputs in order and its attributes.

    An input is a Gen with a shape; a list, number or array (a Const of these values); or a Python
    list of Gens for an argument that is a list of tensors (`[rand(2), rand(3)]`, with constants as
    `values(…)`). Keywords are attributes, without those that follow from the inputs (T, N, …).
    Types are names. Shapes are lists with -1 for unknown sizes, or None for unknown rank. Tensors
    are numpy arrays.
    """

    def __init__(self, *inputs, says=None, code=None, variants=None, grad=None, tol=None, types=None, **attrs):
        self.inputs = inputs
        self.attrs = attrs
        self.says = says          # errors: a regular expression that our message matches
        self.code = code          # errors: our code, if it differs from TensorFlow's on purpose ("INVALID_ARGUMENT")
        self.variants = variants  # a subset of known, unknown, const; None: the rule of README.md
        self.grad = grad          # like Row.grad
        self.tol = tol            # like Row.tol
        self.types = types        # like Row.types


@dataclasses.dataclass
class Row:
    """All checks of one op. Several rows may have the same op."""
    op: str
    # Form 1: one Gen per input, and shapes. Every element of `shapes` x `attrs` is a case.
    inputs: Sequence[Gen] = ()
    shapes: Sequence = ()
    attrs: Sequence[dict] = ({},)
    # Form 2: a list of cases. A row may have both forms.
    cases: Sequence[C] = ()
    # Form 3: a program for stateful ops. Called with program.Builder, once for each combination of
    # types.
    build: Optional[Callable] = None
    # Type attributes: {"T": FLOATS, "Tidx": INDEX} (all combinations) or a list of combinations.
    # Other attributes take all types for which TensorFlow has CPU kernels (without quantized ones).
    types: Any = None
    # Invalid inputs. TensorFlow must reject them when it builds or runs the graph, and we with the
    # same code.
    errors: Sequence[C] = ()
    # None: compares TensorFlow's gradient and the numeric one, if TensorFlow has a gradient and the
    # types are floating or complex. "tf": no numeric check. "numeric": no comparison with
    # TensorFlow's gradient, which is wrong. False: no check.
    grad: Any = None
    # Relative tolerance: a number for all types or {"float": 1e-4, …}. None: TOLERANCES. 0: equal
    # bits.
    tol: Any = None
    grad_tol: Any = None
    numeric_tol: Optional[float] = None
    # "values"; "shapes" if values are arbitrary (Empty) or differ by design; or a function (ours,
    # theirs) of two numpy arrays that returns a complaint or None.
    compare: Any = "values"
    # Whether our static shapes must be at least as precise as TensorFlow's. If False, say why in a
    # comment.
    static_shapes: bool = True
    # The version of the graph, for an op that a newer version removed.
    producer: Optional[int] = None
    name: str = ""  # distinguishes rows of one op in reports

    @property
    def id(self):
        return self.op + ("/" + self.name if self.name else "")


# Relative, and absolute if |value| < 1. The tolerance of gradients is four times this.
TOLERANCES = {
    "float": 1e-5, "double": 1e-11, "half": 2e-3, "bfloat16": 1.6e-2, "complex64": 1e-5, "complex128": 1e-11,
}
