"""Bytes and text into tensors."""

import gzip
import zlib

import tensorflow
from tensorflow.core.example import example_pb2

from tests.oracle.table import *

RAW = ("half", "float", "double", "int32", "uint16", "uint8", "int16", "int8", "int64", "complex64", "complex128", "bool", "bfloat16")
PADDED = ("double", "int32", "uint16", "uint8", "int16", "int8", "int64", "bfloat16", "float")
TEXT = ("float", "double", "int32", "int64", "string")


def serialized(array):
    return tensorflow.make_tensor_proto(array).SerializeToString()


@of_all
def same_examples(ours, theirs):
    """Compares as messages, because lists of numbers may be packed or not."""
    a, b = ([example_pb2.Example.FromString(e) for e in x.reshape(-1)] for x in (ours, theirs))
    return None if a == b else "%s, TensorFlow has %s" % (a, b)


def csv(records, defaults, **attrs):
    return C(values(records, "string"), [values([] if d is None else [d], t) for d, t in defaults], **attrs)


I, F, S = (None, "int32"), (None, "float"), (None, "string")
ROWS = [
    Row("DecodeRaw", types={"out_type": RAW}, cases=[
        C(values([bytes(range(1, 33)), bytes(range(40, 72))], "string")), C(values(bytes(range(16)), "string"), little_endian=False),
        C(values(numpy.empty([0], object), "string")), C(values([["", ""]], "string"))],
        errors=[C(values(["abc"], "string"), types={"out_type": "int16"}, says="length 3 that is not a multiple of 2, the size of int16"),
                C(values(["abcd", "ab"], "string"), types={"out_type": "int16"}, says="element 1 has size 4 != 2")]),
    Row("DecodePaddedRaw", types={"out_type": PADDED}, cases=[
        C(values(["abc", "", "abcdefghijklmnopqrs"], "string"), 16), C(values("ab", "string"), 8, little_endian=False)],
        errors=[C(values(["abc"], "string"), 3, types={"out_type": "int16"}, says="fixed_length"),
                C(values(["abc"], "string"), 0, types={"out_type": "int16"}, says="must be greater than zero"),
                C(values(["abc"], "string"), [4], types={"out_type": "int16"}, says="must be scalar|must be rank 0")]),
    Row("DecodeCompressed", cases=[
        C(values([b"", b"abc"], "string")), C(values([zlib.compress(b"x" * 9999)], "string"), compression_type="ZLIB"),
        C(values([[gzip.compress(b"hello"), gzip.compress(b"")]], "string"), compression_type="GZIP")],
        errors=[C(values(["abc"], "string"), compression_type="X", says="are supported compressions"),
                C(values(["abc"], "string"), compression_type="GZIP", says="inflate\\(\\) failed with error -3|ends too early")]),
    Row("StringToNumber", types={"out_type": ("float", "double", "int32", "int64", "uint32", "uint64")}, cases=[
        C(values([["1", " 12 ", "+3"], ["007", "0", "2147483647"]], "string"))],
        errors=[C(values([t], "string"), types={"out_type": k}, says="StringToNumberOp could not correctly convert string: ")
                for t, k in (("x", "float"), ("", "float"), ("1_0", "double"), ("1 2", "float"), ("--1", "float"), ("99999999999", "int32"), ("0x1", "int32"),
                             ("", "int64"), ("1.5", "int64"), ("-1", "uint32"), ("4294967296", "uint32"), ("+-1", "int32"))]),
    Row("StringToNumber", types={"out_type": ("float", "double")}, name="floating", cases=[
        C(values(["1e400", "-1e400", "inf", "-INF", "nan", "0x10", "0x1.8p3", "1e-400", "-0", ".5", "5.", "1e5", "123456789.123456789", "3.4028236e38"], "string")),
        # The digits and the exponent cancel each other out in part.
        C(values(["0." + "0" * 400 + "1e5", "0." + "0" * 400 + "1e405", "0." + "0" * 400 + "1e999", "1" + "0" * 400 + "e-5", "1" + "0" * 400 + "e-800",
                  "-1" + "0" * 400 + "e-400", "." + "0" * 400 + "1e99999999999999999999", "1" + "0" * 400 + "e-99999999999999999999", "0e99999999999999999999",
                  "0x0." + "0" * 400 + "1p5", "0x1" + "0" * 400 + "p-5", "0x0p99999999999999999999"], "string"))]),
    Row("StringToNumber", types={"out_type": ("int32", "int64")}, name="negative", cases=[C(values(["-1", "-2147483648", " -0"], "string"))]),
    Row("SerializeTensor", types={"T": NUMBERS + ("bool", "string")}, cases=[C(rand(2, 3)), C(rand()), C(rand(0))]),
    Row("ParseTensor", types={"out_type": ("float",)}, static_shapes=False, cases=[
        C(serialized(numpy.float32([[1, 2], [3, 4]]))), C(serialized(numpy.float32(7))), C(serialized(numpy.zeros([0, 3], numpy.float32)))],
        errors=[C(values(b"zz", "string"), types={"out_type": "int32"}, says="Could not parse `serialized` as TensorProto"),
                C(values(serialized(numpy.float32(1)), "string"), types={"out_type": "int32"}, says="Type mismatch between parsed tensor \\(float\\) and dtype \\(int32\\)"),
                C(values([b""], "string"), types={"out_type": "int32"}, says="Expected `serialized` to be a scalar|must be rank 0")]),
    Row("ParseTensor", types={"out_type": ("string",)}, name="strings", static_shapes=False, cases=[C(serialized(numpy.array(["a", "bc"])))]),
    Row("DecodeCSV", cases=[
        csv(["1,a,2.5", "3,\"b,\"\"c\",4", "-7,\"\",1e3"], [I, (b"", "string"), F]),
        csv([",,", "5,,"], [(9, "int32"), (b"d", "string"), (1.5, "float")]),
        csv(["NA,NA,2"], [(9, "int32"), (b"d", "string"), F], na_value="NA"), csv(["1,\"a\",1"], [I, S, I], use_quote_delim=False),
        csv(["1,a,1,9"], [I, F], select_cols=[0, 2]), csv(["1;a"], [I, S], field_delim=";"), csv([" 1 , a "], [I, S]),
        csv(["1,\"a\nb\",2"], [I, S, I]), csv([["1", "2"], ["3", "4"]], [I]), csv(["1\t2.5"], [(None, "int64"), (None, "double")], field_delim="\t")],
        errors=[csv(["1,a"], [I, S, F], says="Expect 3 fields but have 2 in record 0"),
                csv([",a,1"], [I, S, F], says="Field 0 is required but missing in record 0!"),
                csv(["x,a,1"], [I, S, F], says="Field 0 in record 0 is not a valid int32: x"),
                csv(["1,a,x"], [I, S, F], says="Field 2 in record 0 is not a valid float: x"),
                csv(["1,a\"b,1"], [I, S, F], says="Unquoted fields cannot have quotes/CRLFs inside"),
                csv(["1,\"a\"b,1"], [I, S, F], says="Quote inside a string has to be escaped by another quote"),
                csv(["1,\"ab,1"], [I, S, F], says="Quoted field has to end with quote followed by delim or end"),
                csv(["1,a\nb,1"], [I, S, F], says="Unquoted fields cannot have quotes/CRLFs inside"),
                csv(["1,a"], [I, F], select_cols=[1, 0], says="select_cols should be strictly increasing indices"),
                csv(["1,a"], [I, F], select_cols=[0], says="select_cols should match output size"),
                csv(["1,a"], [I, F], select_cols=[0, 5], says="Expect 2 fields but have 1 in record 0"),
                csv(["1,a"], [I, S], field_delim=";;", says="field_delim should be only 1 char"),
                csv([""], [(1, "int32")], says="Expect 1 fields but have 0 in record 0"),
                C(values(["1"], "string"), [values([1, 2], "int32")], says="length-0 or length-1 vector|only be 1 default")]),
    Row("DecodeJSONExample", compare=same_examples, cases=[C(values(
        ['{"features":{"feature":{"a":{"int64List":{"value":["1",2]}}}}}', "{}", '{"features":{"feature":{"b":{"bytesList":{"value":["YQ=="]}}}}}'], "string"))],
        errors=[C(values(["{x"], "string"), says="Error while parsing JSON")]),
]
