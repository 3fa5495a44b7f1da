"""Sluice's messages have the fields, numbers, types and wire forms of TensorFlow's."""

import importlib
import unittest

from google.protobuf import descriptor_pb2
from google.protobuf import descriptor_pool

DESCRIPTORS = "graph/format/proto/descriptors.pb"
PLACES = ("tensorflow.core.example", "tensorflow.core.framework", "tensorflow.core.protobuf", "tensorflow.core.util",
          "tensorflow.python.training", "tensorflow.compiler.xla.tsl.protobuf")


def register_in_tensorflow(stem):
    """Imports TensorFlow's modules for `stem`.proto, so that its messages are in the default pool."""
    for place in PLACES:
        try:
            importlib.import_module("%s.%s_pb2" % (place, stem))
        except ModuleNotFoundError:
            pass


def our_pool():
    """Returns a pool of our messages and the names of our messages and enums."""
    pool, names = descriptor_pool.DescriptorPool(), []
    with open(DESCRIPTORS, "rb") as data:
        files = descriptor_pb2.FileDescriptorSet.FromString(data.read()).file
    for file in files:
        pool.Add(file)
        if file.package.startswith("sluice.pb"):
            register_in_tensorflow(file.name.rsplit("/", 1)[1][:-len(".proto")])
            names += [(file.package + "." + message.name, "message") for message in file.message_type]
            names += [(file.package + "." + enum.name, "enum") for enum in file.enum_type]
    return pool, names


def theirs(name):
    return "tensorflow" + name[len("sluice.pb"):] if name.startswith("sluice.pb") else name


def field_row(field):
    """The properties of a field that are visible on the wire, in text and in code."""
    kind = field.message_type or field.enum_type
    return {
        "name": field.name, "number": field.number, "type": field.type, "of": kind and theirs(kind.full_name),
        "repeated": field.is_repeated, "packed": field.is_packed, "presence": field.has_presence,
        "oneof": field.containing_oneof and field.containing_oneof.name,
    }


def message_rows(message):
    """Rows of a message and those nested in it, by name."""
    rows = {theirs(message.full_name): {field.number: field_row(field) for field in message.fields}}
    for enum in message.enum_types:
        rows[theirs(enum.full_name)] = {value.name: value.number for value in enum.values}
    for nested in message.nested_types:
        rows.update(message_rows(nested))
    return rows


class ProtosTest(unittest.TestCase):
    maxDiff = None

    def test_messages_and_enums_equal_tensorflows(self):
        ours, names = our_pool()
        tensorflows = descriptor_pool.Default()
        for name, kind in names:
            with self.subTest(theirs(name)):
                if kind == "message":
                    self.assertEqual(message_rows(ours.FindMessageTypeByName(name)),
                                     message_rows(tensorflows.FindMessageTypeByName(theirs(name))))
                else:
                    rows = [{value.name: value.number for value in pool.FindEnumTypeByName(n).values}
                            for pool, n in ((ours, name), (tensorflows, theirs(name)))]
                    self.assertEqual(*rows)
