"""Optionals."""

import tensorflow

from tests.oracle.datasets import *
from tests.oracle.table import *

raw = tensorflow.raw_ops


def value(b, optional, types, shapes=None):
    return b.op("OptionalGetValue", optional, output_types=types, output_shapes=shapes or [None] * len(types))


def optionals(b):
    one = b.op("OptionalFromValue", [b.input(rand(2, 3), "float"), b.input(rand(), "string")])
    none = b.op("OptionalNone")
    b.run(fetches=[b.op("OptionalHasValue", one), b.op("OptionalHasValue", none)])
    b.run(fetches=value(b, one, ["float", "string"]))
    b.run(fetches=value(b, one, ["float", "string"], [[2, None], []]))
    b.run(fetches=value(b, none, ["float"]), error=True, says="The given optional does not have a value.")
    b.run(fetches=value(b, one, ["float", "int32"]), error=True, says="does not match the expected type for component 1")
    b.run(fetches=value(b, one, ["float", "string"], [[3, 3], []]), error=True, says="does not match the expected shape for component 0")
    other = b.op("TensorDataset", [values(1.0, "float")], output_shapes=[[]])
    b.run(fetches=[b.op("OptionalHasValue", other)], error=True, says="Input to OptionalHasValue must be an OptionalVariant object.")
    b.run(fetches=value(b, other, ["float"]), error=True, says="must be an OptionalVariant object.")
    b.run(fetches=[b.op("OptionalHasValue", b.op("Pack", [one, none]))], error=True, says="must be a scalar|must be rank 0|Shape must be")


def differentiated(b):
    x, y = b.input(rand(2, 3), "double"), b.input(rand(4), "double")
    optional = b.op("OptionalFromValue", [x, y])
    once = value(b, optional, ["double", "double"], [[2, 3], [4]])
    twice = value(b, optional, ["double", "double"], [[2, 3], [4]])
    product = b.op("Mul", once[0], b.op("Sum", twice[1], values([0], "int32")))
    b.run(fetches=[product])
    b.gradients([product], [x, y])


@program
def next_as_optional(p):
    b = p.b
    spec = dict(output_types=["int64", "string"], output_shapes=[[], []])
    pairs = p.map(p.numbers(2), lambda i: (i, tensorflow.strings.as_string(i)), types=["int64", "string"], shapes=[[], []])
    iterator = b.op("IteratorV2", shared_name=b.name("it"), container="", **spec)
    get = b.op("IteratorGetNextAsOptional", iterator, **spec)
    has = b.op("OptionalHasValue", get)
    b.run(fetches=[has], error=True, says="has not been initialized")
    b.run(targets=[b.op("MakeIterator", pairs, iterator)])
    for _ in range(2):
        b.run(fetches=[has, *value(b, get, ["int64", "string"], [[], []]).outputs])
    for _ in range(2):
        b.run(fetches=[has])


@program
def next_errors(p):
    """An error is an error, and no end."""
    b = p.b
    spec = dict(output_types=["int64"], output_shapes=[[]])
    iterator = b.op("IteratorV2", shared_name=b.name("it"), container="", **spec)
    has = b.op("OptionalHasValue", b.op("IteratorGetNextAsOptional", iterator, **spec))
    b.run(targets=[b.op("MakeIterator", p.map(p.numbers(3), lambda i: 6 // (i - 1)), iterator)])
    b.run(fetches=[has])
    b.run(fetches=[has], error=True, says="Integer division by zero")
    b.run(fetches=[has])
    b.run(fetches=[has])


@program
def of_datasets(p):
    """Optionals as elements."""
    made = p.map(p.numbers(3), lambda i: raw.OptionalFromValue(components=[i, i * i]), types=["variant"], shapes=[[]])
    p.read(p.map(made, lambda o: raw.OptionalGetValue(optional=o, output_types=["int64"] * 2, output_shapes=[[], []]), types=["int64"] * 2, shapes=[[], []]), 3)


def row(op, build, name=""):
    return Row(op, build=build, types=[{}], name=name)


ROWS = [row(op, optionals) for op in ("OptionalFromValue", "OptionalGetValue", "OptionalHasValue", "OptionalNone")]
ROWS += [row("OptionalGetValue", differentiated, "gradient"), row("IteratorGetNextAsOptional", next_as_optional), row("IteratorGetNextAsOptional", next_errors, "errors"), row("OptionalFromValue", of_datasets, "datasets")]
