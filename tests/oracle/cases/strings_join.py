"""Strings, joined."""

from tests.oracle.table import *

ONE, TWO = strings("a", "", "bc").of(), strings("x", "yz", "").of(2)

ROWS = [
    Row("StringJoin", cases=[C([ONE, TWO], separator="-"), C([TWO, ONE, TWO]), C([ONE]), C([strings("a").of(0, 2), ONE]), C([], N=0)],
        errors=[C([TWO, strings("a").of(3)], says="do not match|must be equal")]),
]
