"""Runs the unittest cases of a file and reports each, subtests too, in GoogleTest's XML form: run.py FILE.py."""

import os
import runpy
import sys
import time
import types
import unittest
import xml.etree.ElementTree as ElementTree


class Report(unittest.TextTestResult):
    """Keeps (class, name, kind, text, seconds) of each case. A test with subtests counts as its subtests."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.cases = []
        self._started = 0
        self._subtests = 0

    def startTest(self, test):
        super().startTest(test)
        self._started = time.monotonic()
        self._subtests = 0

    def _add(self, test, kind, text=""):
        group = type(getattr(test, "test_case", test)).__name__
        name = test.id().split(".%s." % group, 1)[-1]
        self.cases.append((group, name, kind, text, time.monotonic() - self._started))

    def addSuccess(self, test):
        super().addSuccess(test)
        if self._subtests == 0:
            self._add(test, "passed")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._add(test, "failure", self._exc_info_to_string(err, test))

    def addError(self, test, err):
        super().addError(test, err)
        self._add(test, "failure", self._exc_info_to_string(err, test))

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._add(test, "skipped", reason)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        self._subtests += 1
        if err is None:
            self._add(subtest, "passed")
        else:
            self._add(subtest, "failure", self._exc_info_to_string(err, test))


def write_xml(path, cases):
    """Writes the report that Bazel and tools/test read."""
    failures = sum(kind == "failure" for _, _, kind, _, _ in cases)
    root = ElementTree.Element("testsuites", tests=str(len(cases)), failures=str(failures))
    suite = ElementTree.SubElement(root, "testsuite", name="oracle", tests=str(len(cases)), failures=str(failures))
    printable = {c: None for c in range(32) if chr(c) not in "\t\n"}
    for group, name, kind, text, seconds in cases:
        case = ElementTree.SubElement(
            suite, "testcase", classname=group, name=name.translate(printable), time="%.3f" % seconds)
        if kind != "passed":
            ElementTree.SubElement(case, kind, message=text.translate(printable)[:2000])
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def main():
    path = sys.argv[1]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    module = types.ModuleType("oracle_test")
    module.__dict__.update(runpy.run_path(path, run_name="oracle_test"))
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    result = unittest.TextTestRunner(stream=sys.stdout, resultclass=Report, verbosity=1).run(suite)
    if os.environ.get("XML_OUTPUT_FILE"):
        write_xml(os.environ["XML_OUTPUT_FILE"], result.cases)
    if os.environ.get("TEST_SHARD_STATUS_FILE"):
        open(os.environ["TEST_SHARD_STATUS_FILE"], "w").close()  # shards are supported
    elif not result.cases:
        print("no test cases in", path)
        return 1
    return int(not result.wasSuccessful())


sys.exit(main())
