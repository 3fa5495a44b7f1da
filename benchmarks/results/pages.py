"""Writes the page of each result file: pages.py [--check] FILE.json...

FILE.md gets the tables, notes and experiments of FILE.json. With --check nothing is written, and the exit
status is 1 if a page differs.
"""

import json
import os
import sys
import textwrap


def table(rows):
    columns = list(rows[0])
    lines = [columns, ["---"] * len(columns)] + [[str(row[c]) for c in columns] for row in rows]
    return "".join("| %s |\n" % " | ".join(line) for line in lines)


def items(texts):
    return "\n".join("\n".join(textwrap.wrap(text, 100, initial_indent="- ", subsequent_indent="  ",
                                             break_long_words=False, break_on_hyphens=False))
                     for text in texts) + "\n"


def page(name, result):
    """The text of the page of `result`, the contents of NAME.json."""
    facts = ["%s: %s" % (label, form % result[key])
             for label, key, form in (("Processor", "cpu", "%s"), ("Conditions", "conditions", "%s"),
                                      ("Command", "command", "`%s`"), ("Peers", "peers", "%s"))
             if key in result]
    parts = ["# %s\n" % result["title"], items(facts + ["Data: [%s.json](%s.json)" % (name, name)])]
    if result.get("about"):
        parts += ["\n".join(textwrap.wrap(result["about"], 100, break_long_words=False, break_on_hyphens=False)) + "\n"]
    if result.get("picture"):
        parts += ["![%s](%s)\n" % (result["title"], result["picture"])]
    if result.get("notes"):
        parts += ["## Notes\n", items(result["notes"])]
    for entry in result["tables"]:
        parts += ["## %s\n" % entry["title"], table(entry["rows"])]
    if result.get("experiments"):
        parts += ["## Experiments\n", table(result["experiments"])]
    return "\n".join(parts)


def main(arguments):
    check = "--check" in arguments
    different = 0
    for path in [a for a in arguments if a != "--check"]:
        with open(path, encoding="utf-8") as file:
            result = json.load(file)
        stem = os.path.splitext(path)[0]
        text = page(os.path.basename(stem), result)
        if check:
            with open(stem + ".md", encoding="utf-8") as file:
                same = file.read() == text
            if not same:
                print("%s.md differs from its data: run benchmarks/results/pages.py" % stem)
            different += not same
        else:
            with open(stem + ".md", "w", encoding="utf-8") as file:
                file.write(text)
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
