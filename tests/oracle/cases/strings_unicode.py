"""Text in other encodings."""

from tests.oracle.table import *

s = lambda data: values(data, "string")
TEXT = s([["a\u00fc\u20ac\U0001f600", b"\xffa\xe2\x82"], ["", "a\x01\n"]])
UTF16 = s([b"\x00a\xd8\x3d\xde\x00", b"\xd8\x3d", b"\x00"])
LATIN = s([b"\xe4a", b""])
BAD = [C(s(["a"]), input_encoding="nonsense", says="Could not create converter for input encoding: nonsense"),
       C(s([b"\xffa"]), input_encoding="UTF-8", errors="strict", says="Invalid formatting on input string"),
       C(s(["a"]), input_encoding="UTF-8", replacement_char=0x110000, says="replacement_char out of unicode codepoint range"),
       C(s(["a"]), input_encoding="UTF-8", replacement_char=-1, says="replacement_char out of unicode codepoint range")]
CONTROL = C(s(["\x01"]), input_encoding="UTF-8", errors="strict", replace_control_characters=True, says="Invalid formatting on input string")
DECODED = [C(TEXT, input_encoding="UTF-8"), C(TEXT, input_encoding="UTF-8", errors="ignore"), C(TEXT, input_encoding="UTF-8", replace_control_characters=True, replacement_char=65),
           C(s("a\u00fc"), input_encoding="UTF-8", errors="strict"), C(s("\x01"), input_encoding="UTF-8", errors="strict", replace_control_characters=True), C(UTF16, input_encoding="UTF-16-BE"), C(LATIN, input_encoding="ISO-8859-1"),
           C(s([b"\x81\x40\x93\xfa"]), input_encoding="shift-jis"), C(s(numpy.empty([0, 2], object)), input_encoding="UTF-8")]


def transcoded(case, **more):
    return C(*case.inputs, says=case.says, **{"output_encoding": "UTF-8", **case.attrs, **more})


def encoded(characters, splits, **attrs):
    return C(values(numpy.array(characters, int), "int32"), values(numpy.array(splits, int)), **{"output_encoding": "UTF-8", **attrs})


MIXED = [97, 252, 0xD800, 0x1F600, -1, 0x110000, 0xFFFE]
ROWS = [
    Row("UnicodeDecode", cases=DECODED, errors=BAD), 
    # TensorFlow crashes for int32.
    Row("UnicodeDecodeWithOffsets", types={"Tsplits": "int64"}, cases=DECODED, errors=BAD),
    Row("UnicodeTranscode", cases=[transcoded(c) for c in DECODED if "\x01" not in c.inputs[0].make(None, None, None).reshape(-1)] + [transcoded(DECODED[0], output_encoding=e) for e in ("UTF-16-BE", "UTF-32-BE")],
        errors=[transcoded(c) for c in BAD + [CONTROL]] + [C(s(["a"]), input_encoding="UTF-8", output_encoding="latin1", says="output_encoding")]),
    Row("UnicodeEncode", cases=[encoded(MIXED, [0, 2, 2, 7], output_encoding=e) for e in ("UTF-8", "UTF-16-BE", "UTF-32-BE")] + [
        encoded(MIXED, [0, 7], errors="ignore"), encoded(MIXED, [0, 7], replacement_char=63), encoded([97], [0, 1], errors="strict"), encoded([], [0])],
        errors=[encoded([97, 98], splits, says=says) for splits, says in (
            ([0, 3], "Last value in input_splits must be equal to length"), ([1, 2], "First value in input_splits must be zero"), ([0, 2, 1], "Last value in input_splits"),
            ([0, 2, 1, 2], "ascending order"), ([], "Input_splits should contain elements|Negative dimension size"), ([[0, 2]], "rank 1"))] + [
            encoded(MIXED, [0, 7], errors="strict", says="Code point is out of range for Unicode, or is a surrogate."),
            encoded([97], [0, 1], replacement_char=-1, says="replacement_char out of unicode codepoint range")]),
    Row("UnicodeScript", cases=[C(values([[97, 0x4E2D, 0x3B1], [-1, 0x110000, 32]], "int32")), C(values(0x5D0, "int32"))]),
]
