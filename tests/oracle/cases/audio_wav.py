"""Sound in and out of WAV files."""

import struct

from tests.oracle.table import *


def wav(channels=1, rate=8000, data=(0, 16384, -32768, 32767), kind=1, bits=16, extra=b"", size=None):
    samples = struct.pack("<%dh" % len(data), *data)
    return (b"RIFF" + struct.pack("<I", 36 + len(samples)) + b"WAVEfmt " +
            struct.pack("<IHHIIHH", 16, kind, channels, rate, rate * channels * 2, channels * 2, bits) + extra + b"data" +
            struct.pack("<I", len(samples) if size is None else size) + samples)


s = lambda data: values(data, "string")
TOO_SHORT = "Data too short when trying to read"
ROWS = [
    Row("DecodeWav", tol=0, cases=[C(s(wav())), C(s(wav(2))), C(s(wav(2)), desired_channels=1), C(s(wav()), desired_channels=2), C(s(wav()), desired_samples=2),
                                   C(s(wav()), desired_samples=6), C(s(wav(2)), desired_samples=3, desired_channels=3), C(s(wav()), desired_samples=0),
                                   C(s(wav(extra=b"LIST" + struct.pack("<I", 4) + b"abcd"))), C(s(wav(extra=b"odd " + struct.pack("<I", 3) + b"abc"))), C(s(wav(data=())))],
        errors=[C(s(wav(bits=8)), says="Can only read 16-bit WAV files, but received 8"), C(s(wav(kind=3)), says="Bad audio format for WAV: Expected 1 \\(PCM\\), but got3"),
                C(s("xx"), says=TOO_SHORT), C(s(""), says=TOO_SHORT), C(s(wav()[:30]), says=TOO_SHORT), C(s(wav(size=100)), says=TOO_SHORT),
                C(s(wav(0)), says="Bad number of channels for WAV: Expected at least 1, but got 0"), C(s(wav(extra=b"junk" + struct.pack("<I", 400))), says="No data chunk found in WAV"),
                C(s([wav()]), says="contents must be scalar, got shape \\[1\\]|rank 0"), C(s(wav()), desired_channels=-3, says="channels must be non-negative, got -3")]),
    Row("EncodeWav", cases=[C(values([[0], [0.5], [-1], [1], [2], [-3]]), 8000), C(values([[0, 0.25], [0.1, 0.2]]), 44100), C(rand(0, 1), 8000), C(rand(50, 2), 1)],
        errors=[C(rand(3), 8000, says="audio must be 2-dimensional|rank 2"), C(rand(3, 1), [8000], says="sample_rate should be a scalar|rank 0"),
                C(rand(3, 1), 0, says="sample_rate must be in \\(0, 2\\^32\\), got: 0"), C(rand(3, 1), -1, says="sample_rate must be in")]),
]
