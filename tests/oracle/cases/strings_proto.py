"""Protocol buffers whose types are known at run time."""

from google.protobuf import descriptor_pb2

from tests.oracle.table import *

F = descriptor_pb2.FieldDescriptorProto
KINDS = (("double", F.TYPE_DOUBLE, "2.5"), ("float", F.TYPE_FLOAT, "-1.5"), ("int64", F.TYPE_INT64, "-7"), ("uint64", F.TYPE_UINT64, "8"), ("int32", F.TYPE_INT32, "-9"), ("fixed64", F.TYPE_FIXED64, "10"), ("fixed32", F.TYPE_FIXED32, "11"),
         ("bool", F.TYPE_BOOL, "true"), ("string", F.TYPE_STRING, "text"), ("bytes", F.TYPE_BYTES, "raw"), ("uint32", F.TYPE_UINT32, "12"), ("enum", F.TYPE_ENUM, "B"), ("sfixed32", F.TYPE_SFIXED32, "-13"), ("sfixed64", F.TYPE_SFIXED64, "-14"),
         ("sint32", F.TYPE_SINT32, "-15"), ("sint64", F.TYPE_SINT64, "-16"), ("message", F.TYPE_MESSAGE, None))
TYPES = {"double": "double", "float": "float", "int64": "int64", "uint64": "uint64", "int32": "int32", "fixed64": "uint64", "fixed32": "uint32", "bool": "bool", "string": "string", "bytes": "string", "uint32": "uint32", "enum": "int32",
         "sfixed32": "int32", "sfixed64": "int64", "sint32": "int32", "sint64": "int64", "message": "string"}


def descriptors():
    """A message with an optional, a repeated and a packed field of each type."""
    files = descriptor_pb2.FileDescriptorSet()
    file = files.file.add(name="oracle.proto", package="oracle")
    values_ = file.enum_type.add(name="E").value
    for number, name in enumerate("ABC"):
        values_.add(name=name, number=number)
    message = file.message_type.add(name="All")
    for i, (name, kind, default) in enumerate(KINDS):
        for form in ("one", "many", "packed"):
            if form == "packed" and name in ("string", "bytes", "message"):
                continue
            field = message.field.add(name="%s_%s" % (form, name), number=1 + i + 100 * ("one", "many", "packed").index(form), type=kind, label=F.LABEL_OPTIONAL if form == "one" else F.LABEL_REPEATED)
            if name in ("enum", "message"):
                field.type_name = ".oracle.E" if name == "enum" else ".oracle.All"
            if form == "one" and default is not None:
                field.default_value = default
            if form == "packed":
                field.options.packed = True
    return files


SOURCE = b"bytes://" + descriptors().SerializeToString()
FIELDS = [form + "_" + name for name, _, _ in KINDS for form in ("one", "many", "packed") if form != "packed" or name not in ("string", "bytes", "message")]
FULL = b"".join((  # two of every number, in order and repeated fields out of order
    b"\x09\x00\x00\x00\x00\x00\x00\xf8\x3f", b"\x15\x00\x00\x80\x3f", b"\x18\x96\x01", b"\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", b"\x28\xfd\xff\xff\xff\xff\xff\xff\xff\xff\x01", b"\x40\x01", b"\x4a\x03abc", b"\x58\x80\x80\x80\x80\x08", b"\x60\x02",
    b"\x78\x05", b"\x80\x01\x06", b"\x8a\x01\x02\x40\x01", b"\xc8\x06\x01"))
TEXT = b"one_int32: 5 many_int32: [1, 2] one_string: 'x' one_enum: C many_message { one_bool: false } packed_double: [1, -2.5]"


def decode(names, *data, dtypes=None, says=None, code=None, variants=("known",), **attrs):
    made = dict(message_type="oracle.All", field_names=list(names), output_types=dtypes or [TYPES.get(n.partition("_")[2], "int32") for n in names], descriptor_source=SOURCE)
    made.update(attrs)
    return C(values(list(data), "string"), says=says, code=code, variants=variants, **made)


# Numbers of every size, for every field.
def everything(b):
    names = FIELDS
    sizes, inputs = [[0, 1, 2][i % 3] for i in range(len(names))], []
    lists = {"double": [1.5, -inf], "float": [0.25, nan], "bool": [True, False], "string": [b"\x00a", b""], "int64": [-2**63, 5], "uint64": [2**64 - 1, 1], "int32": [-2**31, 7], "uint32": [2**32 - 1, 3]}
    for name in names:
        dtype = TYPES[name.partition("_")[2]]
        data = lists[dtype] if "enum" not in name else [1, 2]
        if "message" in name:
            data = [b"\x28\x05", b""]
        inputs.append(b.input(values([data, data[::-1]], dtype).typed(dtype)))
    made = b.op("EncodeProto", b.input(values([sizes, sizes[::-1]], "int32").typed("int32")), inputs, field_names=names, message_type="oracle.All", descriptor_source=SOURCE)
    b.run(fetches=[made])
    back = b.op("DecodeProtoV2", made, message_type="oracle.All", field_names=names[::-1], output_types=[TYPES[n.partition("_")[2]] for n in names[::-1]], descriptor_source=SOURCE)
    b.run(fetches=[back[i] for i in range(len(names) + 1)])


ENCODE = dict(message_type="oracle.All", descriptor_source=SOURCE)
I32 = values([[1, 2]]).typed("int32")

ROWS = [
    Row("DecodeProtoV2", cases=[decode(FIELDS, b""), decode(FIELDS, FULL), decode(FIELDS, b"", FULL), decode(["many_int32", "one_int32"], b"\xa8\x06\x05\xa8\x06\x06\x28\x01\x28\x02", b"\x28\x03"), decode(["packed_int32"], b"\xea\x0c\x03\x01\x02\x03\xe8\x0c\x09"),
                               decode(["one_int32", "one_sint32", "one_sfixed32", "one_float", "one_uint32", "one_fixed32"], FULL, b"", dtypes=["int64", "int64", "int64", "double", "uint64", "uint64"]), decode(["one_int32"], b"\x2d\x01\x02\x03\x04"), decode(["one_int32"], b"\xe2\x44\x01a\x28\x04"),
                               decode(["one_int32", "many_int32", "one_string", "one_enum", "many_message", "packed_double"], TEXT, b"", message_format="text"), decode(["one_string"], FULL, sanitize=True),
                               C(values([[FULL, b""], [b"", b"\x28\x01"]], "string"), variants=("known", "unknown"), message_type="oracle.All", field_names=["one_int32", "many_bool"], output_types=["int32", "bool"], descriptor_source=SOURCE)],
        errors=[decode(["one_int32"], b"\x28", says="valid|DATA|skip|consume|Failed"), decode(["one_int32"], b"\x28\x01\x4a\x09a", says="valid|DATA|skip|consume|Failed|fail|Corrupt|Illegal"), decode(["one_int32"], b"\x07", says="valid|DATA|skip|consume|Failed|fail|Corrupt|Illegal"), decode(["packed_double"], b"\xca\x0c\x03abc", says="valid|DATA|skip|consume|Failed|fail|Corrupt|Illegal"), decode(["nothing"], b"", says="Unknown field"), decode(["one_int32"], b"", dtypes=["float"], says="Unexpected output type"),
                decode(["one_int32"], b"", dtypes=["int32", "int32"], says="same length"), decode(["one_int32"], b"", message_format="json", says="binary or text"), decode(["one_int32"], b"nonsense: 1", message_format="text", says="text protobuf"), decode(["one_int32"], b"", message_type="oracle.None", says="No descriptor found"),
                decode(["one_int32"], b"", descriptor_source="/nowhere/at/all", says="does not represent"), decode(["one_int32"], b"", descriptor_source=b"bytes://x", says="does not represent"), C(values([], "string"), variants=("known",), message_type="oracle.All", field_names=["one_int32"], output_types=["int32"], descriptor_source=SOURCE, says="at least one")]),
    # The types of TensorFlow itself.
    Row("DecodeProtoV2", cases=[C(values([b"\x0a\x02\x08\x01", b""], "string"), message_type="tensorflow.TensorShapeProto", field_names=["dim", "unknown_rank"], output_types=["string", "bool"], variants=("known",))], name="local"),
    Row("EncodeProto", build=everything),
    Row("EncodeProto", cases=[C(values([[2, 1]], "int32"), [I32, values([[b"a"]], "string").typed("string")], field_names=["many_int32", "one_string"], **ENCODE), C(values([[[0]], [[1]]], "int32"), [values([[[1]], [[2]]]).typed("int64")], field_names=["many_int32"], **ENCODE), C(values(numpy.zeros((0, 1)), "int32"), [values(numpy.zeros((0, 2))).typed("int32")], field_names=["many_int32"], **ENCODE)],
        errors=[C(values([[3]], "int32"), [I32], field_names=["many_int32"], says="larger than value", **ENCODE), C(values([[1, 2]], "int32"), [I32], field_names=["many_int32"], says="sizes should be", **ENCODE), C(values([[1]], "int32"), [I32], field_names=["many_string"], says="Incompatible type", **ENCODE), C(values([[1]], "int32"), [I32], field_names=["nothing"], says="Unknown field", **ENCODE),
                C(values([[1]], "int32"), [I32], field_names=["one_int32", "many_int32"], says="match field_names", **ENCODE), C(values([1], "int32"), [values([1]).typed("int32")], field_names=["many_int32"], says="at least", **ENCODE), C(values([[1, 1]], "int32"), [I32, values([[1], [2]]).typed("int32")], field_names=["many_int32", "one_int32"], variants=("unknown",), says="up to the last", **ENCODE)]),
]
