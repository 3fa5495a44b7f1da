"""References that are handed on, slices of variables, several variables at once, critical sections."""

from tests.oracle.table import *

FLOAT = {"T": ("float",)}
SLICED = [{"T": t, "Index": "int32"} for t in ALL] + [{"T": "float", "Index": "int64"}]
F = [{"T": "float", "Index": "int32"}]


def ref_variable(b, dtype, shape=(2, 3), name="v"):
    """(reference, its initialisation)"""
    v = b.op("VariableV2", shape=list(shape), dtype=dtype, shared_name=b.name(name), name=name)
    return v, b.op("Assign", v, b.input(rand(*shape), dtype), T=dtype)


def variable(b, dtype, shape=(2, 3), name="r"):
    """(handle, its initialisation)"""
    r = b.op("VarHandleOp", shape=list(shape), dtype=dtype, shared_name=b.name(name), name=name)
    return r, b.op("AssignVariableOp", r, b.input(rand(*shape), dtype))


def identity(op):

    def build(b):
        """An assignment through the reference changes the variable."""
        dtype = b.types["T"]
        v, init = ref_variable(b, dtype)
        same = b.op(op, v)
        changed = b.op("Assign", same, b.input(rand(2, 3)))
        y = b.op("Identity", same)
        b.run(fetches=[b.op("IsVariableInitialized", b.op(op, v), dtype=dtype)])
        b.run(fetches=[y], error=True, says="Attempting to use uninitialized value")
        b.run(targets=[init])
        b.run(fetches=[y])
        b.run(targets=[changed])
        b.run(fetches=[b.op("Identity", v)])

    return build


def identity_gradient(op):

    def build(b):
        v, init = ref_variable(b, b.types["T"])
        y = b.op("Square", b.op(op, v))
        b.run(targets=[init])
        b.run(fetches=[y])
        b.gradients([y], [v])

    return build


def select(b):
    """One of three variables is changed."""
    made = [ref_variable(b, b.types["T"], (2,), name) for name in "uvw"]
    which = b.input(values(1, "int32"))
    chosen = b.op("RefSelect", which, [v for v, _ in made])
    changed = b.op("Assign", chosen, b.input(rand(2)), validate_shape=False)
    b.run(targets=[init for _, init in made])
    b.run(fetches=[b.op("Identity", chosen)])
    b.run(fetches=[changed])
    b.run(fetches=[b.op("Identity", v) for v, _ in made])
    b.run(fetches=[b.op("Identity", chosen)], feeds={which: 2})


def select_errors(b):
    (u, first), (v, second) = ref_variable(b, "float", (2,), "u"), ref_variable(b, "float", (3,), "v")
    which = b.hidden(values(0, "int32"))
    chosen = b.op("Identity", b.op("RefSelect", which, [u, v]))
    b.run(targets=[first, second])
    b.run(fetches=[chosen])
    b.run(fetches=[chosen], feeds={which: 2}, error=True, says="[Ii]ndex must be in the range \\[0, 2\\) but got 2")
    b.run(fetches=[chosen], feeds={which: -1}, error=True, says="[Ii]ndex must be in the range \\[0, 2\\) but got -1")
    b.run(fetches=[chosen], feeds={which: [0]}, error=True, says="scalar")


ASSIGNED = [
    ((4, 3), [1, 0], [3, 2], [1, 1], (2, 2), {}), ((4, 3), [3], [0], [-2], (2, 3), {}),
    ((4, 3), [1], [2], [1], (3,), {"shrink_axis_mask": 1}), ((4, 3), [0, 0], [2, 3], [1, 1], (3,), {}),
    ((4, 3), [0, 0], [0, 0], [1, 1], (), {"begin_mask": 3, "end_mask": 3}), ((4, 3), [2], [2], [1], (0, 3), {}),
    ((5,), [-2], [100], [1], (2,), {}), ((2, 3, 2), [0, 1], [0, 2], [1, 1], (2, 3, 1), {"ellipsis_mask": 1})]


def assign_ref(b):
    for k, (shape, begin, end, strides, value, masks) in enumerate(ASSIGNED):
        v, init = ref_variable(b, b.types["T"], shape, "v%d" % k)
        assigned = b.op("StridedSliceAssign", v, begin, end, strides, b.input(rand(*value)), **masks)
        b.run(targets=[init])
        b.run(fetches=[assigned])
        b.run(fetches=[b.op("Identity", v)])


def assign_ref_errors(b):
    v, init = ref_variable(b, "float", (4, 3))
    early = b.op("StridedSliceAssign", v, [0], [1], [1], b.hidden(rand(1, 3)))
    b.run(fetches=[early], error=True, says="ninitialized")
    b.run(targets=[init])
    for shape, begin, strides in (((2, 2), [0], [1]), ((1, 3), [0], [0]), ((5, 1, 3), [0], [1])):
        bad = b.op("StridedSliceAssign", v, begin, [1], strides, b.hidden(rand(*shape)))
        b.run(fetches=[bad], error=True, says="broadcast|strides\\[0\\] must be non-zero")
    b.run(fetches=[b.op("Identity", v)])


def assign_handle(b):
    for k, (shape, begin, end, strides, value, masks) in enumerate(ASSIGNED):
        dtype = b.types["T"]
        r, init = variable(b, dtype, shape, "r%d" % k)
        before = b.op("ReadVariableOp", r, dtype=dtype)
        assigned = b.op("ResourceStridedSliceAssign", r, begin, end, strides, b.input(rand(*value)),
                        control=[before], **masks)
        b.run(targets=[init])
        b.run(fetches=[before, b.op("ReadVariableOp", r, dtype=dtype, control=[assigned])])
        b.run(fetches=[before])


def assign_handle_errors(b):
    r, init = variable(b, "float", (4, 3))
    early = b.op("ResourceStridedSliceAssign", r, [0], [1], [1], b.hidden(rand(1, 3)))
    b.run(targets=[early], error=True, says="")
    b.run(targets=[init])
    for shape, begin, strides in (((2, 2), [0], [1]), ((1, 3), [0], [0]), ((5, 1, 3), [0], [1])):
        bad = b.op("ResourceStridedSliceAssign", r, begin, [1], strides, b.hidden(rand(*shape)))
        b.run(targets=[bad], error=True, says="broadcast|strides\\[0\\] must be non-zero")
    b.run(fetches=[b.op("ReadVariableOp", r, dtype="float")])


def several(b):
    """Two handles of one op, two values by one op; the same variables as by VarHandleOp."""
    names = [b.name("x"), b.name("y")]
    r, first = variable(b, "float", (2, 3), "x")
    handles = b.op("_VarHandlesOp", containers=["", ""], shared_names=names, N=2, dtypes=["float", "int32"],
                   shapes=[[2, 3], [4]])
    read = b.op("_ReadVariablesOp", handles, dtypes=["float", "int32"])
    second = b.op("AssignVariableOp", handles[1], b.input(ints(0, 9).of(4), "int32"), dtype="int32")
    b.run(targets=[first])
    b.run(fetches=[read], error=True, says="y.*")
    b.run(targets=[second])
    b.run(fetches=[read])
    b.run(fetches=[b.op("ReadVariableOp", handles[0], dtype="float"), b.op("VariableShape", handles[1])])


def critical_section(b):
    """Two sections that add to one variable; steps one after the other get the same lock."""
    mutex = b.op("MutexV2", shared_name=b.name("m"))
    same = b.op("MutexV2", shared_name=b.name("m"))
    r, init = variable(b, "float", (2,))
    b.run(targets=[init])
    ends = []
    for m in (mutex, same):
        lock = b.op("MutexLock", m)
        add = b.op("AssignAddVariableOp", r, b.input(rand(2), "float"), control=[lock])
        ends.append(b.op("ConsumeMutexLock", lock, control=[add]))
    b.run(targets=ends)
    b.run(fetches=[b.op("ReadVariableOp", r, dtype="float")])
    b.run(targets=ends)
    b.run(fetches=[b.op("ReadVariableOp", r, dtype="float")])


def lock_not_consumed(b):
    """A lock that no op consumes ends with its step."""
    mutex = b.op("MutexV2", shared_name=b.name("m"))
    lock = b.op("MutexLock", mutex)
    done = b.op("NoOp", control=[lock])
    b.run(targets=[done])
    b.run(targets=[done])


def lock_held(b):
    """A wait for a held lock ends at the step's deadline."""
    mutex = b.op("MutexV2", shared_name=b.name("m"))
    outer = b.op("MutexLock", mutex)
    inner = b.op("MutexLock", mutex, control=[outer])
    b.run(targets=[b.op("ConsumeMutexLock", outer, control=[b.op("ConsumeMutexLock", inner)])], timeout_ms=300, error=True)
    b.run(targets=[b.op("ConsumeMutexLock", b.op("MutexLock", mutex))])


def no_mutex(b):
    r, _ = variable(b, "float", (2,))
    b.run(targets=[b.op("ConsumeMutexLock", b.op("MutexLock", r))], error=True, says="wrong type|does not exist")


ROWS = [
    Row("RefIdentity", build=identity("RefIdentity")),
    Row("RefIdentity", build=identity_gradient("RefIdentity"), types=FLOAT, name="gradient"),
    Row("DebugGradientRefIdentity", build=identity("DebugGradientRefIdentity"), types={"T": ALL}),
    Row("RefSelect", build=select),
    Row("RefSelect", build=select_errors, types=FLOAT, name="errors"),
    Row("StridedSliceAssign", build=assign_ref, types=SLICED),
    Row("StridedSliceAssign", build=assign_ref_errors, types=F, name="errors"),
    Row("ResourceStridedSliceAssign", build=assign_handle, types=SLICED),
    Row("ResourceStridedSliceAssign", build=assign_handle_errors, types=F, name="errors"),
    Row("_VarHandlesOp", build=several, types=[{}]),
    Row("_ReadVariablesOp", build=several, types=[{}]),
    Row("MutexV2", build=critical_section, types=[{}]),
    Row("MutexLock", build=lock_not_consumed, types=[{}]),
    Row("MutexLock", build=lock_held, types=[{}], name="held"),
    Row("MutexLock", build=no_mutex, types=[{}], name="errors"),
    Row("ConsumeMutexLock", build=critical_section, types=[{}]),
]
