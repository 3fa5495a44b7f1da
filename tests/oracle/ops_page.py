"""Writes docs/ops.md: a row an op, from `sluice ops --json` on stdin and the oracle's rows."""

import collections
import json
import sys

from tests.oracle import expand
from tests.oracle import rows
from tests.oracle import table

HEAD = """# Ops

Written by `tests/oracle/ops_page`. Types are those of the op's first type attribute that a kernel takes ("-": it has none);
cases are those of `tests/oracle/cases`, each of which is held against TensorFlow in every run of the tests: first the op's own, then all whose
graph has the op (queues, readers, datasets and the like are tried in programs of several ops; what gradients add is not counted). What the arguments
and attributes of an op are, `sluice ops` and `sluice ops --markdown` tell.

| op | inputs | types | gradient | cases | with it |
| --- | --- | --- | --- | --- | --- |
"""
# Named sets, the largest first.
SETS = [("all", table.ALL), ("numbers, bool", table.PLAIN), ("numbers", table.NUMBERS), ("real numbers", table.REALS),
        ("integers", table.INTS), ("floating and complex", table.ALL_FLOATS + table.COMPLEX), ("floating", table.ALL_FLOATS)]
RARE = {"qint8", "quint8", "qint32", "qint16", "quint16", "float8_e5m2", "float8_e4m3fn", "resource", "variant"}


def types_text(types):
    if types == ["*"]:
        return "-"
    left, words = set(types), []
    for name, members in SETS:
        if set(members) <= left:
            words.append(name)
            left -= set(members)
    rare = [t for t in types if t in left and t in RARE]
    words += [t for t in types if t in left and t not in RARE]
    return ", ".join(words + rare) or "none"


def ops_of(case):
    nodes = list(case.builder.nodes)
    for function in case.builder.functions:
        nodes += function.node_def
    return {node.op for node in nodes}


def main():
    cases, with_it = collections.Counter(), collections.Counter()
    for _, row in rows.load("*"):
        for case in expand.expand(row):
            cases[row.op] += 1
            with_it.update(ops_of(case))
    with open("docs/ops.md", "w", encoding="utf-8") as page:
        page.write(HEAD)
        for line in sys.stdin:
            op = json.loads(line)
            page.write("| %s | %s | %s | %s | %d | %d |\n" %
                       (op["op"], ", ".join(op["inputs"]), types_text(op["kernels"]), "yes" if op["gradient"] else "",
                        cases[op["op"]], with_it[op["op"]]))


main()
