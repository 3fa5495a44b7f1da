"""Assertions, numeric checks, printing."""

from tests.oracle.table import *


def failing(b):
    x = b.input(values([1.0, 2, 3, 4]))
    no = b.op("Assert", b.input(values(False, "bool")), [x, b.const("what", "string")], summarize=2)
    b.run(targets=[no], error=True, says="assertion failed: \\[1 2\\.\\.\\.\\] \\[what\\]")
    yes = b.op("Assert", b.input(values(True, "bool")), [x])
    b.run(targets=[yes])


def assert_not_scalar(b):
    no = b.op("Assert", b.hidden(values([True, True], "bool")), [b.input(rand(2))])
    b.run(targets=[no], error=True, says="should be a scalar")


def print_v2(b):
    b.run(targets=[b.op("PrintV2", b.const("", "string"), output_stream="stderr", end="")])
    bad = b.op("PrintV2", b.hidden(strings("a").of(2)), output_stream="stderr")
    b.run(targets=[bad], error=True, says="scalar")


def timestamp(b):
    now = b.op("Timestamp")
    b.run(fetches=[b.op("Greater", now, b.const(1.6e9, "double")), b.op("Less", now, b.const(1e10, "double"))])


def bad(*numbers):
    return C(values(numbers), message="m", types={"T": "float"}, says="m : Tensor had ")


ROWS = [
    Row("Assert", build=failing, types=[{"T": "float"}]),
    Row("Assert", build=assert_not_scalar, types=[{"T": "float"}], name="not_scalar"),
    Row("Print", cases=[C(rand(2, 3), []), C(rand(2), [], first_n=0)], types={"T": ALL}),
    Row("Print", cases=[C(rand(2, 2), [rand(3).typed("float")], message="", first_n=0, summarize=1)], types=[{"T": "double"}], name="data"),
    Row("PrintV2", build=print_v2, types=[{}]),
    Row("CheckNumerics", [uniform()], shapes=ELEMENTWISE, attrs=[{"message": "m"}], errors=[bad(1, nan), bad(inf), bad(-inf, 0), bad(inf, nan)]),
    Row("CheckNumericsV2", [uniform()], shapes=ELEMENTWISE, attrs=[{"message": "m"}], errors=[bad(1, nan), bad(inf), bad(-inf, 0), bad(inf, nan, -inf)]),
    Row("Timestamp", build=timestamp, types=[{}]),
]
