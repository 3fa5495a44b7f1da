"""The rows of tests/oracle/cases: one class per family, one test per row, one subtest per case.

All families are in a few shards, because each process has to load TensorFlow.
`--test_filter=math,nn` selects families.
"""

import functools
import os
import unittest

from tests.oracle import rows

# Families that also run as <family>_one_thread: their ops block or schedule work on other threads.
ONE_THREAD = ("collective", "dataflow", "io", "staging")


def chosen():
    """[(class, file, row)] of this shard."""
    found = []
    for file, row in rows.load("*"):
        family = rows.family(file)
        found.append((family, file, row))
        if family in ONE_THREAD:
            found.append((family + "_one_thread", file, row))
    if wanted := os.environ.get("TESTBRIDGE_TEST_ONLY"):
        found = [entry for entry in found if entry[0] in wanted.split(",")]
    return found[int(os.environ.get("TEST_SHARD_INDEX", "0"))::int(os.environ.get("TEST_TOTAL_SHARDS", "1"))]


ENTRIES = chosen()


@functools.cache
def results():
    """[(case, [complaint])] of each entry."""
    found, seconds_of = {}, {}

    def report(index, result, seconds):
        found[index] = result
        seconds_of[index] = seconds

    one_thread = {index for index, (name, _, _) in enumerate(ENTRIES) if name.endswith("_one_thread")}
    rows.check_all([row for _, _, row in ENTRIES], int(os.environ.get("SLUICE_ORACLE_JOBS", "1")), report, one_thread)
    slowest = sorted(seconds_of, key=seconds_of.get, reverse=True)[:5]
    print("slowest rows:", ", ".join("%s %.1f s" % (ENTRIES[i][2].id, seconds_of[i]) for i in slowest))
    return found


class OpRows(unittest.TestCase):

    def check(self, index):
        for case, complaints in results()[index]:
            with self.subTest(case):
                if complaints:
                    self.fail("\n".join(complaints))


def add_tests():
    classes = {}
    for index, (name, file, row) in enumerate(ENTRIES):
        family = classes.setdefault(name, type(name, (OpRows,), {}))
        test = "test_%s_%s" % (file, row.id)
        while hasattr(family, test):
            test += "_"
        setattr(family, test, lambda self, index=index: self.check(index))
    del globals()["OpRows"]  # the base class has no tests
    globals().update(classes)


add_tests()
