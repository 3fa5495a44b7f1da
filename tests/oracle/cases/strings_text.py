"""Functions of strings: parts, splits, joins, hashes, numbers as text."""

from tests.oracle.table import *

s = lambda data: values(data, "string")
W = s([["a b,,c  d ", ""], ["xabyab", "hello"]])
V = s(["a b,,c  d ", "", "xabyab"])
MANY = s(["", "a", "hello", "x" * 7, "y" * 8, "z" * 9, "w" * 100, "\u00fc", b"\x00\xff"])
FLOATING = ALL_FLOATS + COMPLEX

A, S = list("abcde"), [0, 3, 3, 5]


def ngrams(data, splits, says=None, **attrs):
    attrs = {"separator": "|", "left_pad": "L", "right_pad": "R", "pad_width": 0, "preserve_short_sequences": False, **attrs}
    return C(s(numpy.array(data, object)), values(numpy.array(splits, int)), says=says, **attrs)


ROWS = [
    Row("AsString", types={"T": NUMBERS + ("bool", "string")}, cases=[C(rand(2, 3)), C(rand()), C(rand(0))]),
    Row("AsString", name="width", types={"T": INTS + FLOATING}, cases=[
        C(rand(4), width=9), C(rand(4), width=9, fill="0"), C(rand(4), width=9, fill="-"), C(rand(4), fill="+"), C(rand(4), fill=" ")],
        errors=[C(rand(1), types={"T": "int32"}, fill="x", says='Fill argument not supported: "x"'),
                C(rand(1), types={"T": "int32"}, fill="xx", says="Fill string must be one or fewer characters"),
                C(rand(1), types={"T": "int32"}, precision=2, says="precision not supported for datatype int32"),
                C(rand(1), types={"T": "int32"}, scientific=True, says="scientific and shortest format not supported for datatype int32"),
                C(rand(1), types={"T": "float"}, scientific=True, shortest=True, says="Cannot select both scientific and shortest notation")]),
    Row("AsString", name="strings", types={"T": "string"}, cases=[C(MANY, width=5), C(MANY, width=5, fill="-")]),
    Row("AsString", name="floating", types={"T": FLOATING}, cases=[
        C(rand(4), precision=2), C(rand(4), scientific=True), C(rand(4), shortest=True), C(rand(4), precision=3, scientific=True, width=12),
        C(values([0, -0.0, 1e10, float("nan"), float("inf"), -float("inf")]))]),
    Row("ReduceJoin", cases=[
        C(W, [0]), C(W, [1], separator="-"), C(W, [1, 0], separator="."), C(W, [0, 1], keep_dims=True), C(W, -1, keep_dims=True),
        C(W, values([], "int32")), C(s(numpy.empty([0, 2], object)), [0]), C(s("x"), values([], "int32"))],
        errors=[C(W, [1, 1], says="Duplicate reduction dimension 1"), C(W, [2], says="Invalid reduction dimension 2|out of range|must be in")]),
    Row("StringLength", cases=[C(MANY), C(MANY, unit="UTF8_CHAR"), C(s("x"))]),
    Row("Substr", types={"T": INDEX}, cases=[
        C(s(["hello", "world"]), 1, 3), C(s(["hello", "world"]), [1, -2], [3, 9]), C(s("hello"), [1, 2], [1, 1]), C(s(["abc"]), 3, 1),
        C(s([["abc", "defg"], ["hij", "klm"]]), [1, 0], [2, 1]), C(s(["abc"]), 1, -1),
        C(s("\u4e2da\u00fcb"), 1, 2, unit="UTF8_CHAR"), C(s("\u4e2da\u00fcb"), -2, 2, unit="UTF8_CHAR"), C(s("\u4e2da\u00fcb"), 0, 9, unit="UTF8_CHAR")],
        errors=[C(s(["abc"]), 4, 1, types={"T": "int32"}, says="pos 4 out of range for string"), C(s(["abc"]), -4, 1, types={"T": "int32"}, says="pos -4 out of range"),
                C(s(["abc"]), [1, 2], [1], types={"T": "int32"}, says="pos and len should have the same shape|must be equal|must match"),
                C(s("ab"), 5, 1, types={"T": "int32"}, unit="UTF8_CHAR", says="pos 5 out of range for string")]),
    Row("StringStrip", cases=[C(s([" a b\n\t", "\x0b\x0cx", "", "  "]))]),
    Row("StringSplit", cases=[C(V, d, skip_empty=e) for d in ("", " ", ",", "ab") for e in (True, False)],
        errors=[C(V, ["a", "b"], says="delimiter must be a scalar|rank 0"), C(s("a"), "a", says="must be a vector|rank 1")]),
    Row("StringSplitV2", cases=[C(V, d, maxsplit=m) for d in ("", " ", ",", "ab") for m in (-1, 0, 1, 2, 3)],
        errors=[C(V, ["a", "b"], says="sep must be a scalar|rank 0"), C(s("a"), "a", says="must be a vector|rank 1")]),
    Row("StringToHashBucket", cases=[C(MANY, num_buckets=1000), C(MANY, num_buckets=2**62)]),
    Row("StringToHashBucketFast", cases=[C(MANY, num_buckets=1000), C(MANY, num_buckets=2**62)]),
    Row("StringToHashBucketStrong", cases=[C(MANY, num_buckets=1000, key=[1, 2]), C(MANY, num_buckets=2**62, key=[-1, 77])],
        errors=[C(MANY, num_buckets=3, key=[1], says="Key must have 2 elements")]),
    Row("EncodeBase64", cases=[C(MANY), C(MANY, pad=True), C(s("hello?>~"))]),
    Row("DecodeBase64", cases=[C(s(["aGVsbG8_Pn4", "YQ==", "YQ", "", "YWI="]))],
        errors=[C(s(["a+b"]), says="Invalid character found in base64."), C(s(["a"]), says="Base64 string length cannot be 1 modulo 4.")]),
    Row("StringLower", cases=[C(s(["AbC\u00dc", "", "xYz"])), C(s(["AbC\u00dc\u0130", "\u03a3", b"\xffA"]), encoding="utf-8")],
        errors=[C(s("a"), encoding="latin1", says="only utf-8 or '' \\(no encoding\\) is supported, received latin1")]),
    Row("StringUpper", cases=[C(s(["AbC\u00fc", "", "xYz"])), C(s(["\u00df\u00e9a", b"a\xff\xfe"]), encoding="utf-8")],
        errors=[C(s("a"), encoding="UTF-8", says="is supported, received UTF-8")]),
    Row("StringNGrams", cases=[ngrams(A, S, **k) for k in (
        dict(ngram_widths=[2]), dict(ngram_widths=[2, 3], pad_width=1), dict(ngram_widths=[3], pad_width=-1), dict(ngram_widths=[4, 1], pad_width=2),
        dict(ngram_widths=[9], preserve_short_sequences=True), dict(ngram_widths=[9], pad_width=2, preserve_short_sequences=True),
        dict(ngram_widths=[3, 6], pad_width=-1, preserve_short_sequences=True), dict(ngram_widths=[]))] + [ngrams([], [0], ngram_widths=[1]), ngrams([], [], ngram_widths=[1])],
        errors=[ngrams(A, splits, ngram_widths=[2], says=says) for splits, says in (
            ([1, 5], "First split value must be 0, got 1"), ([0, 4], "Last split value must be data size. Expected 5, got 4"),
            ([0, 6], "Invalid split value 6, must be in \\[0, 5\\]"), ([0, 4, 3, 5], "Invalid split value 3, must be in \\[4, 5\\]"))] + [
            ngrams(A, S, ngram_widths=[w], says="ngram_widths must contain positive values") for w in (0, -1)] + [
            ngrams(A, S, ngram_widths=[2**31 - 1], pad_width=-1, says="Pad width could lead to integer overflow")]),
    Row("StringFormat", cases=[
        C([rand(2).typed("float"), ints(0, 9).of().typed("int32")], template="a {} b {}", placeholder="{}"), C([], template="x", T=[]),
        C([values([[1.5, 2.25], [1 / 3, 1e10]], "double")]), C([values(numpy.arange(24).reshape(2, 3, 4), "int64")], summarize=1),
        C([values(numpy.arange(8), "int32")], summarize=-1), C([values(numpy.arange(8), "int32")], summarize=0), C([values(["a", 'b\n"\x01'], "string")]),
        C([values(numpy.zeros([2, 0, 3]), "float")], summarize=-1), C([values([0.1, 1 / 3, 1e-7, 123456.789, float("nan"), -0.0], "float")], summarize=9),
        C([values([0.1, 1 / 3, 1e17], "double")]), C([values([True, False], "bool"), values([1.5, 1 / 3], "half"), values([-3], "int8"), values([1], "complex64")],
                                                    template="%s %s %s %s"), C([rand(2, 3, 2).typed("bfloat16")]), C([values([2**63], "uint64")], template="ab", placeholder="")],
        errors=[C([rand().typed("float")], template="x", says="num placeholders in template and num inputs must match: 0 vs. 1")]),
    Row("_TensorToHashBucketFast", types={"T": SIGNED}, cases=[C(uniform(-100, 100).of(2, 3), num_buckets=1000), C(uniform(0, 9).of(), num_buckets=2**62)]),
]
