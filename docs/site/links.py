"""Finds links of HTML pages that lead to no file or to no place in a page."""

import glob
import html
import os
import re
import urllib.parse

LINK = re.compile(r'<(?:a|img|link|script)\b[^>]*?\b(?:href|src)="([^"]*)"')
PLACE = re.compile(r'\bid="([^"]*)"')


def pages(folder):
    return sorted(glob.glob(os.path.join(folder, "**/*.html"), recursive=True))


def broken(folder):
    """Returns a line for each link of a page in `folder` that leads nowhere in it."""
    places, links, found = {}, {}, []
    for page in pages(folder):
        with open(page, encoding="utf-8") as file:
            text = file.read()
        places[page] = set(PLACE.findall(text))
        links[page] = {urllib.parse.unquote(html.unescape(link)) for link in LINK.findall(text)}
    for page in links:
        if os.path.basename(page) == "404.html":
            continue  # its links are absolute
        for link in sorted(links[page]):
            path, _, place = link.partition("#")
            if re.match(r"\w+:|//", path):
                continue
            target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            if os.path.isdir(target):
                target = os.path.join(target, "index.html")
            if not os.path.isfile(target) or place and target in places and place not in places[target]:
                found.append("%s: nothing is at %s" % (os.path.relpath(page, folder), link))
    return found
