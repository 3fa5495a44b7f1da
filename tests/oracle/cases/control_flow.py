"""Branches, frames, and ops that only order others."""

from tests.oracle.table import *


def no_op(b):
    first = b.op("NoOp")
    x = b.op("Identity", b.input(rand(2), "float"), control=[first])
    b.run(fetches=[x], targets=[b.op("NoOp", control=[x])])


def control_trigger(b):
    """Runs although what it waits for is dead, and so does what waits for it."""
    switch = b.op("Switch", b.input(rand(2), "float"), b.input(values(True, "bool")))
    dead = b.op("Identity", switch[0])
    trigger = b.op("ControlTrigger", control=[dead])
    b.run(fetches=[b.op("Const", dtype="int32", value=numpy.int32(7), control=[trigger])])


def switch(b):
    data = b.input(rand(2, 3))
    for pred in (True, False):
        s = b.op("Switch", data, b.input(values(pred, "bool")))
        b.run(fetches=[s[1 if pred else 0]])
        b.run(fetches=[s[0 if pred else 1]], error=True, says="")
        b.run(fetches=[b.op("Merge", [b.op("Identity", s[0]), s[1]])])


def switch_errors(b):
    s = b.op("Switch", b.input(rand(2), "float"), b.hidden(values([True], "bool")))
    b.run(fetches=[b.op("Merge", [s[0], s[1]])], error=True, says="must be a scalar, but it has shape \\[1\\]")


def merge_of_dead(b):
    """All inputs dead: dead."""
    s = b.op("Switch", b.input(rand(2), "float"), b.input(values(True, "bool")))
    m = b.op("Merge", [b.op("Identity", s[0]), b.op("Neg", s[0])])
    b.run(fetches=[b.op("Merge", [m[0], s[1]])])


def ref_switch(b):
    """The branch that is taken changes the variable itself."""
    v = b.op("VariableV2", shape=[2], dtype=b.types["T"], shared_name=b.name("v"))
    init = b.op("Assign", v, b.input(rand(2)))
    s = b.op("RefSwitch", v, b.input(values(True, "bool")))
    changed = b.op("Assign", s[1], b.input(rand(2)))
    not_changed = b.op("Assign", s[0], b.input(rand(2)))
    merged = b.op("RefMerge", [not_changed, changed])
    b.run(targets=[init])
    b.run(fetches=[b.op("Identity", merged[0]), merged[1]])
    b.run(fetches=[b.op("Identity", v)])


def loop(b):
    """while (i < 5) { x = x * 2 + c; ++i; }"""
    frame = dict(frame_name=b.name("loop"))
    i = b.op("Enter", b.input(values(0, "int32")), **frame)
    x = b.op("Enter", b.input(rand(2), "float"), **frame)
    c = b.op("Enter", b.input(rand(2), "float"), is_constant=True, **frame)
    five = b.op("Enter", b.input(values(5, "int32")), is_constant=True, **frame)
    one = b.op("Enter", b.input(values(1, "int32")), is_constant=True, **frame)
    mi, mx = back_merge(b, i), back_merge(b, x)
    cond = b.op("LoopCond", b.op("Less", mi, five))
    si, sx = b.op("Switch", mi, cond), b.op("Switch", mx, cond)
    x1 = b.op("AddV2", b.op("AddV2", sx[1], sx[1]), c)
    close(b, mi, b.op("NextIteration", b.op("AddV2", si[1], one)))
    close(b, mx, b.op("NextIteration", x1))
    b.run(fetches=[b.op("Exit", sx[0]), b.op("Exit", si[0])])


def back_merge(b, entered):
    return b.op("Merge", [entered, entered])


def close(b, merge, back):
    """The second input of `merge` becomes `back`, made later."""
    node = next(n for n in b.nodes if n.name == merge.name)
    node.input[1] = back.name


def ref_loop(b):
    """A reference goes through a frame; one iteration changes the variable."""
    v = b.op("VariableV2", shape=[2], dtype="float", shared_name=b.name("v"))
    init = b.op("Assign", v, b.input(rand(2), "float"))
    frame = dict(frame_name=b.name("loop"))
    ref = b.op("RefEnter", v, **frame)
    merged = b.op("RefMerge", [ref, ref])
    going = b.op("Enter", b.input(values(True, "bool")), **frame)
    mg = back_merge(b, going)
    cond = b.op("LoopCond", mg)
    s = b.op("RefSwitch", merged, cond)
    grown = b.op("AssignAdd", s[1], b.op("Enter", b.input(rand(2), "float"), is_constant=True, **frame))
    close(b, merged, b.op("RefNextIteration", grown))
    close(b, mg, b.op("NextIteration", b.op("LogicalNot", b.op("Switch", mg, cond)[1])))
    b.run(targets=[init])
    b.run(fetches=[b.op("Identity", b.op("RefExit", s[0]))])
    b.run(fetches=[b.op("Identity", v)])


def quiet_abort(b):
    b.run(targets=[b.op("Abort", exit_without_error=True)], error=False)


FLOAT = {"T": ("float",)}
ROWS = [
    Row("NoOp", build=no_op),
    Row("ControlTrigger", build=control_trigger),
    Row("Switch", build=switch),
    Row("Switch", build=switch_errors, types=FLOAT, name="errors"),
    Row("Merge", build=merge_of_dead, types=FLOAT),
    Row("RefSwitch", build=ref_switch),
    Row("RefMerge", build=ref_switch),
    Row("Enter", build=loop, types=FLOAT),
    Row("Exit", build=loop, types=FLOAT, name="loop"),
    Row("NextIteration", build=loop, types=FLOAT, name="loop"),
    Row("LoopCond", build=loop, name="loop"),
    Row("RefEnter", build=ref_loop, types=FLOAT),
    Row("RefExit", build=ref_loop, types=FLOAT, name="loop"),
    Row("RefNextIteration", build=ref_loop, types=FLOAT, name="loop"),
]
