"""Summaries: the messages that ops create from tensors, and errors."""

import tensorflow
from tensorflow.core.framework import summary_pb2

from tests.oracle.table import *


@of_all
def messages(ours, theirs):
    """Summaries are equal as messages; PNG images pixel by pixel, because compressors differ."""
    a, b = (summary_pb2.Summary.FromString(s.item()) for s in (ours, theirs))
    if len(a.value) != len(b.value):
        return "%d values, TensorFlow has %d" % (len(a.value), len(b.value))
    for v, w in zip(a.value, b.value):
        if v.HasField("image") and w.HasField("image"):
            p, q = (tensorflow.io.decode_png(i.image.encoded_image_string).numpy() for i in (v, w))
            if p.shape != q.shape or (p != q).any():
                return "pixels of '%s' differ: %s, TensorFlow's are %s" % (v.tag, p.tolist(), q.tolist())
            v.image.encoded_image_string = w.image.encoded_image_string
        if v != w:
            return "%s, TensorFlow has %s" % (v, w)
    return None


IMAGES = {"T": ("uint8", "float", "half", "double")}
nan, inf = float("nan"), float("inf")


def names(b):
    """TensorSummary shows the node's name."""
    for labels in ([], ["a", "b"]):
        b.run(fetches=[b.op("TensorSummary", b.input(rand(2)), description="d", labels=labels, display_name="n")],
              compare=messages)


ROWS = [
    Row("ScalarSummary", compare=messages, types={"T": REALS}, cases=[
        C("loss", rand()), C(["a", "b"], rand(2)), C([["a"]], rand(1, 1)), C(values([], "string"), rand(0))],
        errors=[C("a", rand(1), types={"T": "float"}, says=r"tags and values are not the same shape: \[\] != \[1\] \(tag 'a'\)"),
                C(["a", "b"], rand(1), types={"T": "float"}, says=r"not the same shape: \[2\] != \[1\]")]),
    Row("HistogramSummary", compare=messages, types={"T": REALS}, cases=[
        C("h", rand(50)), C("h", rand(0)), C("h", uniform(0, 1).of(3, 4)), C("h", 1)],
        errors=[C(["h"], rand(2), types={"T": "float"}, says="tags must be scalar"),
                C("h", values([1.0, nan]), types={"T": "float"}, says="Nan in summary histogram for: "),
                C("h", values([1.0, inf]), types={"T": "float"}, says="Infinity in Histogram for: ")]),
    Row("HistogramSummary", compare=messages, types={"T": ("float", "double")}, name="range", cases=[
        C("h", values([1e30, -1e30, 1e-30, -1e-30, 0, 1e-12, 1e20, 3.4e38, -0.0]))]),
    Row("HistogramSummary", compare=messages, types={"T": ("double",)}, name="largest", cases=[
        C("h", values([1.7976931348623157e308 / 1e160, 1e150, -1e150]))]),
    Row("ImageSummary", compare=messages, types=IMAGES, cases=[
        C("i", uniform(0, 9).of(4, 5, 3, 1)), C("i", uniform(-5, 9).of(2, 5, 3, 3), max_images=1),
        C("i", uniform(-5, 2).of(2, 1, 1, 4), max_images=2), C("i", uniform(0, 9).of(0, 5, 3, 1)),
        C("i", uniform(0, 1e-7).of(1, 2, 2, 1))],
        errors=[C("i", rand(2, 3), types={"T": "float"}, says=r"Shape must be rank 4|Tensor must be 4-D with last dim 1, 3, or 4, not \[2,3\]"),
                C("i", rand(2, 3, 3, 2), types={"T": "float"}, says=r"Tensor must be 4-D with last dim 1, 3, or 4, not \[2,3,3,2\]"),
                C(["i"], rand(1, 3, 3, 1), types={"T": "float"}, says="Tags must be a scalar"),
                C("i", rand(1, 0, 3, 1), types={"T": "float"}, says="non-zero dims"),
                C("i", rand(1, 1, 1, 3), types={"T": "float"}, bad_color=numpy.array([1, 2], numpy.uint8),
                  says="expected depth <= bad_color.size, got depth = 3, bad_color.size = 2"),
                C("i", rand(1, 1, 1, 3), types={"T": "float"}, bad_color=numpy.array([1.0, 2], numpy.float32), says="bad_color must be uint8"),
                C("i", rand(1, 1, 1, 1), types={"T": "float"}, bad_color=numpy.array([[1]], numpy.uint8), says="bad_color must be a vector")]),
    Row("ImageSummary", compare=messages, types={"T": ("float", "half", "double")}, name="not finite", cases=[
        C("i", values([[[[0.0, 1, 2], [300, nan, 5]]]])), C("i", values([[[[nan], [inf]]]])),
        C("i", values([[[[-1.0, 2, nan, 1], [-inf, 1, 1, 1], [3, 4, 5, 6]]]]), bad_color=numpy.array([1, 2, 3, 4], numpy.uint8))]),
    Row("AudioSummaryV2", compare=messages, cases=[
        C("a", uniform(-1.2, 1.2).of(4, 7), 100), C("a", rand(2, 3, 2), 8000, max_outputs=1), C("a", rand(1, 0), 1),
        C("a", values([[0.0, 0.5, -2, 1, 1.0 / 65536, -1.0 / 65536]]), 44100.5), C("a", rand(1, 3), 0.25)],
        errors=[C("a", rand(2), 100, says=r"Tensor must be 3-D or 2-D, got: \[2\]|Shape must be at least rank 2"),
                C(["a"], rand(2, 3), 100, says="Tag must be a scalar"),
                C("a", rand(2, 3), [100, 1], says="sample_rate must be rank-0 or contain a single value"),
                C("a", rand(2, 3), 0, says="sample_rate must be > 0")]),
    Row("AudioSummary", compare=messages, cases=[C("a", rand(2, 3), sample_rate=100.0)],
        errors=[C("a", rand(2, 3), sample_rate=0.0, says="sample_rate must be > 0")], name="sample rate"),
    Row("MergeSummary", compare=messages, cases=[
        C([values(summary_pb2.Summary(value=[summary_pb2.Summary.Value(tag=t, simple_value=1)]).SerializeToString(), "string")
           for t in tags]) for tags in ("a", "abc")] + [C([values(b"", "string")])],
        errors=[C([values(b"zz", "string")], says="Could not parse one of the summary inputs"),
                C([values(summary_pb2.Summary(value=[summary_pb2.Summary.Value(tag="a")]).SerializeToString(), "string")] * 2,
                  says="Duplicate tag a found in summary inputs")]),
    Row("TensorSummary", build=names, types={"T": NUMBERS + ("bool", "string")}),
    Row("TensorSummaryV2", compare=messages, types={"T": NUMBERS + ("bool", "string")}, cases=[
        C("t", rand(2, 3), ""), C("t", rand(), summary_pb2.SummaryMetadata(display_name="x").SerializeToString()), C("t", rand(0), "zzz")],
        errors=[C(["t"], rand(2), "", types={"T": "float"}, says="tag must be scalar"),
                C("t", rand(2), [""], types={"T": "float"}, says="serialized_summary_metadata must be scalar")]),
]
