"""The rows of one family ($SLUICE_ORACLE_FAMILY), a test a row, a subtest a case."""

import os
import unittest

from tests.oracle import rows

FAMILY = os.environ["SLUICE_ORACLE_FAMILY"]
ROWS = rows.load(FAMILY)


class OpRows(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.results = {}
        seconds_of = {}

        def report(index, result, seconds):
            cls.results[index] = result
            seconds_of[index] = seconds

        rows.check_all([row for _, row in ROWS], jobs=int(os.environ.get("SLUICE_ORACLE_JOBS", "2")), report=report)
        slowest = sorted(seconds_of, key=seconds_of.get, reverse=True)[:5]
        print("slowest rows:", ", ".join("%s %.1f s" % (ROWS[i][1].id, seconds_of[i]) for i in slowest))

    def check(self, index):
        for case, complaints in self.results[index]:
            with self.subTest(case):
                if complaints:
                    self.fail("\n".join(complaints))


def add_tests():
    for index, (file, row) in enumerate(ROWS):
        name = "test_%s_%s" % (file, row.id)
        while hasattr(OpRows, name):
            name += "_"
        setattr(OpRows, name, lambda self, index=index: self.check(index))


add_tests()
