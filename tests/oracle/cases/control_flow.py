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
    """Replaces the second input of `merge` by `back`, which is created later."""
    node = next(n for n in b.nodes if n.name == merge.name)
    node.input[1] = back.name


def exchange(b):
    """while (i < n) { x, y = c, x; ++i; }: values of every type and size go round as they are."""
    dtype = b.types.get("T", "float")
    for k, (shape, n, parallel) in enumerate((((2,), 3, 10), ((), 2, 1), ((0, 3), 1, 10), ((30, 40), 2, 3), ((2, 1), 0, 10))):
        frame = dict(frame_name=b.name("exchange%d" % k), parallel_iterations=parallel)
        i = b.op("Enter", b.input(values(0, "int32")), **frame)
        x, y = [b.op("Enter", b.input(rand(*shape), dtype), **frame) for _ in range(2)]
        c = b.op("Enter", b.input(rand(*shape), dtype), is_constant=True, **frame)
        end = b.op("Enter", b.input(values(n, "int32")), is_constant=True, **frame)
        one = b.op("Enter", b.input(values(1, "int32")), is_constant=True, **frame)
        merged = [back_merge(b, e) for e in (i, x, y)]
        cond = b.op("LoopCond", b.op("Less", merged[0], end))
        si, sx, sy = [b.op("Switch", m, cond) for m in merged]
        close(b, merged[0], b.op("NextIteration", b.op("AddV2", si[1], one)))
        close(b, merged[1], b.op("NextIteration", b.op("Identity", c, control=[b.op("Identity", sy[1])])))
        close(b, merged[2], b.op("NextIteration", sx[1]))
        b.run(fetches=[b.op("Exit", s[0]) for s in (si, sx, sy)])


def nested_loops(b):
    """while (i < 3) { j = 0; while (j < i) ++j, ++total; ++i; }"""
    outer, inner = dict(frame_name=b.name("outer")), dict(frame_name=b.name("inner"))
    enter = lambda v, frames, **more: enter(b.op("Enter", v, **frames[0], **more), frames[1:], **more) if frames else v
    number = lambda v: b.input(values(v, "int32"))
    one = [enter(number(1), frames, is_constant=True) for frames in ([outer], [outer, inner])]
    three, zero = [enter(number(n), [outer], is_constant=True) for n in (3, 0)]
    i, total = [back_merge(b, enter(number(0), [outer])) for _ in range(2)]
    going = b.op("LoopCond", b.op("Less", i, three))
    si, st = b.op("Switch", i, going), b.op("Switch", total, going)
    limit = enter(si[1], [inner], is_constant=True)
    j, t = back_merge(b, enter(b.op("Identity", zero, control=[b.op("Identity", si[1])]), [inner])), back_merge(b, enter(st[1], [inner]))
    inside = b.op("LoopCond", b.op("Less", j, limit))
    sj, sin = b.op("Switch", j, inside), b.op("Switch", t, inside)
    close(b, j, b.op("NextIteration", b.op("AddV2", sj[1], one[1])))
    close(b, t, b.op("NextIteration", b.op("AddV2", sin[1], one[1])))
    close(b, i, b.op("NextIteration", b.op("AddV2", si[1], one[0])))
    close(b, total, b.op("NextIteration", b.op("Exit", sin[0])))
    b.run(fetches=[b.op("Exit", st[0]), b.op("Exit", si[0])])


def mixed_frames(b):
    """A value of the loop and one from outside meet."""
    inside = b.op("Enter", b.input(rand(2), "float"), frame_name=b.name("mixed"))
    outside = b.op("Identity", b.input(rand(2), "float"))
    b.run(fetches=[b.op("Exit", b.op("AddV2", inside, outside))], error=True, says="frame")


def next_iteration_of_two_frames(b):
    one, other = [b.op("Enter", b.input(rand(2), "float"), frame_name=b.name(n)) for n in ("a", "b")]
    b.run(fetches=[b.op("Exit", b.op("NextIteration", b.op("AddV2", one, other)))], error=True, says="frame")


def loop_cond_of_vector(b):
    frame = dict(frame_name=b.name("loop"))
    going = b.op("LoopCond", b.op("Enter", b.hidden(values([True, False], "bool")), **frame))
    s = b.op("Switch", b.op("Enter", b.input(rand(2), "float"), **frame), going)
    b.run(fetches=[b.op("Exit", s[0])], error=True, says="must be a scalar, but it has shape \\[2\\]")


def merge(b):
    """Merges of one, two and three inputs, one of which is alive, and its index."""
    for shape in ((2, 3), (), (0, 2), (30, 40)):
        data = b.input(rand(*shape))
        s = b.op("Switch", data, b.input(values(True, "bool")))
        dead, live = b.op("Identity", s[0]), b.op("Identity", s[1])
        for inputs in ([live], [live, dead], [dead, live], [dead, dead, live]):
            b.run(fetches=[b.op("Merge", inputs)])
        b.run(fetches=[b.op("Merge", [dead, dead])], error=True, says="")


def no_ops(b):
    """Many NoOps, in a chain, next to and after a stateful op."""
    v = b.op("VariableV2", shape=[2], dtype="float", shared_name=b.name("v"))
    x = b.input(rand(2), "float")
    assign = b.op("Assign", v, x)
    last = b.op("NoOp", control=[b.op("NoOp", control=[assign, b.op("NoOp")]), b.op("NoOp")])
    b.run(targets=[last])
    b.run(fetches=[b.op("Identity", v)])
    b.run(targets=[b.op("NoOp", control=[failing(b)])], error=True, says="assertion failed")


def failing(b):
    return b.op("Assert", b.hidden(values(False, "bool")), [b.input(rand(2), "float")])


def trigger_after_all(b):
    """Waits for live and dead ones alike, and is alive."""
    s = b.op("Switch", b.input(rand(2), "float"), b.input(values(False, "bool")))
    trigger = b.op("ControlTrigger", control=[b.op("Identity", s[0]), b.op("Identity", s[1]), b.op("NoOp")])
    x = b.input(rand(3), "float")
    b.run(fetches=[b.op("Neg", x, control=[trigger])])
    b.run(fetches=[b.op("Neg", x, control=[b.op("NoOp", control=[s[0].node])])])
    b.run(targets=[b.op("ControlTrigger", control=[failing(b)])], error=True, says="assertion failed")


def ref_exchange(b):
    """A variable of any type goes round by reference, and is written each time."""
    dtype = b.types["T"]
    for k, shape in enumerate(((2,), (), (0, 3))):
        v = b.op("VariableV2", shape=list(shape), dtype=dtype, shared_name=b.name("v%d" % k))
        init = b.op("Assign", v, b.input(rand(*shape)))
        frame = dict(frame_name=b.name("loop%d" % k))
        merged = b.op("RefMerge", [b.op("RefEnter", v, **frame)] * 2)
        i = back_merge(b, b.op("Enter", b.input(values(0, "int32")), **frame))
        three, one = [b.op("Enter", b.input(values(n, "int32")), is_constant=True, **frame) for n in (3, 1)]
        cond = b.op("LoopCond", b.op("Less", i, three))
        s, si = b.op("RefSwitch", merged, cond), b.op("Switch", i, cond)
        written = b.op("Assign", s[1], b.op("Enter", b.input(rand(*shape)), is_constant=True, **frame))
        close(b, merged, b.op("RefNextIteration", written))
        close(b, i, b.op("NextIteration", b.op("AddV2", si[1], one)))
        b.run(targets=[init])
        b.run(fetches=[b.op("Identity", b.op("RefExit", s[0]))])
        b.run(fetches=[b.op("Identity", v)])


def ref_enter_of_nothing(b):
    """The variable has no value yet."""
    v = b.op("VariableV2", shape=[2], dtype="float", shared_name=b.name("v"))
    entered = b.op("RefEnter", v, frame_name=b.name("loop"))
    b.run(fetches=[b.op("Exit", b.op("Identity", entered))], error=True, says="uninitialized")


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
    Row("NoOp", build=no_ops, name="after and before"),
    Row("ControlTrigger", build=trigger_after_all, name="after all"),
    Row("Merge", build=merge, name="of some"),
    Row("Enter", build=loop, types=FLOAT),
    Row("Exit", build=loop, types=FLOAT, name="loop"),
    Row("NextIteration", build=loop, types=FLOAT, name="loop"),
    Row("LoopCond", build=loop, name="loop"),
    Row("RefEnter", build=ref_loop, types=FLOAT),
    Row("RefExit", build=ref_loop, types=FLOAT, name="loop"),
    Row("RefNextIteration", build=ref_loop, types=FLOAT, name="loop"),
    Row("Enter", build=mixed_frames, types=FLOAT, name="mixed frames"),
    Row("NextIteration", build=next_iteration_of_two_frames, types=FLOAT, name="of two frames"),
    Row("LoopCond", build=loop_cond_of_vector, name="of a vector"),
    Row("LoopCond", build=exchange, name="exchange"),
    Row("RefEnter", build=ref_enter_of_nothing, types=FLOAT, name="of nothing"),
]
for op in ("Enter", "Exit", "NextIteration"):
    ROWS += [Row(op, build=exchange, name="exchange"), Row(op, build=nested_loops, types=FLOAT, name="nested")]
ROWS += [Row(op, build=ref_exchange, name="exchange") for op in ("RefEnter", "RefExit", "RefNextIteration")]
