"""Writes the manual page of a program from its help to stdout: man_page.py PROGRAM"""

import re
import subprocess
import sys


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout


def escaped(text):
    """Text that roff shows as it is. A line cannot begin with a dot or an apostrophe."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    for char, name in {"…": "...", "×": "x"}.items():
        text = text.replace(char, name)
    return re.sub(r"(?m)^([.'])", r"\\&\1", text)


def flags(help_text):
    """(name, text) of each option in Abseil's help."""
    found = re.findall(r"(?ms)^    --(\w+) \((.*?)\);", help_text)
    return [(name, re.sub(r"\s+", " ", text)) for name, text in found]


def main():
    program = sys.argv[1]
    usage = output(program).split("\n", 1)
    version = output(program, "--version").split("\n")[0]
    name, summary = usage[0].split(" ", 1)
    lines = [
        '.TH SLUICE 1 "" "%s"' % escaped(version),
        ".SH NAME", "%s \\- %s" % (name, escaped(summary)),
        ".SH SYNOPSIS", ".B sluice", ".I command", "[options]",
        ".SH DESCRIPTION", ".nf", escaped(usage[1].strip("\n")), ".fi",
        ".SH OPTIONS",
    ]
    for flag, text in flags(output(program, "--help")):
        lines += [".TP", ".B \\-\\-" + escaped(flag), escaped(text)]
    print("\n".join(lines))


if __name__ == "__main__":
    main()
