"""Every linked op has oracle rows, the same declaration as in TensorFlow, and a gradient if
TensorFlow has one."""

import itertools
import os
import re
import struct
import subprocess
import unittest

from tensorflow.python.client import pywrap_tf_session
from tensorflow.python.framework import tensor_util
from tensorflow.core.framework import op_def_pb2
from tensorflow.python.framework import op_def_registry
from tensorflow.python.framework import ops

from tests.oracle import expand
from tests.oracle import program
from tests.oracle import rows
from tests.oracle import sluice_side

DIFFERENCES = "docs/differences.md"
REQUIRED = "tests/oracle/required_ops.txt"
MISSING = "docs/missing_ops.md"


def ask_for_ops():
    """case_runner's answer."""
    request_class, answer_class = sluice_side.messages()
    data = request_class(list_ops=True).SerializeToString()
    done = subprocess.run([os.path.join(sluice_side.ROOT, "tests/oracle/case_runner")],
                          input=struct.pack("<I", len(data)) + data, stdout=subprocess.PIPE, check=True)
    return answer_class.FromString(done.stdout[4:])


def our_kernels(answer):
    """Op name -> [{attr: set of type names}]."""
    found = {}
    for kernel in answer.kernel:
        types = {c.attr: {program.type_name(t) for t in c.type} for c in kernel.constraint}
        found.setdefault(kernel.op, []).append(types)
    return found


def missing_kernels(op, ours):
    """Combinations of types that TensorFlow has a CPU kernel for and we have not."""
    missing = set()
    for kernel in expand.kernel_types(op):
        names = sorted(kernel)
        for combination in itertools.product(*(kernel[n] for n in names)):
            wanted = dict(zip(names, combination))
            if not any(all(wanted.get(a, t) in types for a, types in mine.items() for t in [next(iter(types))])
                       for mine in ours):
                missing.add(",".join("%s=%s" % item for item in wanted.items()))
    return missing


def listed(section):
    """Names in backquotes at the start of the list items of a section of docs/differences.md."""
    with open(DIFFERENCES, encoding="utf-8") as file:
        text = file.read()
    part = re.search(r"^## %s\n(.*?)(?=^## |\Z)" % re.escape(section), text, re.MULTILINE | re.DOTALL)
    return set(re.findall(r"^- `([^`]+)`", part.group(1), re.MULTILINE)) if part else set()


def argument(arg):
    return (arg.name, program.type_name(arg.type) if arg.type else "", arg.type_attr, arg.number_attr,
            arg.type_list_attr, arg.is_ref)


def attribute(attr):
    value = lambda v: text(v) if v is not None else None
    allowed = attr.allowed_values.list
    return (attr.type, value(attr.default_value if attr.HasField("default_value") else None),
            attr.minimum if attr.has_minimum else None, sorted(set(allowed.type)), sorted(allowed.s))


def text(attr_value):
    """A value as text that does not depend on how a tensor or float is encoded."""
    if attr_value.WhichOneof("value") == "tensor":
        array = tensor_util.MakeNdarray(attr_value.tensor)
        return "%s %s" % (array.dtype, array.tolist())
    return "empty list" if attr_value.WhichOneof("value") == "list" and not attr_value.list.ByteSize() else str(attr_value)


def declaration(op):
    """The properties of an OpDef that must be equal: {property: value}."""
    rows_ = {"inputs": [argument(a) for a in op.input_arg], "outputs": [argument(a) for a in op.output_arg]}
    rows_.update({"attr " + a.name: attribute(a) for a in op.attr})
    for flag in ("is_stateful", "is_commutative", "is_aggregate", "allows_uninitialized_input",
                 "is_distributed_communication"):
        rows_[flag] = getattr(op, flag)
    rows_["deprecated at"] = op.deprecation.version
    return rows_


def tensorflow_gradient(op):
    """"none registered", "not differentiable" or "gradient"."""
    try:
        return "not differentiable" if ops.gradient_registry.lookup(op) is None else "gradient"
    except LookupError:
        return "none registered"


def tensorflow_ops():
    """Names of all ops of TensorFlow."""
    buffer = pywrap_tf_session.TF_GetAllOpList()
    return [op.name for op in op_def_pb2.OpList.FromString(pywrap_tf_session.TF_GetBuffer(buffer)).op]


class Registry(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        answer = ask_for_ops()
        cls.ops = {op.name: op for op in op_def_pb2.OpList.FromString(answer.op_list).op}
        cls.differentiable, cls.not_differentiable = set(answer.differentiable), set(answer.not_differentiable)
        cls.kernels = our_kernels(answer)
        cls.with_rows = {row.op for _, row in rows.load("*")}

    def test_required_ops_are_there(self):
        with open(REQUIRED, encoding="utf-8") as file:
            required = {op for line in file if not line.startswith("#") for op in line.split()}
        self.assertGreater(len(required), 800)
        self.assertEqual(sorted(required - set(self.ops)), [])
        # All ops for which TensorFlow has kernels must have kernels. The test below checks their
        # types.
        without = sorted(op for op in required if expand.kernel_types(op) and not self.kernels.get(op))
        self.assertEqual(sorted(set(without) - listed("Kernels")), [])

    def test_ops_that_are_left_out_are_listed(self):
        with open(MISSING, encoding="utf-8") as file:
            paragraphs = file.read().split("\n\n")
        listed_ones = {name for p in paragraphs if p.startswith("`") for name in re.findall(r"`([^`]+)`", p)}
        unlisted = sorted(name for name in tensorflow_ops() if name not in self.ops and name not in listed_ones)
        self.assertEqual(unlisted, [], "ops of TensorFlow that are neither here nor in " + MISSING)
        self.assertEqual(sorted(listed_ones & set(self.ops)), [], "ops that are here, but also in " + MISSING)

    def test_every_op_has_rows(self):
        exempt = listed("Ops without oracle rows")
        for op in self.ops:
            with self.subTest(op):
                self.assertTrue(op in self.with_rows or op in exempt,
                                "%s has no row in tests/oracle/cases" % op)

    def test_rows_are_of_ops_that_exist(self):
        for op in sorted(self.with_rows):
            with self.subTest(op):
                self.assertTrue(op in self.ops, "rows of %s, which is no op here" % op)

    def test_declarations_equal_tensorflows(self):
        exempt = listed("Declarations")
        for op, ours in self.ops.items():
            with self.subTest(op):
                theirs = op_def_registry.get(op)
                if op in exempt:
                    continue
                self.assertIsNotNone(theirs, "TensorFlow has no op " + op)
                our, their = declaration(ours), declaration(theirs)
                found = ["%s: %s, TensorFlow's %s" % (k, our.get(k), their.get(k))
                         for k in sorted(set(our) | set(their)) if our.get(k) != their.get(k)]
                self.assertEqual(found, [], "\n".join(found))

    def test_kernels_for_tensorflows_types(self):
        exempt = listed("Kernels")
        for op in self.ops:
            with self.subTest(op):
                if op in exempt or not expand.kernel_types(op):
                    continue
                missing = missing_kernels(op, self.kernels.get(op, []))
                self.assertTrue(not missing, "no kernel for %s" % "; ".join(sorted(missing)))

    def test_gradients_where_tensorflow_has_them(self):
        exempt = listed("Gradients")
        for op in self.ops:
            theirs = tensorflow_gradient(op)
            with self.subTest(op):
                if op in exempt:
                    continue
                ours = ("gradient" if op in self.differentiable else
                        "not differentiable" if op in self.not_differentiable else "none registered")
                self.assertEqual(ours, theirs)
