"""A short soak, and that it notices what it must."""

import json
import os
import signal
import sys
import tempfile
import threading
import unittest

from tests.attacks import soak, soak_report


class SoakTest(unittest.TestCase):

    def options(self, *more):
        folder = tempfile.TemporaryDirectory(prefix="sluice_soak_", dir="/tmp")
        self.addCleanup(folder.cleanup)
        return soak.parse(["--minutes=0.35", "--requests=1500", "--hostile=200", "--sample_s=1", "--out=" + os.path.join(folder.name, "out")] + list(more))

    def result(self, options):
        with open(os.path.join(options.out, "result.json"), encoding="utf-8") as file:
            return json.load(file)

    def test_a_server_stands_a_short_soak(self):
        options = self.options("--tensorflow=" + sys.executable)
        self.assertEqual(soak.Soak(options).run(), [])
        result = self.result(options)
        self.assertGreaterEqual(result["answers"]["honest"]["OK"], 1500)
        self.assertEqual(result["server_status"], 0)
        with open(os.path.join(options.out, "samples.csv"), encoding="utf-8") as file:
            self.assertGreater(len(file.readlines()), 15)

    def test_a_server_that_dies_fails_it(self):
        run = soak.Soak(self.options())
        killer = threading.Timer(5, lambda: os.kill(run.process.pid, signal.SIGKILL))
        killer.start()
        wrong = run.run()
        self.assertRegex(wrong[0], r"the server ended with status -9 after \d+ s")


class VerdictTest(unittest.TestCase):

    def report(self, memory=lambda i: 100, threads=lambda i: 20, sample_s=5):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        report = soak_report.Report(folder.name, soak.parse(["--requests=0", "--hostile=0"]))
        self.addCleanup(report.csv.close)
        self.addCleanup(report.events.close)
        for i in range(120):
            report.seconds = lambda: sample_s * i  # noqa: B023
            report.sample({"memory": int(memory(i) * (1 << 20)), "threads": threads(i), "descriptors": 30}, 1)
        return report

    def answers(self, *names, ms=1.0):
        return {"requests": len(names), "answers": {name: names.count(name) for name in names}, "ms": [ms] * len(names), "errors": []}

    def test_steady_figures_are_right(self):
        report = self.report(memory=lambda i: 100 + i % 10)
        report.add("train", True, self.answers("OK", "RESOURCE_EXHAUSTED"))
        self.assertEqual(report.wrong(is_last=True), [])

    def test_growing_memory_is_wrong(self):
        self.assertRegex(self.report(memory=lambda i: 100 + 2 * i).wrong(is_last=True)[0], "memory grew from 1.* to 3")

    def test_the_summary_has_all_figures(self):
        report = self.report(memory=lambda i: 100 + 0.1 * i, threads=lambda i: 20 + i % 3)
        report.add("train", True, self.answers("OK", "OK", "RESOURCE_EXHAUSTED", "DATA_LOSS"))
        report.add("graphs", False, self.answers("INVALID_ARGUMENT"))
        self.assertAlmostEqual(report.memory_slope(), 72, delta=0.5)  # 0.1 MB in 5 s
        report.begin({"memory": 100 << 20, "threads": 20, "descriptors": 30})
        report.end({"memory": 111 << 20, "threads": 21, "descriptors": 31})
        self.assertRegex(report.summary(), r"^10 minutes; honest: 4 requests, 1 failures, 1 refused by a limit, 0 late; hostile: 1 requests; memory in MB: "
                         r"100 at first, 111.9 at most, 111 at the end, \+7[12]\.\d+ per hour; threads: 20 at first, 22 at most, 21 at the end; "
                         r"files: 30 at first, 30 at most, 31 at the end$")

    def test_growing_threads_are_wrong(self):
        self.assertRegex(self.report(threads=lambda i: 20 + i).wrong(is_last=True)[0], "threads grew")

    def test_an_honest_failure_is_wrong(self):
        report = self.report()
        report.add("train", True, self.answers("OK", "DATA_LOSS"))
        self.assertEqual(report.wrong(is_last=True), ["honest clients got {'DATA_LOSS': 1}; see events.txt"])

    def test_a_late_answer_is_wrong(self):
        report = self.report()
        report.add("train", True, self.answers("OK", ms=30000.0))
        self.assertRegex(report.wrong(is_last=True)[0], "1 honest answers took more than")

    def test_hostile_failures_are_right(self):
        report = self.report()
        report.add("graphs", False, self.answers("INVALID_ARGUMENT", ms=30000.0))
        self.assertEqual(report.wrong(is_last=True), [])

    def test_memory_that_stays_is_wrong(self):
        report = self.report()
        report.begin({"memory": 100 << 20, "threads": 20, "descriptors": 30})
        self.assertFalse(report.end({"memory": 300 << 20, "threads": 20, "descriptors": 30}))
        self.assertRegex(report.wrong(is_last=True)[0], "does not return what its clients took")


if __name__ == "__main__":
    unittest.main()
