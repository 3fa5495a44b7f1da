"""Writes docs/ops.md with one row per op, from `sluice ops --json` on stdin and the oracle's rows.
"""

import collections
import json
import sys

from tests.oracle import expand
from tests.oracle import rows
from tests.oracle import table

HEAD = """# Ops

After reading this page you know which ops there are, for which types, and how well each is tested.
The site that `tools/docs` builds has a page per op: its description, C++ function, attributes,
types, gradient and source file. `sluice ops --markdown` prints the same.

`tests/oracle/ops_page` writes this page. The types are those of the op's first type attribute for
which there is a kernel; "-" means that the op has no type attribute. "cases" counts the op's own
cases in `tests/oracle/cases`, and "with it" all cases whose graph contains the op. Every run of the
tests compares each case with TensorFlow. Ops that gradients add are not counted. Queues, readers,
datasets and similar ops are tested in programs of several ops.

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
