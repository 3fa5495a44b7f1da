"""Models with their train ops, exported by TensorFlow as MetaGraphs: 100 steps in `sluice run` give TensorFlow's losses."""

import os
import subprocess
import tempfile
import unittest

import numpy

from tests.oracle.models import images
from tests.oracle.models import model
from tests.oracle.models import tables
from tests.oracle.models import text

SLUICE = os.path.join(os.environ.get("SLUICE_ORACLE_ROOT", ""), "tools/sluice")


def run_sluice(made, folder):
    """The losses that Sluice gives for the exported graph: name -> a number a step."""
    path = lambda name: os.path.join(folder, name)
    with open(path("graph.meta"), "wb") as file:
        file.write(made.meta_graph().SerializeToString())
    numpy.savez(path("feeds.npz"), **{name + "#steps": rows for name, rows in made.feeds.items()})
    done = subprocess.run(
        [SLUICE, "run", path("graph.meta"), "--feeds", path("feeds.npz"), "--fetches", ",".join(made.losses), "--targets",
         made.train, "--init", made.init, "--steps", str(model.STEPS), "--out", path("out.npz")],
        capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        raise AssertionError("sluice run: exit %d\n%s%s" % (done.returncode, done.stdout[-2000:], done.stderr[-2000:]))
    with numpy.load(path("out.npz")) as out:
        return {name: out[name + "#steps"] for name in made.losses}


class ImportedModels(unittest.TestCase):

    def check(self, function):
        made = model.build(function)
        expected = made.run()
        with tempfile.TemporaryDirectory() as folder:
            found = run_sluice(made, folder)
        for name in made.losses:
            self.assertEqual(expected[name].shape, (model.STEPS,))
            self.assertGreater(numpy.ptp(expected[name]), 0.01, "the model learns nothing")
            worst = numpy.max(numpy.abs(found[name] / expected[name] - 1))
            print("%s %s: losses differ by %.1e at most" % (function.__name__, name, worst))
            numpy.testing.assert_allclose(found[name], expected[name], rtol=1e-4)


def add_tests():
    for function in images.MODELS + text.MODELS + tables.MODELS:
        setattr(ImportedModels, "test_" + function.__name__, lambda self, f=function: self.check(f))


add_tests()
