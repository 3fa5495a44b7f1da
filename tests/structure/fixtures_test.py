"""fixtures.txt, with which the C++ tests compare Sluice's graphs, equals TensorFlow's present
graphs."""

import unittest

from tests.structure import make_fixtures


def by_title(lines):
    """Title -> lines of the fixture."""
    fixtures = {}
    for text in lines:
        if text.startswith("== "):
            fixtures[text[3:]] = []
        else:
            fixtures[next(reversed(fixtures))].append(text)
    return fixtures


class Fixtures(unittest.TestCase):

    def test_are_what_tensorflow_makes(self):
        with open("tests/structure/fixtures.txt", encoding="utf-8") as file:
            written = by_title(file.read().splitlines())
        made = by_title(make_fixtures.lines())
        self.assertEqual(list(written), list(made))
        for title, lines in made.items():
            with self.subTest(title):
                self.assertEqual(written[title], lines)
