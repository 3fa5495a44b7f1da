"""Counts the cases of the rows, without running them: count.py [--json]

Prints cases, rows and ops a family, the total, and how many cases expect something else than TensorFlow does (each is in
docs/differences.md). --json: {"op": cases, …}.
"""

import collections
import glob
import json
import os
import sys

from tests.oracle import expand
from tests.oracle import rows


def differs(case):
    """Whether the case expects another error code, or leaves something of the outcome out of the comparison."""
    part = lambda compare: callable(compare) and not getattr(compare, "is_of_all", False)
    return not case.row.static_shapes or any(run.code or part(run.compare) for run in case.builder.runs)


def main():
    families = sorted({os.path.basename(path).split("_")[0] for path in glob.glob("tests/oracle/cases/*.py")})
    per_op, totals = collections.Counter(), collections.Counter()
    # Functions of rows are traced by TensorFlow, and after that no file may be loaded.
    loaded = {family: rows.load(family) for family in families}
    for family in families:
        counts, ops = collections.Counter(), set()
        for _, row in loaded[family]:
            cases = expand.expand(row)
            per_op[row.op] += len(cases)
            ops.add(row.op)
            counts.update(rows=1, cases=len(cases), different=sum(map(differs, cases)))
        totals.update(counts)
        if "--json" not in sys.argv:
            print("%-12s %6d cases, %4d rows, %4d ops" % (family, counts["cases"], counts["rows"], len(ops)))
    if "--json" in sys.argv:
        print(json.dumps(per_op, sort_keys=True))
        return
    print("%-12s %6d cases, %4d rows, %4d ops; %d cases (%.2f %%) differ from TensorFlow on purpose" % (
        "all", totals["cases"], totals["rows"], len(per_op), totals["different"], 100 * totals["different"] / totals["cases"]))


main()
