"""Tests that tables name exist: check_tests.py FILE.md...

Of each row of a table the words in backquotes in the last column are held against the sources: `//folder:name` against
BUILD.bazel and the files of the folder; `folder/file` against the files; anything else against the words of all tests, where
`…` stands for any letters, and of a name with dots or slashes the last part counts.
"""

import os
import re
import sys

SOURCES = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
IS_TEST = re.compile(r"(_test\.(cc|py|sh)|/(tests|distributed/testing)/.*\.(cc|h|py))$")


def words_of_tests():
    """All words of the tests' sources, one string, a space before and after each."""
    words = set()
    for folder, folders, files in os.walk(SOURCES):
        folders[:] = [f for f in folders if not f.startswith((".", "bazel-"))]
        for path in (os.path.join(folder, f) for f in files):
            if IS_TEST.search(path):
                with open(path, encoding="utf-8") as file:
                    words.update(re.findall(r"\w+", file.read()))
    return " %s " % "  ".join(sorted(words))


def has_target(label):
    """A target is named in BUILD.bazel, or a macro there makes it of a file."""
    folder, _, name = label[2:].partition(":")
    path = os.path.join(SOURCES, folder)
    name = name or os.path.basename(folder)
    if not os.path.exists(os.path.join(path, "BUILD.bazel")):
        return False
    with open(os.path.join(path, "BUILD.bazel"), encoding="utf-8") as file:
        quoted = set(re.findall(r'"([^"\n]*)"', file.read()))
    return name in quoted or any(
        os.path.exists(os.path.join(path, name + end)) for end in (".cc", ".py"))


def problems(page, words):
    with open(page, encoding="utf-8") as file:
        rows = [(n, text) for n, text in enumerate(file, 1) if text.startswith("|")]
    for number, text in rows:
        for code in re.findall(r"`([^`]+)`", text.rstrip().rstrip("|").rsplit(" | ", 1)[-1]):
            label = re.search(r"//\S+|^:\w+$", code)
            if label:
                target = label.group() if code[0] != ":" else folder + code
                folder = target.partition(":")[0]
                found = has_target(target)
            else:
                name = re.escape(re.split(r"[./]", code)[-1]).replace("…", r"\w*")
                found = os.path.exists(os.path.join(SOURCES, code)) or re.search(" %s " % name, words)
            if not found:
                yield "%s:%d: no test has `%s`" % (page, number, code)


def main(pages):
    words = words_of_tests()
    found = [text for page in pages for text in problems(page, words)]
    print("\n".join(found) if found else "all tests are there")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
