"""Readers: records out of files whose names come out of a queue."""

import gzip
import os
import zlib

from tests.oracle.datasets import FOLDER, file, records
from tests.oracle.table import *

TEXTS = (b"one", b"", b"x" * 5000, b"last")
LINES = file("lines", b"a\r\nbb\n\nc")
EMPTY = file("empty", b"")
FIXED = file("fixed", b"HH123456789F")
FIXED_ZLIB = file("fixed.z", zlib.compress(b"HH123456789F"))
FIXED_GZIP = file("fixed.gz", gzip.compress(b"HH123456789F"))
RECORDS, RECORDS_ZLIB, RECORDS_GZIP = (
    records("records", "", TEXTS),
    records("records.z", "ZLIB", TEXTS),
    records("records.gz", "GZIP", TEXTS),
)
with open(RECORDS, "rb") as whole:
    BROKEN = file("broken", whole.read()[:-6] + b"??????")
MISSING = os.path.join(FOLDER, "missing")


def reading(kind, files, reads, v2=True, use=None, up_to=None, says=None, **attrs):
    """Reads `reads` times, until the queue ends. Fetches the counts in between."""
    suffix = "V2" if v2 else ""

    def build(b):
        reader = b.op((kind or "IdentityReader") + suffix, shared_name=b.name("r"), **attrs)
        queue = b.op("FIFOQueue" + suffix, component_types=["string"], shapes=[[]], shared_name=b.name("q"))
        b.run(targets=[b.op("QueueEnqueueMany" + suffix, queue, [values(files, "string")])])
        b.run(targets=[b.op("QueueClose" + suffix, queue)])
        if up_to is None:
            read = b.op("ReaderRead" + suffix, reader, queue)
        else:
            read = b.op("ReaderReadUpTo" + suffix, reader, queue, up_to)
        counts = [b.op("ReaderNumRecordsProduced" + suffix, reader), b.op("ReaderNumWorkUnitsCompleted" + suffix, reader)]
        for _ in range(reads):
            b.run(fetches=[read[0], read[1]])
            b.run(fetches=counts)
        b.run(fetches=[read[0], read[1]], error=True, says=says or "is closed and has insufficient elements")
        b.run(fetches=counts)
        state = b.op("ReaderSerializeState" + suffix, reader)
        if kind in ("IdentityReader", "WholeFileReader"):
            b.run(fetches=[state])
            b.run(targets=[b.op("ReaderReset" + suffix, reader)])
            b.run(fetches=counts)
            b.run(fetches=[state])
            b.run(targets=[b.op("ReaderRestoreState" + suffix, reader, b"\x08\x05\x10\x05\x18\x07")])
            b.run(fetches=counts)
            for bad, text in ((b"zz", "Could not parse state"), (b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "Unexpected negative value"),
                              (b"\x08\x05\x10\x04", "Inconsistent work started vs. finished")):
                b.run(targets=[b.op("ReaderRestoreState" + suffix, reader, values(bad, "string"))], error=True, says=text)
                b.run(fetches=counts)  # zeros: the reader was reset
                b.run(targets=[b.op("ReaderRestoreState" + suffix, reader, b"\x08\x05\x10\x05\x18\x07\x22\x01w")])
                b.run(fetches=[state])
        else:
            b.run(fetches=[state], error=True, says="Reader SerializeState")
            b.run(targets=[b.op("ReaderRestoreState" + suffix, reader, b"")], error=True, says="Reader RestoreState")
            b.run(targets=[b.op("ReaderReset" + suffix, reader)])
            b.run(fetches=counts)

    return build


def wrong_queue(b):
    reader = b.op("IdentityReaderV2")
    numbers = b.op("FIFOQueueV2", component_types=["int32"])
    b.run(targets=[b.op("QueueEnqueueV2", numbers, [values(1, "int32")])])
    b.run(fetches=[b.op("ReaderReadV2", reader, numbers)], error=True, says="Expected queue with single string component")
    pairs = b.op("FIFOQueueV2", component_types=["string", "string"])
    b.run(targets=[b.op("QueueEnqueueV2", pairs, [values("a", "string"), values("b", "string")])])
    b.run(fetches=[b.op("ReaderReadV2", reader, pairs)], error=True, says="Expected single component queue")


def refused(kind, says, **attrs):

    def build(b):
        reader = b.op(kind, **attrs)
        b.run(fetches=[b.op("ReaderNumRecordsProducedV2", reader)], error=True, says=says)

    return build


NAMES = dict(kind="WholeFileReader", files=[LINES, EMPTY], reads=2)
@of_all
def same_records(ours, theirs):
    """In any order."""
    a, b = sorted(ours.tolist()), sorted(theirs.tolist())
    return None if a == b else "%s, TensorFlow has %s" % (a, b)


def mixed(pattern, runs=3, says=None, **attrs):
    """An epoch has as many elements as records, and each record once."""

    def build(b):
        batch = b.op("RecordInput", file_pattern=pattern, **{"file_buffer_size": 100, "file_parallelism": 2, **attrs})
        for _ in range(runs):
            b.run(fetches=[batch], compare=same_records, error=bool(says), says=says)

    return build


ROWS = [
    Row("WholeFileReader", build=reading(**NAMES, v2=False)),
    Row("WholeFileReaderV2", build=reading(**NAMES)),
    Row("IdentityReader", build=reading("IdentityReader", ["x", "", "y"], 3, v2=False)),
    Row("TextLineReader", build=reading("TextLineReader", [LINES, EMPTY, LINES], 6, v2=False, skip_header_lines=1)),
    Row("TFRecordReader", build=reading("TFRecordReader", [RECORDS_GZIP, RECORDS_GZIP], 8, v2=False, compression_type="GZIP")),
    Row("ReaderReadUpTo", name="records", build=reading("TFRecordReader", [RECORDS, EMPTY, RECORDS], 4, v2=False, up_to=2)),
    Row("ReaderReadUpTo", name="lines", build=reading("TextLineReader", [LINES], 1, v2=False, up_to=100)),
    Row("IdentityReaderV2", build=reading("IdentityReader", ["x", "", "y"], 3)),
    Row("TextLineReaderV2", build=reading("TextLineReader", [LINES, EMPTY, LINES], 8)),
    Row("TextLineReaderV2", name="header", build=reading("TextLineReader", [LINES, LINES], 4, skip_header_lines=2)),
    Row("TextLineReaderV2", name="longer header", build=reading("TextLineReader", [LINES], 0, skip_header_lines=9)),
    Row("TextLineReaderV2", name="missing", build=reading("TextLineReader", [MISSING], 0, says="missing; No such file")),
    Row("FixedLengthRecordReaderV2", build=reading("FixedLengthRecordReader", [FIXED, EMPTY][:1], 3, header_bytes=2, record_bytes=3, footer_bytes=1)),
    Row("FixedLengthRecordReaderV2", name="hop", build=reading(
        "FixedLengthRecordReader", [FIXED, FIXED], 8, header_bytes=2, record_bytes=3, footer_bytes=1, hop_bytes=2)),
    Row("FixedLengthRecordReaderV2", name="gaps", build=reading(
        "FixedLengthRecordReader", [FIXED], 3, header_bytes=2, record_bytes=1, footer_bytes=1, hop_bytes=4)),
    Row("FixedLengthRecordReaderV2", name="zlib", build=reading(
        "FixedLengthRecordReader", [FIXED_ZLIB, FIXED_ZLIB], 6, header_bytes=2, record_bytes=3, footer_bytes=1, encoding="ZLIB")),
    Row("FixedLengthRecordReaderV2", name="gzip", build=reading(
        "FixedLengthRecordReader", [FIXED_GZIP], 4, header_bytes=2, record_bytes=2, footer_bytes=2, encoding="GZIP")),
    Row("FixedLengthRecordReaderV2", name="no header", build=reading(
        "FixedLengthRecordReader", [EMPTY], 0, header_bytes=2, record_bytes=2, says="End of file|reached end")),
    Row("TFRecordReaderV2", build=reading("TFRecordReader", [RECORDS, EMPTY, RECORDS], 8)),
    Row("TFRecordReaderV2", name="zlib", build=reading("TFRecordReader", [RECORDS_ZLIB], 4, compression_type="ZLIB")),
    Row("TFRecordReaderV2", name="gzip", build=reading("TFRecordReader", [RECORDS_GZIP], 4, compression_type="GZIP")),
    Row("TFRecordReaderV2", name="broken", build=reading("TFRecordReader", [BROKEN], 3, says="corrupted record at")),
    Row("ReaderReadUpToV2", build=reading("TextLineReader", [LINES, EMPTY, LINES], 4, up_to=3)),
    Row("ReaderReadUpToV2", name="records", build=reading("TFRecordReader", [RECORDS, RECORDS], 2, up_to=100)),
    Row("ReaderReadUpTo", build=reading("WholeFileReader", [LINES, EMPTY], 2, v2=False, up_to=3)),
    Row("ReaderReadV2", name="wrong queue", build=wrong_queue),
    Row("FixedLengthRecordReaderV2", name="negative", build=refused(
        "FixedLengthRecordReaderV2", "header_bytes must be >= 0 not -1", header_bytes=-1, record_bytes=2)),
]
for name in ("Read", "NumRecordsProduced", "NumWorkUnitsCompleted", "Reset", "SerializeState", "RestoreState"):
    ROWS += [Row("Reader" + name, build=reading(**NAMES, v2=False)), Row("Reader" + name + "V2", build=reading(**NAMES))]
ROWS += [Row("RecordInput", build=mixed(*args, **attrs), name=name) for name, args, attrs in (
    ("one file", (RECORDS,), dict(batch_size=4)), ("files", (RECORDS[:-1] + "*s", ), dict(batch_size=4)), ("shifted", (RECORDS,), dict(batch_size=8, file_shuffle_shift_ratio=0.5)),
    ("gzip", (RECORDS_GZIP,), dict(batch_size=4, compression_type="GZIP")), ("nothing asked for", (RECORDS,), dict(batch_size=0)),
    ("missing", (MISSING + "*",), dict(says="Found no files at .*missing")), ("broken", (BROKEN,), dict(batch_size=4, says="corrupted record|inflate|checksum|CRC|crc")),
    ("wrong compression", (RECORDS,), dict(batch_size=4, compression_type="GZIP", says="incorrect header check|ends too early|inflate")))]
