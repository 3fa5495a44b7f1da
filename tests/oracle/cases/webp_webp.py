"""WebP images: three still ones, and an animation of one of them."""

import base64
import struct

from tests.oracle.table import *

RGB = base64.b64decode("UklGRnoAAABXRUJQVlA4TG4AAAAvBIAAAHegprad5mSLhqyx0Wjm8YCBzgZWjNa28ePvhjCLY0hRtodoDFGSlEay1fwkv0qg8dRBu1SGjWr+A3dv0vXbqNSf5v5XzWxPqweHKHwggmjFXF5OUBDJBvX8qaiORNIoIVBE/2PPeapfAQ==")
RGBA = base64.b64decode("UklGRlgAAABXRUJQVlA4TEwAAAAvAkAAEC9AEEBiEEFesy8wxCRk0jZ3nZT5ZxpmZw7UtG0E7V3f48/odEiOAVmACcz25xZTCvnFswuMR+uxvmwOBWkbsLh7BhbR//hS")
LOSSY = base64.b64decode("UklGRjQAAABXRUJQVlA4ICgAAADQAQCdASoMABAAAUAmJaQAL0ADz+4KAAD+/ovJsKhXJHZ74YdIAAAA")


def chunk(name, data):
    return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def small(n):
    return struct.pack("<I", n)[:3]


def animation(still, width, height, places, alpha):
    """The still image at each of some places (even ones) of a canvas that is 4 wider and higher, one a frame."""
    frames = b"".join(chunk(b"ANMF", small(x // 2) + small(y // 2) + small(width - 1) + small(height - 1) + small(100) + b"\0" + still[12:]) for x, y in places)
    canvas = chunk(b"VP8X", bytes([0x12 if alpha else 0x02, 0, 0, 0]) + small(width + 3) + small(height + 3))
    body = b"WEBP" + canvas + chunk(b"ANIM", struct.pack("<IH", 0, 0)) + frames
    return b"RIFF" + struct.pack("<I", len(body)) + body


FILES = (RGB, RGBA, LOSSY, animation(RGBA, 3, 2, [(0, 0), (4, 2), (2, 4)], True))

ROWS = [
    Row("DecodeWebP", cases=[C(values(f, "string")) for f in FILES] + [C(values(RGB, "string"), channels=3), C(values(RGBA, "string"), channels=4)], types=[{}], tol=0,
        errors=[C(values(RGB, "string"), channels=4, says="does not match"), C(values(RGBA, "string"), channels=3, says="does not match"), C(values(RGB, "string"), channels=1, says="3 or 4"), C(values(b"", "string"), says="empty"), C(values(RGB[:30], "string"), says="WebP"),
                C(values(b"no image at all", "string"), says="Unknown image"), C(values([RGB], "string"), says="scalar|rank")]),
]
