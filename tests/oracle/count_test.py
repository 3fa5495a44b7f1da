"""The oracle stays as large as docs/differences.md says, and differs from TensorFlow in no larger share of its cases."""

import re
import unittest

from tests.oracle import count


class Count(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.families = count.count()[1]

    def test_share_of_differences(self):
        cases, different = [sum(c[what] for c in self.families.values()) for what in ("cases", "different")]
        with open("docs/differences.md", encoding="utf-8") as page:
            said = re.search(r"more than ([\d,]+) cases .*?at most ([\d.]+) %", page.read(), re.DOTALL)
        self.assertGreater(cases, int(said.group(1).replace(",", "")))
        self.assertGreater(different, 0)  # otherwise nothing would be counted
        self.assertLessEqual(float(said.group(2)), 100 * count.LIMIT)
        self.assertLessEqual(100 * different / cases, float(said.group(2)), "%d of %d cases" % (different, cases))

    def test_all_families_are_counted(self):
        self.assertLessEqual({"image", "image_codecs", "sparse", "sparse_tensor", "math", "data"}, set(self.families))
