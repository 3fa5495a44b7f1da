"""What a script on a server reports, and a comparison of two such reports."""

import unittest

import numpy as np

from tests.oracle import wording


class Failure:
    """An error: its type, and the message."""

    def __init__(self, kind, message):
        self.kind, self.message = kind, message


class Story(list):
    """The reports of a script, in order.

    `say(label, value)` takes arrays, strings and lists of them. `fails(label, error, text, call)`
    runs `call`, which must raise `error` with `text` in its message.
    """

    def say(self, label, value):
        self.append((label, value))

    def failed(self, label, error):
        """An error whose message must contain the key phrase of the other server's."""
        self.append((label, Failure(type(error).__name__, error.message)))

    def fails(self, label, error, text, call):
        try:
            call()
        except error as e:
            self.append((label, (type(e).__name__, text if text in str(e) else str(e))))
        except Exception as e:  # pylint: disable=broad-except
            self.append((label, (type(e).__name__, str(e))))
        else:
            self.append((label, "no error"))


class StoryTestCase(unittest.TestCase):

    def assert_same_stories(self, theirs, ours, script):
        self.assertEqual([label for label, _ in theirs], [label for label, _ in ours])
        for (label, their_value), (_, our_value) in zip(theirs, ours):
            self.assert_same(their_value, our_value, "%s: %s" % (script, label))

    def assert_same(self, theirs, ours, where):
        self.assertEqual(type(theirs), type(ours), "%s: %s and %s" % (where, getattr(theirs, "message", theirs), getattr(ours, "message", ours)))
        if isinstance(theirs, Failure):
            self.assertEqual(theirs.kind, ours.kind, where)
            self.assertIn(wording.key_phrase(theirs.message), " ".join(ours.message.split()), where)
        elif isinstance(theirs, (list, tuple)):
            self.assertEqual(len(theirs), len(ours), where)
            for i, (a, b) in enumerate(zip(theirs, ours)):
                self.assert_same(a, b, "%s[%d]" % (where, i))
        elif isinstance(theirs, (np.ndarray, np.generic)) and theirs.dtype.kind in "fc":
            self.assertEqual((theirs.dtype, theirs.shape), (ours.dtype, ours.shape), where)
            np.testing.assert_allclose(theirs, ours, rtol=1e-5, atol=1e-5, err_msg=where)
        elif isinstance(theirs, (np.ndarray, np.generic)):
            self.assertEqual((theirs.dtype, theirs.shape), (ours.dtype, ours.shape), where)
            np.testing.assert_array_equal(theirs, ours, err_msg=where)
        else:
            self.assertEqual(theirs, ours, where)
