"""Strings against patterns."""

from tests.oracle.table import *

TEXTS = strings("s3://bucket", "/tmp", "", "\u00fc", "aab").of(3, 2)


def bad_pattern(b):
    b.run(fetches=[b.op("StaticRegexFullMatch", b.input(TEXTS), pattern="(")], error=True, says="Invalid pattern: \\(")


ROWS = [
    Row("StaticRegexFullMatch", cases=[C(TEXTS, pattern="^s3://.*"), C(TEXTS, pattern="a*b|."), C(strings("").of(), pattern="")]),
    Row("StaticRegexFullMatch", build=bad_pattern, types=[{}], name="bad"),
    Row("RegexReplace", cases=[C(TEXTS, "(a+)b", "<\\1>"), C(TEXTS, "[a-z]", "x", replace_global=False), C(strings("a").of(0), "a", ""), C(TEXTS, "a", "\\1")],
        errors=[C(TEXTS, ["a"], "", says="[Pp]attern must be scalar|rank 0"), C(TEXTS, "a", ["b"], says="Rewrite must be scalar|rank 0"), C(TEXTS, "(", "", says="Invalid pattern: \\(, error: missing \\)")]),
    Row("StaticRegexReplace", cases=[C(TEXTS, pattern="(a+)b", rewrite="<\\1>"), C(TEXTS, pattern="", rewrite="-"), C(TEXTS, pattern="a", rewrite="", replace_global=False)],
        errors=[C(TEXTS, pattern="(", rewrite="", says="Invalid pattern: \\(, error: missing \\)")]),
    Row("RegexFullMatch", cases=[C(TEXTS, "a*b"), C(strings("a").of(0), ".*")],
        errors=[C(TEXTS, ["a"], says="must be scalar|rank 0"), C(TEXTS, "(", says="Invalid pattern")]),
]
