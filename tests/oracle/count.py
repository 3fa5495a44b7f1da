"""Counts the cases of the rows, without running them: count.py [--json]

Prints cases, rows and ops per family, the total, and the number of cases that intentionally expect
another result than TensorFlow's (each is in docs/differences.md). Exits with 1 if that number
exceeds LIMIT of all cases. --json: {"op": cases, …}.
"""

import collections
import json
import sys

from tests.oracle import expand
from tests.oracle import rows

LIMIT = 0.005


def differs(case):
    """Whether the case expects another error code, or leaves something of the outcome out of the comparison."""
    part = lambda compare: callable(compare) and not getattr(compare, "is_of_all", False)
    return not case.row.static_shapes or any(run.code or part(run.compare) for run in case.builder.runs)


def count():
    """Cases by op, and {family: Counter of rows, cases, different, ops}."""
    per_op, found = collections.Counter(), {}
    # TensorFlow traces functions of rows, and then no more files may be loaded. So all files are
    # loaded first.
    ops = collections.defaultdict(set)
    for file, row in rows.load("*"):
        cases = expand.expand(row)
        per_op[row.op] += len(cases)
        name = rows.family(file)
        ops[name].add(row.op)
        found.setdefault(name, collections.Counter()).update(rows=1, cases=len(cases), different=sum(map(differs, cases)))
    for name, counter in found.items():
        counter["ops"] = len(ops[name])
    return per_op, found


def main():
    per_op, found = count()
    if "--json" in sys.argv:
        print(json.dumps(per_op, sort_keys=True))
        return 0
    for name in sorted(found):
        print("%-16s %6d cases, %4d rows, %4d ops" % (name, found[name]["cases"], found[name]["rows"], found[name]["ops"]))
    total = sum(found.values(), collections.Counter())
    share = total["different"] / total["cases"]
    print("%-16s %6d cases, %4d rows, %4d ops; %d cases (%.2f %%) differ from TensorFlow on purpose" % (
        "all", total["cases"], total["rows"], len(per_op), total["different"], 100 * share))
    return int(share > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
