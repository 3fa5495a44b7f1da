"""What a script on a server reports, and a comparison of two such reports."""

import unittest

import numpy as np


class Story(list):
    """The reports of a script, in order.

    `say(label, value)` takes arrays, strings and lists of them. `fails(label, error, text, call)`
    runs `call`, which must raise `error` with `text` in its message.
    """

    def say(self, label, value):
        self.append((label, value))

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
        self.assertEqual(type(theirs), type(ours), where)
        if isinstance(theirs, (list, tuple)):
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
