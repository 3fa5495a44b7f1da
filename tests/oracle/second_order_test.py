"""Second-order gradients of the rows' ops equal TensorFlow's and the numeric ones."""

import os
import unittest

import numpy

from tests.oracle import expand
from tests.oracle import outcome
from tests.oracle import rows
from tests.oracle import second_order
from tests.oracle import sluice_side

FAMILIES = os.environ["SLUICE_ORACLE_FAMILIES"].split(",")
CASES_A_ROW = 4
# TensorFlow has second-order gradients of these ops, so we must have them, too.
REQUIRED = ("Add AddV2 Sub Mul RealDiv Square Sqrt Exp Log Tanh Sigmoid Sin Pow MatMul BatchMatMulV2 Conv2D Sum Mean Prod Max "
            "Softmax LogSoftmax Relu Elu Softplus BiasAdd GatherV2 ConcatV2 Reshape Transpose").split()


class SecondOrder(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.runner = sluice_side.Runner()
        cls.checked = {}  # op -> cases that both sides differentiated twice

    @classmethod
    def tearDownClass(cls):
        cls.runner.stop()
        print("%d cases of %d ops compared with TensorFlow" % (sum(cls.checked.values()), len(cls.checked)))

    def check(self, row):
        cases = second_order.cases_of(row, CASES_A_ROW)
        rows.drop_gradients_without_reference(row, cases)
        cases = [c for c in cases if c.builder.gradients_wanted]
        if not cases:
            return
        for second in second_order.in_tensorflow(cases, numpy.random.default_rng(expand.seed(row, "second"))):
            with self.subTest(second.case.id):
                found = second_order.complaints(self.runner, second)
                self.assertEqual(found, [], "\n".join(found))
            if not isinstance(second.theirs, outcome.Failure):
                self.checked[row.op] = self.checked.get(row.op, 0) + 1

    def test_z_required_ops_were_checked(self):
        here = {row.op for family in FAMILIES for _, row in rows.load(family)}
        missing = [op for op in REQUIRED if op in here and op not in self.checked]
        self.assertEqual(missing, [])


def add_tests():
    for family in FAMILIES:
        for file, row in rows.load(family):
            name = "test_%s_%s" % (file, row.id)
            while hasattr(SecondOrder, name):
                name += "_"
            setattr(SecondOrder, name, lambda self, row=row: self.check(row))


add_tests()
