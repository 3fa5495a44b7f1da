"""Builds the site and reads it in a headless Chromium.

SITE_PICTURES=FOLDER writes a picture of each page that it reads.
"""

import functools
import http.server
import os
import subprocess
import sys
import tempfile
import threading
import unittest

SOURCES = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path[:0] = [os.path.join(SOURCES, "tools"), os.path.join(SOURCES, "docs/site")]

SLUICE = os.path.abspath("tools/sluice")
PICTURES = os.environ.get("SITE_PICTURES")

from browser import Browser  # pylint: disable=wrong-import-position
import links  # pylint: disable=wrong-import-position

SEARCH = """
const field = document.querySelector('input[name=query]');
field.focus();
field.value = arguments[0];
field.dispatchEvent(new InputEvent('input', {bubbles: true}));
field.dispatchEvent(new KeyboardEvent('keyup', {bubbles: true}));
"""
RESULTS = "return Array.from(document.querySelectorAll('a.md-search-result__link'), a => a.href)"
HEADING = "return document.readyState == 'complete' && document.querySelector('h1')?.firstChild?.textContent.trim()"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class SiteTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        built = subprocess.run([sys.executable, os.path.join(SOURCES, "docs/site/build.py"), cls.folder],
                               cwd=SOURCES, capture_output=True, text=True, check=False)
        cls.built = built.returncode, built.stdout + built.stderr
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=cls.folder))
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.addClassCleanup(cls.server.server_close)
        cls.addClassCleanup(cls.server.shutdown)
        cls.browser = cls.enterClassContext(Browser())

    def open(self, page, heading):
        self.browser.open("http://127.0.0.1:%d/%s" % (self.server.server_port, page))
        self.assertEqual(self.browser.wait(HEADING), heading)

    def picture(self, name):
        if PICTURES:
            os.makedirs(PICTURES, exist_ok=True)
            self.browser.picture(os.path.join(PICTURES, name + ".png"))

    def test_the_pages_of_ops_are_those_of_the_registry(self):
        pages = subprocess.run([SLUICE, "ops", "--markdown"], capture_output=True, text=True, check=True).stdout
        with open(os.path.join(SOURCES, "docs/site/op_pages.txt"), encoding="utf-8") as file:
            self.assertTrue(file.read() == pages, "tests/oracle/ops_page writes docs/site/op_pages.txt again")

    def test_every_link_leads_somewhere(self):
        self.assertEqual(self.built[0], 0, self.built[1])

    def test_a_search_finds_the_page_of_an_op(self):
        self.open("index.html", "Sluice")
        self.picture("start")
        self.browser.run(SEARCH, "Conv2DBackpropFilter")
        results = self.browser.wait(RESULTS)
        self.picture("search")
        self.assertIn("/docs/ops/Conv2DBackpropFilter.html", results[0])
        self.browser.run("document.querySelector('a.md-search-result__link').click()")
        self.assertEqual(self.browser.wait(HEADING + " == 'Conv2DBackpropFilter'"), True)

    def test_links_lead_from_the_start_to_the_api(self):
        self.open("index.html", "Sluice")
        for link, heading in (("docs/graph.html", "Building graphs"), ("api/index.html", "API reference"),
                              ("executor/session/session.html", "executor/session/session.h")):
            self.assertTrue(self.browser.run(
                "const a = document.querySelector(`a[href$='${arguments[0]}']`); a?.click(); return Boolean(a)", link), link)
            self.assertEqual(self.browser.wait(HEADING + " == arguments[0]", heading), True, heading)
        self.picture("api")
        # "Thread safety" is a label, not the class Thread.
        links_of_labels = self.browser.run("return Array.from(document.querySelectorAll('article strong a'), a => a.innerText)")
        self.assertEqual(links_of_labels, [])

    def test_a_constructor_is_shown_without_initializers(self):
        self.open("api/training/sync/sync_replicas_optimizer.html", "training/sync/sync_replicas_optimizer.h")
        text = self.browser.run("return document.querySelector('article').innerText")
        self.assertIn("template <std::derived_from<Optimizer> O>\nSyncReplicasOptimizer(O optimizer, SyncReplicasOptions options);", text)

    def test_the_table_of_ops_fits_on_the_page(self):
        self.open("docs/ops.html", "Ops")
        hidden = self.browser.run("const t = document.querySelector('.md-typeset__scrollwrap'); return t.scrollWidth - t.clientWidth")
        self.assertLessEqual(hidden, 0)

    def test_an_op_page_has_all_parts(self):
        self.open("docs/ops/MatMul.html", "MatMul")
        self.picture("op")
        text = self.browser.run("return document.querySelector('article').innerText")
        for part in ("product of two matrices", "transpose_a: bool = false", "Output MatMul(Output a, Output b", "bfloat16",
                     "Gradient: defined", "ops/matmul", "Example"):
            self.assertIn(part, text)

    def test_guides_and_reference_are_shown(self):
        for page in ("docs/ops", "docs/training", "docs/internals", "docs/tutorial"):
            if os.path.exists(os.path.join(SOURCES, page + ".md")):
                self.browser.open("http://127.0.0.1:%d/%s.html" % (self.server.server_port, page))
                self.assertTrue(self.browser.wait(HEADING), page)
                self.picture(os.path.basename(page))


class LinksTest(unittest.TestCase):
    def test_broken_links_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "a.html"), "w", encoding="utf-8") as file:
                file.write('<p id="x"><a href="b.html"><a href="#x"><a href="a.html#y"><a href="https://a.b/c"><img src="d.svg">')
            self.assertEqual(links.broken(folder), ["a.html: nothing is at a.html#y", "a.html: nothing is at b.html",
                                                    "a.html: nothing is at d.svg"])


if __name__ == "__main__":
    unittest.main()
