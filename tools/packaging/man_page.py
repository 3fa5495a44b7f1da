"""Writes manual pages from a program's help: man_page.py PROGRAM FOLDER

FOLDER gets sluice.1 with the list of commands, and sluice-COMMAND.1 for each command. An unexpected
form of the help is an error.
"""

import os
import re
import subprocess
import sys


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def escaped(text):
    """Text that roff shows as it is. A line cannot begin with a dot or an apostrophe."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("…", "...")
    return re.sub(r"(?m)^([.'])", r"\\&\1", text)


def match(pattern, text, what):
    found = re.search(pattern, text, re.S | re.M)
    if not found:
        sys.exit("man_page.py: the help has no %s:\n%s" % (what, text))
    return found


def as_it_is(text):
    return [".nf", escaped(text.strip("\n")), ".fi"]


def paragraphs(text):
    """Filled paragraphs; roff joins their lines."""
    lines = []
    for number, paragraph in enumerate(text.strip().split("\n\n")):
        lines += ([".PP"] if number else []) + [escaped(paragraph)]
    return lines


def page(name, summary, version, parts):
    lines = ['.TH %s 1 "" "%s" "User Commands"' % (escaped(name.upper()), escaped(version)),
             ".SH NAME", "%s \\- %s" % (escaped(name), escaped(summary))]
    for heading, content in parts:
        lines += [".SH " + heading] + content
    return "\n".join(lines) + "\n"


def command_page(program, name, summary, version):
    """The page of one command, from `sluice help NAME`."""
    text = output(program, "help", name)
    found = match(r"\AUsage: sluice \S+ (?P<usage>.*?)\n\n(?P<details>.*)\n\nExample:\n  \$ (?P<example>.*?)\n"
                  r"(?:\nOptions:\n(?P<options>.*))?\Z", text, "usage, description and example")
    options = []
    for option, help_text in re.findall(r"^  (--\S+)\s+(.*)$", found["options"] or "", re.M):
        options += [".TP", ".B " + escaped(option), escaped(help_text)]
    parts = [("SYNOPSIS", [".B sluice " + escaped(name), escaped(found["usage"])]),
             ("DESCRIPTION", paragraphs(found["details"])),
             ("EXAMPLE", as_it_is(found["example"]))]
    if options:
        parts.append(("OPTIONS", options))
    parts += [("EXIT STATUS", [escaped(EXIT_STATUS)]), ("SEE ALSO", [".BR sluice (1)"])]
    return page("sluice-" + name, summary, version, parts)


EXIT_STATUS = "0: success. 1: the command failed, and the error is on stderr. 2: the command line is wrong."


def main():
    program, folder = sys.argv[1:]
    version = output(program, "--version").split("\n")[0]
    text = output(program, "help")
    found = match(r"\Asluice (?P<summary>[^\n]*?)\.\n\nUsage: sluice (?P<usage>[^\n]*)\n\n(?P<commands>.*?)\n\nHelp:",
                  text, "summary, usage and commands")
    commands = re.findall(r"^  ([a-z]+)\s+(\S.*)$", found["commands"], re.M)
    if not commands:
        sys.exit("man_page.py: the help names no commands:\n" + text)
    os.makedirs(folder, exist_ok=True)
    overview = page("sluice", found["summary"], version, [
        ("SYNOPSIS", [".B sluice", escaped(found["usage"])]),
        ("DESCRIPTION", as_it_is(text[found.start("commands"):text.rindex("\n\nExit codes:")])),
        ("EXIT STATUS", [escaped(EXIT_STATUS)]),
        ("SEE ALSO", [",\n".join(".BR sluice\\-%s (1)" % name for name, _ in commands).replace(" (1),", " (1),")]),
    ])
    for name, content in [("sluice", overview)] + [
            ("sluice-" + name, command_page(program, name, summary, version)) for name, summary in commands]:
        with open(os.path.join(folder, name + ".1"), "w") as file:
            file.write(content)


if __name__ == "__main__":
    main()
