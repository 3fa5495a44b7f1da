"""Counts the test cases of a `bazel test` from its build events: count_cases.py EVENTS STATUS.

A case is a <testcase> in a test's XML report. A target that does not build, or whose report cannot
be read, is one failed case. Prints the cases of the tests that compare with TensorFlow, then `N
passed, N failed`. Exits with 1 if a case or Bazel (STATUS) failed.
"""

import collections
import json
import sys
import urllib.parse
import xml.etree.ElementTree as ElementTree

NO_TESTS_FOUND = 4


def report_counts(path):
    """{class: [passed, failed, skipped]} of one report."""
    counts = collections.defaultdict(lambda: [0, 0, 0])
    for case in ElementTree.parse(path).iter("testcase"):
        count = counts[case.get("classname")]
        if case.find("failure") is not None or case.find("error") is not None:
            count[1] += 1
        elif case.find("skipped") is not None or case.get("status") == "notrun":
            count[2] += 1
        else:
            count[0] += 1
    return counts


def results(events):
    """Yields (label, run, counts by class) for each test run, and for each target that failed to build."""
    with open(events, encoding="utf-8") as lines:
        for line in lines:
            event = json.loads(line)
            if run := event["id"].get("testResult"):
                result = event["testResult"]
                uris = [output["uri"] for output in result.get("testActionOutput", []) if output["name"] == "test.xml"]
                try:
                    counts = report_counts(urllib.parse.unquote(urllib.parse.urlparse(uris[0]).path))
                except (IndexError, OSError, ElementTree.ParseError):
                    counts = {}
                # A program that crashes after its last case, or reports no case, has failed.
                if result.get("status") != "PASSED" and not any(failed for _, failed, _ in counts.values()):
                    counts[""] = [0, 1, 0]
                yield run["label"], json.dumps(run, sort_keys=True), counts
            elif "targetCompleted" in event["id"] and not event.get("completed", {}).get("success"):
                yield event["id"]["targetCompleted"]["label"], "", {"": [0, 1, 0]}


ORACLE = "//tests/oracle:"
ROWS = ORACLE + "op_rows_test"  # its classes are families


def oracle_counts(counts_of):
    """"array 5936, math 10479, …": passed cases of the tests that compare with TensorFlow."""
    found = collections.Counter()
    for (label, _), counts in counts_of.items():
        if label.startswith(ORACLE):
            for group, (passed, _, _) in counts.items():
                found[group if label == ROWS else label[len(ORACLE):].removesuffix("_test")] += passed
    return ", ".join("%s %d" % item for item in sorted(found.items()))


def main():
    events, status = sys.argv[1], int(sys.argv[2])
    counts_of = {(label, run): counts for label, run, counts in results(events)}  # the last of each run counts
    totals = [sum(column) for column in zip((0, 0, 0), *(c for counts in counts_of.values() for c in counts.values()))]
    if oracle := oracle_counts(counts_of):
        print("beside TensorFlow:", oracle)
    passed, failed, skipped = totals
    failed += skipped  # a skipped case proves nothing
    if status not in (0, NO_TESTS_FOUND) and failed == 0:
        failed = 1
    print("%d passed, %d failed" % (passed, failed))
    return int(failed > 0 or passed == 0)


sys.exit(main())
