"""Ops that write event files: accepted inputs and errors. events_test.py tests the contents of the
files."""

import os
import tempfile

from tensorflow.core.framework import graph_pb2
from tensorflow.core.framework import summary_pb2
from tensorflow.core.util import event_pb2

from tests.oracle.table import *

FOLDER = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
SUMMARY = summary_pb2.Summary(value=[summary_pb2.Summary.Value(tag="a", simple_value=1)])
GONE = "does not exist"


def writing(b):
    writer = b.op("SummaryWriter", shared_name=b.name("w"))
    scalar = b.op("WriteScalarSummary", writer, 1, "s", values(2.0, "float"))
    b.run(targets=[scalar], error=True, says=GONE)
    create = b.op("CreateSummaryFileWriter", writer, FOLDER, 3, 1000, ".sfx")
    b.run(targets=[create])
    b.run(targets=[create])
    bad_color = values([255, 0, 0, 255], "uint8")
    image = lambda pixels: b.op("WriteImageSummary", writer, 1, "i", b.input(pixels.typed("float")), bad_color)
    good = [
        scalar, b.op("WriteSummary", writer, 1, b.input(rand(2).typed("float")), "t", ""), image(rand(1, 2, 2, 1)),
        b.op("WriteRawProtoSummary", writer, 1, values([SUMMARY.SerializeToString()] * 2, "string")),
        b.op("WriteHistogramSummary", writer, 1, "h", values([True, False], "bool")),
        b.op("WriteAudioSummary", writer, 1, "a", b.input(rand(1, 3).typed("float")), 8000.0),
        b.op("WriteGraphSummary", writer, 1, graph_pb2.GraphDef().SerializeToString()),
        b.op("ImportEvent", writer, event_pb2.Event(step=3, summary=SUMMARY).SerializeToString()),
    ]
    for op in good:
        b.run(targets=[op])
    bad = [
        (b.op("WriteHistogramSummary", writer, 1, "h", values([float("nan")], "float")), "Nan in summary histogram for: h"),
        (image(rand(2, 2, 1)), "Tensor must be 4-D with last dim 1, 3, or 4, not \\[2,2,1\\]"),
        (b.op("WriteRawProtoSummary", writer, 1, values(["zz"], "string")), "Bad tf.compat.v1.Summary binary proto tensor string at index 0"),
        (b.op("WriteGraphSummary", writer, 1, values("zz", "string")), "Bad tf.GraphDef binary proto tensor string"),
        (b.op("ImportEvent", writer, values("zz", "string")), "Bad tf.Event binary proto tensor string"),
    ]
    for op, says in bad:
        b.run(targets=[op], error=True, says=says)
    flush, close = b.op("FlushSummaryWriter", writer), b.op("CloseSummaryWriter", writer)
    b.run(targets=[flush])
    b.run(targets=[close])
    for op in (flush, close, scalar):
        b.run(targets=[op], error=True, says=GONE)


ROWS = [Row(op, build=writing) for op in (
    "SummaryWriter", "CreateSummaryFileWriter", "WriteSummary", "WriteRawProtoSummary", "WriteScalarSummary", "WriteHistogramSummary",
    "WriteImageSummary", "WriteAudioSummary", "WriteGraphSummary", "ImportEvent", "FlushSummaryWriter", "CloseSummaryWriter")]
