"""Updates and reads of parts of variables."""

from tests.oracle.table import *


def is_resource(op):
    return op.startswith("Resource")


def type_attr(op):
    return "dtype" if is_resource(op) and "Nd" not in op else "T"


def make(b, op, dtype, value):
    """(handle or reference, initialisation)"""
    if is_resource(op):
        v = b.op("VarHandleOp", shape=list(value.shape), dtype=dtype, shared_name=b.name("v"))
        return v, b.op("AssignVariableOp", v, b.input(value, dtype))
    v = b.op("VariableV2", shape=list(value.shape), dtype=dtype, shared_name=b.name("v"))
    return v, b.op("Assign", v, b.input(value, dtype))


def read(b, op, v, dtype):
    if is_resource(op):
        return b.op("ReadVariableOp", v, dtype=dtype)
    return b.op("Identity", v)


def program(op, update, cases, shape=(4, 3)):
    """Runs each (indices, shape of updates) in turn. Indices may be an array."""

    def build(b):
        dtype, index = b.types[type_attr(op)], b.types["Tindices"]
        v, init = make(b, op, dtype, uniform(-3, 3).of(*shape))
        after = read(b, op, v, dtype)
        b.run(targets=[init])
        for indices, updates in cases:
            step = b.op(op, v, b.input(values(numpy.array(indices)), index), b.input(update.of(*updates), dtype))
            b.run(targets=[step])
            b.run(fetches=[after])

    return build


def errors(op, cases, shape):
    """Each (indices, shape of updates, message) must be refused, by the step at the latest."""

    def build(b):
        dtype, index = b.types[type_attr(op)], b.types["Tindices"]
        value = rand(*shape)
        if is_resource(op):
            v = b.op("VarHandleOp", shape=None, dtype=dtype, shared_name=b.name("v"))
            init = b.op("AssignVariableOp", v, b.input(value, dtype))
        else:
            v = b.op("VariableV2", shape=list(shape), dtype=dtype, shared_name=b.name("v"))
            init = b.op("Assign", v, b.input(value, dtype))
        steps = [(b.op(op, v, b.hidden(values(numpy.array(i), index)), b.hidden(rand(*u).typed(dtype))), says)
                 for i, u, says in cases]
        b.run(targets=[init])
        for step, says in steps:
            b.run(targets=[step], error=True, says=says)

    return build


ROW_CASES = [([2, 0], (2, 3)), (1, (3,)), ([[0, 3], [3, 1]], (2, 2, 3)), ([1, 1, 2], (3, 3)), ([0, 2], ()), ([], (0, 3))]
ROW_ERRORS = [
    ([0, 4], (2, 3), "indices\\[1\\] = 4 is not in \\[0, 4\\)"),
    ([[0, 1], [0, -2]], (2, 2, 3), "indices\\[1,1\\] = -2 is not in \\[0, 4\\)"),
    ([0, 1], (1, 3), "(updates.shape|shape of updates)"),
    ([0, 1], (2, 2), "updates.shape"),
]
ND_CASES = [([[2], [0]], (2, 3)), ([[1, 2], [0, 0], [1, 2]], (3,)), ([[[0], [3]]], (1, 2, 3)),
            (numpy.zeros((0, 2), int), (0,))]
ND_ERRORS = [
    ([[0], [4]], (2, 3), "indices\\[1\\] = \\[4\\] does not index into shape \\[4,3\\]"),
    ([[0, 0], [0, -1]], (2,), "indices\\[1\\] = \\[0, -1\\] does not index into shape \\[4,3\\]"),
    ([[0], [1]], (3, 3), "Dimensions \\[0,1\\) of indices\\[shape=\\[2,1\\]\\] = 2 must match"),
    ([[0], [1]], (2, 2), "Dimensions \\[1,2\\) of input\\[shape=\\[4,3\\]\\] must match"),
    ([[0], [1]], (2,), "Dimensions \\[1,2\\) of input"),
    ([[0, 0, 0]], (1,), "Dimensions \\[3,2\\) of input"),
]
FIRST = {"Tindices": ("int32",)}


def scatter(op, update=uniform(-3, 3), types=None):
    float_only = {type_attr(op): ("float",), **FIRST}
    return [Row(op, build=program(op, update, ROW_CASES), types=types),
            # For handles, TensorFlow accepts rows that are too short and updates memory after them.
            Row(op, build=errors(op, ROW_ERRORS[:3] if is_resource(op) else ROW_ERRORS, (4, 3)), types=float_only,
                name="errors")]


def scatter_nd(op, types=None):
    float_only = {"T": ("float",), **FIRST}
    return [Row(op, build=program(op, uniform(-3, 3), ND_CASES), types=types),
            Row(op, build=errors(op, ND_ERRORS, (4, 3)), types=float_only, name="errors")]


def gather(b):
    dtype, index = b.types["dtype"], b.types["Tindices"]
    v, init = make(b, "Resource", dtype, rand(4, 3))
    b.run(targets=[init])
    fetches = [b.op("ResourceGather", v, b.input(values(numpy.array(i)), index), dtype=dtype)
               for i in (1, [2, 0, 2], [[0, 3], [3, 1]], [])]
    b.run(fetches=fetches)
    if dtype in ("double", "complex128"):
        b.gradients(fetches[1:2], [v])


def gather_batch(b):
    v, init = make(b, "Resource", "float", rand(2, 4, 3))
    b.run(targets=[init])
    b.run(fetches=[b.op("ResourceGather", v, b.input(values(numpy.array(i)), "int32"), dtype="float", batch_dims=k)
                   for i, k in (([[1, 2], [3, 0]], 1), ([1, 2], 1), ([[1, 2, 0, 0], [2, 1, 0, 1]], 2))])


def gather_errors(b):
    v = b.op("VarHandleOp", shape=None, dtype="float", shared_name=b.name("v"))
    oob = b.op("ResourceGather", v, b.hidden(values([[0, 4]], "int32")), dtype="float")
    nd = b.op("ResourceGatherNd", v, b.hidden(values([[0, 3]], "int32")), dtype="float")
    deep = b.op("ResourceGatherNd", v, b.hidden(values([[0, 0, 0]], "int32")), dtype="float")
    b.run(fetches=[oob], error=True, says="does not exist")
    b.run(targets=[b.op("AssignVariableOp", v, b.input(rand(4, 3), "float"))])
    b.run(fetches=[oob], error=True, says="indices\\[0,1\\] = 4 is not in \\[0, 4\\)")
    b.run(fetches=[nd], error=True, says="indices\\[0\\] = \\[0, 3\\] does not index into param shape \\[4,3\\]")
    b.run(fetches=[deep], error=True, says="saw: 3 vs. 2")


def gather_nd(b):
    dtype, index = b.types["dtype"], b.types["Tindices"]
    v, init = make(b, "Resource", dtype, rand(4, 3))
    b.run(targets=[init])
    fetches = [b.op("ResourceGatherNd", v, b.input(values(numpy.array(i)), index), dtype=dtype)
               for i in ([[2], [0]], [[1, 2], [0, 0], [1, 2]], [[[0], [3]]], [1, 1])]
    b.run(fetches=fetches)
    if dtype in ("double", "complex128"):
        b.gradients(fetches[:2], [v])


ROWS = []
for prefix in ("Scatter", "ResourceScatter"):
    for name in ("Add", "Sub", "Mul", "Min", "Max", "Update"):
        ROWS += scatter(prefix + name)
    ROWS += scatter(prefix + "Div", away_from_zero())
for prefix in ("ScatterNd", "ResourceScatterNd"):
    for name in ("Add", "Sub", "Min", "Max", "Update"):
        ROWS += scatter_nd(prefix + name)
ROWS += [
    Row("ResourceGather", build=gather),
    Row("ResourceGather", build=gather_batch, types={"dtype": ("float",), **FIRST}, name="batch"),
    Row("ResourceGather", build=gather_errors, types={"dtype": ("float",), **FIRST}, name="errors"),
    Row("ResourceGatherNd", build=gather_nd),
]
