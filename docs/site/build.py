"""Builds the site from the Markdown files, docs/site/op_pages.txt and the public headers.

  build.py FOLDER    the site is FOLDER/index.html

Runs in the root of the source tree. Ends with 1 if a link leads nowhere, or if a page of docs/ is
not in docs/index.md, whose lists are the navigation, or if a diagram differs from its text.
"""

import glob
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import api_pages
import links

LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")


def copy_pages(pages):
    """Copies the pages that README.md and docs/index.md lead to, and the files that they link."""
    found = ["README.md", "docs/index.md"]
    for path in found:
        os.makedirs(os.path.join(pages, os.path.dirname(path)), exist_ok=True)
        shutil.copyfile(path, os.path.join(pages, path))
        if not path.endswith(".md"):
            continue
        with open(path, encoding="utf-8") as file:
            targets = [target.partition("#")[0] for _, target in LINK.findall(file.read())]
        linked = [os.path.normpath(os.path.join(os.path.dirname(path), target)) for target in targets]
        found += [new for new in dict.fromkeys(linked) if os.path.isfile(new) and new not in found]


def examples():
    """The samples in docs/samples that are named after an op."""
    found = {}
    for path in sorted(glob.glob("docs/samples/*.cc")):
        with open(path, encoding="utf-8") as file:
            for name, code in re.findall(r"^ *// \[([A-Z]\w+)\]\n(.*?)^ *// \[/\1\]\n", file.read(), re.S | re.M):
                found[name] = re.sub("^  ", "", code, flags=re.M)
    return found


def write_op_pages(pages):
    """Writes a page per op, and links it in the table of docs/ops.md."""
    with open("docs/site/op_pages.txt", encoding="utf-8") as file:
        text = file.read()
    example = examples()
    os.makedirs(os.path.join(pages, "docs/ops"))
    names = set()
    for part in text.split("\n## ")[1:]:
        name = part.partition("\n")[0]
        names.add(name)
        if name in example:
            part += "\n## Example\n\n```cpp\n%s```\n" % example[name]
        with open(os.path.join(pages, "docs/ops", name + ".md"), "w", encoding="utf-8") as file:
            file.write("# %s\n[All ops](../ops.md)\n" % part)
    table = os.path.join(pages, "docs/ops.md")
    with open(table, encoding="utf-8") as file:
        rows = file.read()
    link = lambda row: "| [%s](ops/%s.md) |" % (row[1], row[1]) if row[1] in names else row[0]
    with open(table, "w", encoding="utf-8") as file:
        # Without the empty list of headings, the wide table fits on the page.
        file.write("---\nhide: [toc]\n---\n" + re.sub(r"^\| (\w+) \|", link, rows, flags=re.M))


def navigation(headers):
    """The lists of docs/index.md, and the headers by folder."""
    with open("docs/index.md", encoding="utf-8") as file:
        text = file.read()
    menus = [{"Sluice": ["README.md", {"Documentation": "docs/index.md"}]}]
    for heading, items in re.findall(r"^(\w[^\n]*):\n\n((?:[-\d ].*\n)+)", text, re.M):
        menus.append({heading: [{title: os.path.normpath("docs/" + path)} for title, path in LINK.findall(items)]})
    folders = itertools.groupby(sorted(headers, key=os.path.dirname), key=os.path.dirname)
    by_folder = [{folder: [{os.path.basename(h): "api/" + h.removesuffix(".h") + ".md"} for h in group]}
                 for folder, group in folders]
    return menus + [{"API": ["api/README.md", *by_folder]}]


def missing_pages():
    with open("docs/index.md", encoding="utf-8") as file:
        linked = {os.path.normpath("docs/" + path) for _, path in LINK.findall(file.read())}
    return [page for page in sorted(glob.glob("docs/*.md")) if page != "docs/index.md" and page not in linked]


def stale_pictures():
    """Pictures whose words differ from those that their text in docs/pictures/*.dot draws."""
    words = lambda svg: re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    for text in sorted(glob.glob("docs/pictures/*.dot")):
        drawn = subprocess.run(["dot", "-Tsvg", text], capture_output=True, text=True, check=True).stdout
        picture = text.removesuffix(".dot") + ".svg"
        with open(picture, encoding="utf-8") as file:
            if words(file.read()) != words(drawn):
                yield "%s is older than its text: dot -Tsvg %s -o %s" % (picture, text, picture)


def build(folder, work):
    """Writes the site into `folder`. Returns MkDocs's complaints."""
    pages = os.path.join(work, "pages")
    copy_pages(pages)
    write_op_pages(pages)
    headers = api_pages.write(os.path.join(pages, "api"), os.path.join(work, "doxygen"))
    shutil.copy("docs/site/site.css", pages)
    settings = {"INHERIT": os.path.abspath("docs/site/mkdocs.yml"), "docs_dir": pages, "nav": navigation(headers)}
    config = os.path.join(work, "mkdocs.yml")
    with open(config, "w", encoding="utf-8") as file:
        json.dump(settings, file)
    built = subprocess.run(["mkdocs", "build", "--strict", "--config-file", config, "--site-dir", folder],
                           capture_output=True, text=True)
    # Other lines list all pages of ops, which the navigation does not contain.
    output = re.sub(r"\x1b\[\d*m", "", built.stdout + built.stderr)
    return re.findall(r"(?:WARNING|ERROR) .*", output) or built.returncode * [built.stderr]


def main(folder):
    problems = ["docs/index.md does not link %s" % page for page in missing_pages()]
    problems += stale_pictures()
    with tempfile.TemporaryDirectory() as work:
        problems += build(os.path.abspath(folder), work)
    problems += links.broken(folder)
    print("\n".join(problems) or "%d pages in %s" % (len(links.pages(folder)), folder))
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
