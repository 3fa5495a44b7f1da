"""Turns the `//` comments above declarations into Doxygen comments, without moving a line.

The first comment describes the file, a comment before an empty line describes no declaration, and
one that continues the comment behind a declaration belongs to that. Doxygen ignores these, and
keeps the text of the others as it is, so api_pages.py can read it as Markdown.
"""

import re

COMMENT = re.compile(r"\s*// ?(.*)")


def continues(lines, at):
    """True if the comment in line `at` continues a comment behind the code of a line before."""
    column = lines[at].index("//")
    while at > 0 and COMMENT.fullmatch(lines[at]):
        at -= 1
    return lines[at].find("//", column) == column


def marked(text):
    lines = text.split("\n")
    at, is_first = 0, True
    while at < len(lines):
        begin = at
        while at < len(lines) and COMMENT.fullmatch(lines[at]):
            at += 1
        if at > begin and not is_first and lines[at].strip() and not continues(lines, begin):
            block = "\n".join(COMMENT.fullmatch(line)[1] for line in lines[begin:at])
            lines[begin:at] = ("/** \\verbatim %s \\endverbatim */" % block.replace("*/", "* /")).split("\n")
        is_first = is_first and at == begin
        at += at == begin
    return "\n".join(lines)
