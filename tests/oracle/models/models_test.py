"""Models with their train ops: 100 steps from a MetaGraph that TensorFlow exports, and of the same model built in C++, give
TensorFlow's losses."""

import os
import subprocess
import tempfile
import unittest

import numpy

from tests.oracle.models import images
from tests.oracle.models import model
from tests.oracle.models import tables
from tests.oracle.models import text

ROOT = os.environ.get("SLUICE_ORACLE_ROOT", "")
SLUICE = os.path.join(ROOT, "tools/sluice")
TRAIN = os.path.join(ROOT, "demos/models/train")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0:
        raise AssertionError("%s: exit %d\n%s%s" % (command[0], done.returncode, done.stdout[-2000:], done.stderr[-2000:]))


def built_in_cpp(name, folder):
    """The feeds of the model with that name (tensor -> one row per step), and its losses in order.
    """
    run(TRAIN, "--model=" + name, "--steps=%d" % model.STEPS, "--out=" + folder)
    with numpy.load(os.path.join(folder, name + ".npz")) as out:
        feeds = {key[:-len("#steps")]: out[key] for key in out if key.endswith("#steps")}
        return feeds, [out[key] for key in sorted(out) if key.startswith("loss_")]


def imported(made, feeds, folder):
    """Sluice's losses for the exported graph."""
    path = lambda name: os.path.join(folder, name)
    with open(path("graph.meta"), "wb") as file:
        file.write(made.meta_graph().SerializeToString())
    numpy.savez(path("feeds.npz"), **{name + "#steps": rows for name, rows in feeds.items()})
    run(SLUICE, "run", path("graph.meta"), "--feeds", path("feeds.npz"), "--fetches", ",".join(made.losses), "--targets",
        made.train, "--init", made.init, "--steps", str(model.STEPS), "--out", path("out.npz"))
    with numpy.load(path("out.npz")) as out:
        return [out[name + "#steps"] for name in made.losses]


class Models(unittest.TestCase):

    def check_losses(self, how, found, expected):
        self.assertEqual(len(found), len(expected))
        worst = max(numpy.max(numpy.abs(f / e - 1)) for f, e in zip(found, expected))
        print("%s, %s: losses differ by %.0e at most" % (self.id().rpartition("test_")[2], how, worst))
        for losses, wanted in zip(found, expected):
            numpy.testing.assert_allclose(losses, wanted, rtol=1e-4)

    def check(self, function):
        made = model.build(function)
        with tempfile.TemporaryDirectory() as folder:
            feeds, in_cpp = built_in_cpp(function.__name__, folder)
            self.assertEqual(sorted(feeds), sorted(made.inputs))
            expected = list(made.run(feeds).values())
            for losses in expected:
                self.assertEqual(losses.shape, (model.STEPS,))
                self.assertGreater(numpy.ptp(losses), 0.01, "the model learns nothing")
            with self.subTest("imported"):
                self.check_losses("imported", imported(made, feeds, folder), expected)
            with self.subTest("built in C++"):
                self.check_losses("built in C++", in_cpp, expected)


def add_tests():
    for function in images.MODELS + text.MODELS + tables.MODELS:
        setattr(Models, "test_" + function.__name__, lambda self, f=function: self.check(f))


add_tests()
