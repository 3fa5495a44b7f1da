"""Writes a Markdown page per public header, from Doxygen's XML and the declarations in the header."""

import collections
import os
import re
import subprocess
import xml.etree.ElementTree

import comments

UMBRELLAS = ("sluice.h", "sluice_cluster.h")
INCLUDE = re.compile(r'#include "([^"]+)"')
# A line of a comment that begins with such a word is a paragraph of its own.
LABEL = re.compile(r"^(Thread safety|Ownership|Lifetime|Errors?|Reference|Units|Shapes?): ")
Doc = collections.namedtuple("Doc", "kind name file line text")


def included(path):
    with open(path, encoding="utf-8") as file:
        return [name for name in INCLUDE.findall(file.read()) if os.path.exists(name)]


def public_headers():
    """The headers that sluice.h and sluice_cluster.h include, and those that these include."""
    direct = [header for umbrella in UMBRELLAS for header in included(umbrella)]
    return sorted(set(direct).union(*(included(header) for header in direct)))


def run_doxygen(headers, folder):
    """Writes Doxygen's XML about `headers` into <folder>/xml."""
    with open("docs/site/Doxyfile", encoding="utf-8") as file:
        settings = file.read() + "INPUT = %s\n" % " ".join(headers)
    for header in headers:
        path = os.path.join(folder, header)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(header, encoding="utf-8") as source, open(path, "w", encoding="utf-8") as file:
            file.write(comments.marked(source.read()))
    subprocess.run(["doxygen", "-"], input=settings, text=True, cwd=folder, check=True)


def text_of(element):
    return "\n".join(v.text.strip("\n") for v in element.findall("detaileddescription//verbatim")).strip()


def doc_of(element, name):
    at = element.find("location")
    return Doc(element.get("kind"), name, at.get("file"), int(at.get("line")), text_of(element))


def read_docs(folder):
    """Returns the public declarations by scope. The namespace has the scope ""."""
    scopes = collections.defaultdict(list)
    for name in sorted(os.listdir(folder)):
        for compound in xml.etree.ElementTree.parse(os.path.join(folder, name)).getroot().findall("compounddef"):
            kind, full = compound.get("kind"), compound.findtext("compoundname")
            if kind not in ("class", "struct", "namespace") or "internal" in full:
                continue
            scope = full.removeprefix("sluice").removeprefix("::") if kind != "namespace" else ""
            if scope and compound.get("prot") == "public" and "<" not in scope:
                scopes[""].append(doc_of(compound, scope))
            scopes[scope] += [
                doc_of(member, member.findtext("name")) for member in compound.iter("memberdef")
                if member.get("prot") == "public" and member.get("kind") != "friend"
            ]
    return scopes


class Header:
    """The lines of a header, with and without comments."""

    def __init__(self, path):
        self.path = path
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.comment = re.sub("^// ?", "", re.match(r"(//.*\n)*", text)[0], flags=re.M)
        self.raw = text.split("\n")
        self.lines = [re.sub(r"\s*//.*", "", line) for line in self.raw]

    def first_line(self, line):
        """The first line of the declaration that contains `line`. Lines count from 1."""
        while line > 1 and re.search(r"[^;{}:\s]\s*$", self.lines[line - 2]) and self.lines[line - 2][0] != "#":
            line -= 1
        return line

    def bases(self, line):
        """The head of the class that is declared on `line`, if it has base classes."""
        head = " ".join(self.lines[line - 1:line + 2]).partition("{")[0].strip()
        return "```cpp\n%s\n```\n\n" % head if " : " in head else ""

    def declaration(self, doc):
        """The text of a declaration, without a body, and its last line."""
        first = self.first_line(doc.line)
        text, depth, end = "", 0, first
        indent = len(self.lines[first - 1]) - len(self.lines[first - 1].lstrip())
        while end <= len(self.lines):
            for c in self.lines[end - 1][indent:] + "\n":
                depth += (c in "({[") - (c in ")}]")
                is_body = c == "{" and depth == 1 and doc.kind == "function" and ")" in text
                is_initializer = c == ":" and depth == 0 and re.search(r"\)\s+$", text)
                if c == ";" and depth == 0 or is_body or is_initializer:
                    if is_body or is_initializer:
                        return text.rstrip() + ";", self.body_end(end)
                    return self.with_comment(text + ";", end, indent)
                text += c
            end += 1
        return text, end

    def with_comment(self, text, line, indent):
        """Appends the comment behind the declaration that ends on `line`. Returns also its last line."""
        column = self.raw[line - 1].find("//")
        if column < 0 or "NOLINT" in self.raw[line - 1]:
            return text, line
        text += self.raw[line - 1][len(self.lines[line - 1]):]
        while not self.lines[line].strip() and self.raw[line].find("//") == column:
            text += "\n" + self.raw[line][indent:]
            line += 1
        return text, line

    def body_end(self, line):
        """The last line of the function body that begins on `line`."""
        depth, opened = 0, False
        for at in range(line, len(self.lines) + 1):
            for c in self.lines[at - 1]:
                depth += (c in "({") - (c in ")}")
                opened = opened or c == "{"
            if opened and depth == 0:
                return at
        return line


def markdown(text):
    """A comment as Markdown: an indented paragraph is code."""
    out, in_code = [], False
    for line in text.split("\n"):
        is_code = line.startswith("  ") and (in_code or not out or not out[-1] or out[-1].startswith("```"))
        if is_code != in_code and (line or not in_code):
            out.append("\n```cpp" if is_code else "```\n")
            in_code = is_code
        if in_code:
            out.append(line[2:])
            continue
        line = re.sub(r"(`[^`]*`)|([*<_])", lambda m: m[1] or ("&lt;" if m[2] == "<" else "\\" + m[2]), line)
        label = LABEL.match(line)
        out.append("\n**%s:** %s" % (label[1], line[label.end():]) if label else line)
    text = "\n".join(out + ["```"] if in_code else out) + "\n"
    return re.sub(r"\n\n```\n\n", "\n```\n\n", text)


class Links:
    """Turns the first mention of a documented class in a text into a link."""

    def __init__(self, classes):
        found = collections.Counter(doc.name for doc in classes)
        self.page = {doc.name: doc.file for doc in classes if found[doc.name] == 1 and "::" not in doc.name}

    def add(self, text, page, own):
        linked = {own}

        def link(match):
            name = match["name"]
            # A word at the start of a sentence, a label or the text after code may be no name.
            before = text[:match.start()].rstrip(" \n*")
            starts = name and name == name.capitalize() and (before[-1:] in (".", ":", "") or before.endswith("```"))
            if not name or name in linked or name not in self.page or starts:
                return match[0]
            linked.add(name)
            target = os.path.relpath(self.page[name], os.path.dirname(page))
            return "[%s](%s.md#%s)" % (name, target.removesuffix(".h"), name)

        return re.sub(r"```.*?```|`[^`]*`|(?<![\w:.])(?P<name>[A-Z]\w+)(?![\w:])", link, text, flags=re.S)


def groups(docs, header):
    """Lists of declarations with one comment: one without a comment belongs to the line above it."""
    last = None
    group = []
    for doc in sorted(docs, key=lambda doc: doc.line):
        text, end = header.declaration(doc)
        if group and (doc.text or header.first_line(doc.line) != last + 1):
            yield group
            group = []
        group.append((doc, text))
        last = end
    if group:
        yield group


def group_text(group, links, page, own=None):
    code = "\n".join(text for _, text in group)
    comment = "\n\n".join(doc.text for doc, _ in group if doc.text)
    return "```cpp\n%s\n```\n\n%s\n" % (code, links.add(markdown(comment), page, own))


def page_text(header, scopes, links):
    path = header.path
    text = "# %s\n\n%s\n" % (path, links.add(markdown(header.comment), path, None))
    here = [doc for doc in scopes[""] if doc.file == path]
    kinds = ("class", "struct")
    parts = [(doc.line, [(doc, None)]) for doc in here if doc.kind in kinds]
    parts += [(group[0][0].line, group) for group in groups([d for d in here if d.kind not in kinds], header)]
    for _, group in sorted(parts, key=lambda part: part[0]):
        doc = group[0][0]
        text += "## %s {#%s}\n\n" % (doc.name, doc.name.replace("::", "."))
        if doc.kind not in kinds:
            text += group_text(group, links, path)
            continue
        text += header.bases(doc.line) + links.add(markdown(doc.text), path, doc.name) + "\n"
        for members in groups(scopes[doc.name], header):
            text += group_text(members, links, path, doc.name)
    return text


def first_sentence(text):
    paragraph = re.split(r"\n\s*\n|\n  ", text)[0].replace("\n", " ").strip()
    return re.split(r"(?<=[.:]) (?=[A-Z])", paragraph)[0].rstrip(":.")


def write(folder, work):
    """Writes the pages into `folder`. Returns the headers, sorted."""
    headers = public_headers()
    run_doxygen(headers, work)
    scopes = read_docs(os.path.join(work, "xml"))
    links = Links([doc for doc in scopes[""] if doc.kind in ("class", "struct")])
    index = "# API reference\n\nThe headers of `sluice.h` and `sluice_cluster.h`, and those that they " \
            "include. [All ops](../docs/ops.md) describes the functions that add single ops.\n\n" \
            "| header | contents |\n| --- | --- |\n"
    for path in headers:
        header = Header(path)
        page = os.path.join(folder, path.removesuffix(".h") + ".md")
        os.makedirs(os.path.dirname(page), exist_ok=True)
        with open(page, "w", encoding="utf-8") as file:
            file.write(page_text(header, scopes, links))
        summary = markdown(first_sentence(header.comment)).strip().replace("|", "\\|")
        index += "| [%s](%s.md) | %s |\n" % (path, path.removesuffix(".h"), summary)
    with open(os.path.join(folder, "README.md"), "w", encoding="utf-8") as file:
        file.write(index)
    return headers
