"""The oracle's own eyes: what differs is seen, what does not is not."""

import unittest

import numpy

from tests.oracle import compare
from tests.oracle import expand
from tests.oracle import outcome
from tests.oracle import program
from tests.oracle import rows
from tests.oracle import table
from tests.oracle import tensorflow_side
from tests.oracle import wording

nan, inf = numpy.nan, numpy.inf


def differ(a, b, dtype="float32", tol=1e-5):
    return compare.arrays(numpy.array(a, dtype), numpy.array(b, dtype), tol) is not None


class Arrays(unittest.TestCase):

    def test_values_within_the_tolerance_are_equal(self):
        self.assertFalse(differ([1, 1e6], [1 + 5e-6, 1e6 + 5]))
        self.assertTrue(differ([1], [1 + 2e-5]))
        self.assertTrue(differ([1e6], [1e6 + 20]))

    def test_nans_are_equal_and_infinities_keep_their_sign(self):
        self.assertFalse(differ([nan, inf, -inf], [nan, inf, -inf]))
        for a, b in ((nan, 1), (1, nan), (inf, -inf), (inf, 1e30), (nan, inf)):
            self.assertTrue(differ([a], [b]), (a, b))

    def test_of_odd_complex_numbers_only_oddness_counts(self):
        self.assertFalse(differ([complex(nan, 1)], [complex(2, nan)], "complex64"))
        self.assertFalse(differ([complex(inf, 1)], [complex(inf, nan)], "complex64"))
        self.assertTrue(differ([complex(nan, 1)], [complex(2, 1)], "complex64"))
        self.assertTrue(differ([complex(1, 2)], [complex(1, 2.1)], "complex64"))

    def test_integers_and_strings_are_exact(self):
        self.assertTrue(differ([2**40], [2**40 + 1], "int64"))
        self.assertFalse(differ([b"a"], [b"a"], object))
        self.assertTrue(differ([b"a"], [b"b"], object))

    def test_types_and_shapes_count(self):
        self.assertIn("dtype", compare.arrays(numpy.zeros(2, "int32"), numpy.zeros(2, "int64"), 0))
        self.assertIn("shape", compare.arrays(numpy.zeros(2), numpy.zeros((2, 1)), 0))


class Whole(unittest.TestCase):
    """A case of AddV2 in TensorFlow, and what is said of outcomes that we make up."""

    def setUp(self):
        row = table.Row("AddV2", [table.uniform(), table.uniform()], shapes=[(2, 3)], types={"T": "double"})
        self.case = expand.expand(row)[0]
        self.theirs = tensorflow_side.evaluate([self.case], numpy.random.default_rng(1))[0]

    def complaints(self, **changes):
        ours = {"shapes": self.theirs.shapes, "runs": self.theirs.runs, "gradients": self.theirs.gradients}
        return compare.complaints(self.case, outcome.Outcome(**{**ours, **changes}), self.theirs)

    def test_equal_outcomes_are_fine(self):
        self.assertEqual(self.complaints(), [])

    def test_values_shapes_gradients_and_failures_are_seen(self):
        wrong = [[self.theirs.runs[0][0] + 1]]
        self.assertRegex(self.complaints(runs=wrong)[0], "6 of 6 elements differ")
        self.assertRegex(self.complaints(shapes=[[2, None]])[0], "static shape")
        self.assertRegex(self.complaints(shapes=[[2, 4]])[0], "static shape")
        self.assertRegex(self.complaints(gradients=[[None, self.theirs.gradients[0][1]]])[0], "None")
        self.assertRegex(self.complaints(runs=[outcome.Failure("INTERNAL", "x")])[0], "failed: INTERNAL")
        self.assertRegex(self.complaints(built=outcome.Failure("NOT_FOUND", "x"))[0], "refused")

    def test_a_wrong_gradient_fails_the_numeric_check(self):
        wanted = self.case.builder.gradients_wanted[0]
        shift = {1: None, -1: None}
        for sign in shift:
            moved = [self.case.builder.feeds[x.name] + sign * compare.sluice_side.step("double") * d
                     for x, d in zip(wanted.xs, compare.sluice_side.directions(self.case, wanted))]
            shift[sign] = [moved[0] + moved[1]]
        shifted = [(shift[1], shift[-1])]
        self.assertEqual(self.complaints(shifted=shifted), [])
        wrong = [[g * 1.001 for g in self.theirs.gradients[0]]]
        self.assertTrue(any("numeric" in c for c in self.complaints(gradients=wrong, shifted=shifted)))


class Messages(unittest.TestCase):

    def test_the_key_phrase_lacks_places_names_and_numbers(self):
        for message, phrase in (
            ("ValueError: Shape must be rank 2 but is rank 1 for '{{node a}} = MatMul[T=DT_FLOAT](b)' with input "
             "shapes: [3].", "Shape must be rank"),
            ("Graph execution error:\n\nDetected at node 'c/op' defined at (most recent call last):\nNode: 'c/op'\n"
             "indices[1,0] = 7 is not in [0, 4)\n\t [[{{node c/op}}]] \n\nOriginal stack trace for 'c/op'",
             "is not in"),
            ("FIFOQueue 'c/q' is closed and has insufficient elements (requested 1, current size 0)",
             "is closed and has insufficient elements (requested"),
            ("Expects arg[0] to be float but int32 is provided", "is provided"),
            ("received empty tensor indices: Tensor<type: int32 shape: [0] values: >", "received empty tensor indices"),
            ("[1,2]", ""),
        ):
            self.assertEqual(wording.key_phrase(message), phrase)

    def test_a_message_without_the_phrase_is_seen(self):
        run = program.Run({}, [], [], error=True)
        theirs = outcome.Failure("INVALID_ARGUMENT", "Shape must be rank 2 but is rank 1")
        say = lambda text: list(compare.errors("MatMul", run, outcome.Failure("INVALID_ARGUMENT", text), theirs))
        self.assertEqual(say("MatMul node 'x': Shape must be rank 3 but is rank 4"), [])
        self.assertRegex(say("Shape must have rank 2")[0], "lacks TensorFlow's phrase 'Shape must be rank'")


class Rows(unittest.TestCase):

    def test_a_row_makes_types_times_shapes_and_variants(self):
        row = table.Row("Sinh", [table.uniform().edges(0, inf)], shapes=[(), (2,)], types={"T": ("float", "double")})
        self.assertEqual([c.id for c in expand.expand(row)], [
            "float ([])  known", "float ([])  unknown", "float ([])  const", "double ([])  known",
            "float ([2])  known", "float ([2])  unknown", "double ([2])  known",
            "edges float ([2])  known", "edges float ([2])  unknown", "edges double ([2])  known"])

    def test_types_come_from_tensorflows_kernels(self):
        types = {c["T"] for c in expand.type_combinations(table.Row("Sinh"), None)}
        self.assertEqual(types, {"half", "bfloat16", "float", "double", "complex64", "complex128"})

    def test_a_mistake_in_a_row_is_a_failure_of_that_row(self):
        found = {}
        rows.check_all([table.Row("Sinh", [table.uniform()], shapes=[(2,)], attrs=[{"nonsense": 1}])], 1,
                       lambda index, result, seconds: found.update({index: result}))
        self.assertIn("no attribute nonsense", found[0][0][1][0])

    def test_programs_infer_attributes_from_inputs(self):
        builder = program.Builder("", {"T": "float"}, "known", numpy.random.default_rng(0))
        builder.op("ConcatV2", [table.rand(2), table.rand(3)], 0)
        attrs = builder.nodes[-1].attr
        self.assertEqual((attrs["N"].i, attrs["T"].type, attrs["Tidx"].type), (2, 1, 3))

    def test_whole_numbers_wrap_and_strings_are_bytes(self):
        self.assertEqual(program.as_array([-1.0], "uint8").tolist(), [255])
        self.assertEqual(program.as_array(["ü"], "string").tolist(), ["ü".encode()])

