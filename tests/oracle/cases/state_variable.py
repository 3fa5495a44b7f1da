"""Variables, by reference and by handle: creation, assignment, reads, counting, destruction."""

from tests.oracle.table import *

FLOAT = {"T": ("float",)}


def ref_variable(b, dtype, shape=(2, 3), name="v", op="VariableV2"):
    return b.op(op, shape=list(shape), dtype=dtype, shared_name=b.name(name), name=name)


def variable(b, dtype, shape=(2, 3), name="r"):
    """(handle, its initialisation)"""
    handle = b.op("VarHandleOp", shape=list(shape) if shape is not None else None, dtype=dtype,
                  shared_name=b.name(name), name=name)
    return handle, b.op("AssignVariableOp", handle, b.input(rand(*((2,) if shape is None else shape)), dtype))


def make(op):

    def build(b):
        dtype = b.types["dtype"]
        v = ref_variable(b, dtype, op=op)
        w = b.op(op, shape=[2, 3], dtype=dtype, shared_name=b.name("v"))  # the same one
        b.run(fetches=[b.op("IsVariableInitialized", v)])
        b.run(fetches=[b.op("Identity", v)], error=True, says="Attempting to use uninitialized value")
        b.run(fetches=[b.op("Assign", v, b.input(rand(2, 3), dtype))])
        b.run(fetches=[b.op("Identity", w), b.op("IsVariableInitialized", w)])

    return build


def make_errors(b):
    b.run(fetches=[b.op("VariableV2", shape=[1], dtype="float", shared_name="_x")], error=True,
          says="shared_name cannot start with '_':_x")
    b.run(fetches=[b.op("VariableV2", shape=[1], dtype="float", container="a b")], error=True,
          says="container contains invalid characters: a b")
    b.run(fetches=[b.op("VariableV2", shape=[-1], dtype="float", shared_name=b.name("q"))], error=True,
          says="Shape \\[\\?\\] is not fully defined")


def unknown_shape(op):
    """A variable with the shape of its value. Until it has one, it counts as a scalar."""

    def build(b):
        v = b.op(op, shape=None, dtype="float", shared_name=b.name("v"))
        read, known = b.op("Identity", v), b.op("IsVariableInitialized", v)
        scalar, row = b.hidden(rand().typed("float")), b.hidden(rand(3).typed("float"))
        b.run(fetches=[known])
        b.run(fetches=[read], error=True, says="Attempting to use uninitialized value")
        b.run(fetches=[b.op("Assign", v, row)], error=True, says="lhs shape= \\[\\] rhs shape= \\[3\\]")
        b.run(fetches=[b.op("Assign", v, scalar)])
        b.run(fetches=[b.op("Assign", v, b.hidden(rand(2, 3).typed("float")), validate_shape=False)])
        b.run(fetches=[read, known, b.op("Shape", v)])
        b.run(fetches=[b.op("Assign", v, row, validate_shape=False)])
        b.run(fetches=[b.op("AssignAdd", v, row)])
        b.run(fetches=[b.op("ScatterAdd", v, [0, 2], b.hidden(rand(2).typed("float")))])
        b.run(fetches=[b.op("AssignAdd", v, scalar)], error=True, says="must be the same size")
        b.run(fetches=[b.op("Assign", v, scalar)], error=True, says="lhs shape= \\[3\\] rhs shape= \\[\\]")
        b.run(fetches=[read])

    return build


def unknown_update(b):
    """An optimizer's rule on variables and slots of unknown shape."""
    made = [b.op("VariableV2", shape=None, dtype="float", shared_name=b.name("v%d" % i)) for i in range(2)]
    for shape in ((2,), (2, 3)):
        b.run(targets=[b.op("Assign", v, b.hidden(uniform(1, 2).of(*shape).typed("float")), validate_shape=False) for v in made])
        b.run(fetches=[b.op("ApplyAdagrad", *made, 0.5, b.hidden(rand(*shape).typed("float")))])
        b.run(fetches=[b.op("Identity", v) for v in made])


def assign(b):
    dtype = b.types["T"]
    v = ref_variable(b, dtype)
    first = b.op("Assign", v, b.input(rand(2, 3)))
    longer = b.op("Assign", v, b.input(rand(4)), validate_shape=False)
    b.run(fetches=[first])
    b.run(fetches=[b.op("Assign", v, b.op("Identity", v), use_locking=False)])
    b.run(fetches=[b.op("Identity", longer)])
    b.run(fetches=[b.op("Shape", v)])


def assign_errors(b):
    v = ref_variable(b, "float")
    b.run(fetches=[b.op("Assign", v, b.hidden(rand(3)))], error=True,
          says="Assign requires shapes of both tensors to match. lhs shape= \\[2,3\\] rhs shape= \\[3\\]")
    b.run(fetches=[b.op("AssignAdd", v, b.hidden(rand(2, 3)))], error=True, says="Attempting to use uninitialized value")
    init = b.op("Assign", v, b.input(rand(2, 3), "float"))
    b.run(fetches=[init])
    b.run(fetches=[b.op("AssignAdd", v, b.hidden(rand(3, 2)))], error=True,
          says="Parameters and update must be the same size")
    b.run(fetches=[b.op("AssignSub", v, b.hidden(rand()))], error=True,
          says="Parameters and update must be the same size")


def update(op):

    def build(b):
        v = ref_variable(b, b.types["T"])
        init = b.op("Assign", v, b.input(rand(2, 3)))
        add = b.op(op, v, b.input(rand(2, 3)))
        locked = b.op(op, add, b.input(rand(2, 3)), use_locking=True)
        b.run(targets=[init])
        b.run(fetches=[b.op("Identity", locked)])
        b.run(fetches=[b.op("Identity", v)])

    return build


def count_up_to(b):
    v = ref_variable(b, b.types["T"], ())
    init = b.op("Assign", v, 1)
    count = b.op("CountUpTo", v, limit=3)
    b.run(targets=[init])
    b.run(fetches=[count])
    b.run(fetches=[count])
    b.run(fetches=[count], error=True, says="Reached limit of 3")
    b.run(fetches=[b.op("Identity", v)])


def temporary(b):
    dtype = b.types["dtype"] if "dtype" in b.types else b.types["T"]
    t = b.op("TemporaryVariable", shape=[2], dtype=dtype, var_name="t")
    first = b.op("Assign", t, b.input(rand(2), dtype), T=dtype)
    second = b.op("Assign", first, b.input(rand(2), dtype), T=dtype)
    b.run(fetches=[b.op("DestroyTemporaryVariable", second, var_name="t", T=dtype)])


def temporary_shapes(b):
    for i, shape in enumerate(((), (2, 3))):
        t = b.op("TemporaryVariable", shape=None, dtype="float", var_name="t%d" % i)
        filled = b.op("Assign", t, b.hidden(rand(*shape).typed("float")), validate_shape=False)
        b.run(fetches=[b.op("DestroyTemporaryVariable", filled, var_name="t%d" % i)])
    t = b.op("TemporaryVariable", shape=[-1], dtype="float", var_name="t")
    b.run(fetches=[b.op("DestroyTemporaryVariable", t, var_name="t")], error=True, says="Shape \\[\\?\\] is not fully defined")


def temporary_errors(b):
    t = b.op("TemporaryVariable", shape=[2], dtype="float", var_name="t")
    first = b.op("Assign", t, b.input(rand(2), "float"))
    b.run(fetches=[b.op("DestroyTemporaryVariable", first, var_name="other")], error=True,
          says="other/frame:0/iter:0/N10tensorflow19TemporaryVariableOp6TmpVarE does not exist")
    again = b.op("TemporaryVariable", shape=[2], dtype="float", var_name="t")
    b.run(fetches=[first, b.op("Assign", again, b.input(rand(2), "float"))], error=True,
          says="TmpVarE")


# --- by handle


def handle(b):
    dtype = b.types["dtype"]
    r, init = variable(b, dtype)
    read = b.op("ReadVariableOp", r, dtype=dtype)
    b.run(fetches=[b.op("VarIsInitializedOp", r)])
    b.run(fetches=[read], error=True, says="Could not find variable .* does not exist")
    b.run(targets=[init])
    b.run(fetches=[read, b.op("VarIsInitializedOp", r), b.op("VariableShape", r)])
    b.run(targets=[b.op("DestroyResourceOp", r)])
    b.run(fetches=[b.op("VarIsInitializedOp", r)])
    b.run(fetches=[read], error=True, says="Could not find variable .* does not exist")


def handle_update(op):

    def build(b):
        dtype = b.types["dtype"]
        r, init = variable(b, dtype)
        add = b.op(op, r, b.input(rand(2, 3), dtype))
        before = b.op("ReadVariableOp", r, dtype=dtype)
        b.run(targets=[init])
        b.run(fetches=[b.op("ReadVariableOp", r, dtype=dtype, control=[add])])
        b.run(fetches=[before])

    return build


def handle_reads(b):
    """A value that was read before an update does not change."""
    r, init = variable(b, "float")
    before = b.op("ReadVariableOp", r, dtype="float")
    add = b.op("AssignAddVariableOp", r, b.input(rand(2, 3), "float"), control=[before])
    after = b.op("ReadVariableOp", r, dtype="float", control=[add])
    b.run(targets=[init])
    b.run(fetches=[before, after])
    b.gradients([before], [r])


def handle_errors(b):
    r, init = variable(b, "float", None)
    missing = "does not exist"
    add = b.op("AssignAddVariableOp", r, b.hidden(rand(3).typed("float")))
    sub = b.op("AssignSubVariableOp", r, b.hidden(rand(3).typed("float")))
    checked = b.op("AssignVariableOp", r, b.hidden(rand(3).typed("float")), validate_shape=True)
    b.run(targets=[add], error=True, says=missing)
    b.run(fetches=[b.op("VariableShape", r)], error=True, says=missing)
    b.run(targets=[b.op("DestroyResourceOp", r, ignore_lookup_error=False)], error=True, says=missing)
    b.run(targets=[init])
    for op in (add, sub):
        b.run(targets=[op], error=True,
              says="Cannot update variable with shape \\[2\\] using a Tensor with shape \\[3\\], shapes must be equal.")
    b.run(targets=[checked], error=True,
          says="Trying to assign to variable with tensor with wrong shape. Expected \\[2\\] got \\[3\\]")


def handle_count(b):
    dtype = b.types["T"]
    r, _ = variable(b, dtype, ())
    init = b.op("AssignVariableOp", r, b.input(values(1), dtype))
    count = b.op("ResourceCountUpTo", r, limit=3, T=dtype)
    b.run(fetches=[count], error=True, says="does not exist")
    b.run(targets=[init])
    b.run(fetches=[count])
    b.run(fetches=[count])
    b.run(fetches=[count], error=True, says="Reached limit of 3")


def shape_of(b):
    r, init = variable(b, "float")
    b.run(targets=[init])
    b.run(fetches=[b.op("VariableShape", r, out_type=b.types["out_type"])])


ROWS = [
    Row("VariableV2", build=make("VariableV2"), types={"dtype": ALL}),
    Row("Variable", build=make("Variable"), types={"dtype": ALL}),
    Row("VariableV2", build=make_errors, types={"dtype": ("float",)}, name="errors"),
    Row("VariableV2", build=unknown_shape("VariableV2"), types=[{}], name="unknown shape"),
    Row("Variable", build=unknown_shape("Variable"), types=[{}], name="unknown shape"),
    Row("VariableV2", build=unknown_update, types=[{}], name="update of unknown shape"),
    Row("Assign", build=assign),
    Row("Assign", build=assign_errors, types=FLOAT, name="errors"),
    Row("AssignAdd", build=update("AssignAdd")),
    Row("AssignSub", build=update("AssignSub")),
    Row("IsVariableInitialized", build=make("VariableV2"), types={"dtype": ALL}),
    Row("CountUpTo", build=count_up_to),
    Row("TemporaryVariable", build=temporary, types={"dtype": ALL}),
    Row("TemporaryVariable", build=temporary_shapes, types=[{}], name="shapes"),
    Row("TemporaryVariable", build=temporary_errors, types={"dtype": ("float",)}, name="errors"),
    Row("DestroyTemporaryVariable", build=temporary, types=[{"T": t, "dtype": t} for t in ALL]),
    Row("VarHandleOp", build=handle, types={"dtype": ALL}),
    Row("ReadVariableOp", build=handle_reads, types={"dtype": ("float",)}),
    Row("ReadVariableOp", build=handle_errors, types={"dtype": ("float",)}, name="errors"),
    Row("AssignVariableOp", build=handle, types={"dtype": ALL}),
    Row("AssignAddVariableOp", build=handle_update("AssignAddVariableOp")),
    Row("AssignSubVariableOp", build=handle_update("AssignSubVariableOp")),
    Row("VarIsInitializedOp", build=handle, types=[{"dtype": t} for t in ALL]),
    Row("VariableShape", build=shape_of),
    Row("DestroyResourceOp", build=handle, types=[{"dtype": t} for t in ALL]),
    Row("ResourceCountUpTo", build=handle_count),
]
