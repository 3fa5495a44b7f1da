"""Code in Markdown equals the file that compiles or runs: check_samples.py FILE.md...

A block of C, C++, Go, Python or Rust that follows `<!-- from PATH -->` must equal the file PATH, without the comments at
its top. One that follows `<!-- from PATH:NAME -->` must equal the lines between `// [NAME]` and `// [/NAME]` in it (in Python, `# [NAME]`),
without their common indentation. A block without such a line is a mistake. With --write, the blocks are replaced by what
the files contain.
"""

import re
import sys
import textwrap

BLOCK = re.compile(r"(?:<!-- from (?P<path>[^\s:>]+)(?::(?P<name>\w+))? -->\n)?```(?:c|cpp|go|python|rust)\n(?P<code>.*?)```\n", re.S)


def source(path, name):
    """Returns the text that a block must have, or None where `path` has no region `name`."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if not name:
        return re.sub(r"\A(//[^\n]*\n)+\n?", "", text)
    match = re.search(r"^ *(?://|#) \[%s\]\n(.*?)^ *(?://|#) \[/%s\]\n" % (name, name), text, re.S | re.M)
    return match and textwrap.dedent(match.group(1))


def problems(markdown, text):
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        path, name = match.group("path", "name")
        if not path:
            yield "%s:%d: code that no test runs: put `<!-- from FILE:NAME -->` above it" % (markdown, line)
            continue
        wanted = source(path, name)
        if wanted is None:
            yield "%s:%d: %s has no [%s]" % (markdown, line, path, name)
        elif wanted != match.group("code"):
            yield "%s:%d: differs from %s (docs/check_samples.py --write %s)" % (markdown, line, path, markdown)


def rewritten(text):
    def block(match):
        path, name = match.group("path", "name")
        wanted = path and source(path, name)
        if not wanted:
            return match.group(0)
        start, end = match.span("code")
        return text[match.start():start] + wanted + text[end:match.end()]
    return BLOCK.sub(block, text)


def main():
    write = "--write" in sys.argv
    found = []
    for markdown in [argument for argument in sys.argv[1:] if argument != "--write"]:
        with open(markdown, encoding="utf-8") as file:
            text = file.read()
        if write:
            text = rewritten(text)
            with open(markdown, "w", encoding="utf-8") as file:
                file.write(text)
        found += problems(markdown, text)
    print("\n".join(found) or "all samples equal their files")
    return int(bool(found))


sys.exit(main())
