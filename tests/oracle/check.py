"""Prints what is wrong with the rows of a family: check.py [-v] [-t] FAMILY [OP…]

-v prints every case. -t leaves Sluice out: it only finds mistakes in rows.
"""

import os
import sys

from tests.oracle import rows


def main():
    arguments = [a for a in sys.argv[1:] if a not in ("-v", "-t")]
    verbose = "-v" in sys.argv
    if "-t" in sys.argv:
        os.environ["SLUICE_ORACLE_WITHOUT_SLUICE"] = "1"
    chosen = [row for _, row in rows.load(arguments[0]) if len(arguments) == 1 or row.op in arguments[1:]]
    counts = [0, 0]

    def report(index, result, seconds):
        bad = [(case, complaints) for case, complaints in result if complaints]
        counts[0] += len(result)
        counts[1] += len(bad)
        print("%-40s %4d cases, %3d fail, %.2f s" % (chosen[index].id, len(result), len(bad), seconds))
        for case, complaints in result if verbose else bad[:10]:
            print("    %s: %s" % (case, "\n        ".join(complaints) or "ok"))

    rows.check_all(chosen, jobs=int(os.environ.get("SLUICE_ORACLE_JOBS", "2")), report=report)
    print("%d cases, %d fail" % tuple(counts))
    return int(counts[1] > 0 or not chosen)


sys.exit(main())
