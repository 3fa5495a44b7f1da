"""Images as files: PNG bit for bit, JPEG within a step or two of rounding, because the libraries differ in version."""

import base64
import struct

import tensorflow

from tests.oracle.table import *

RANDOM = numpy.random.default_rng(7)


def smooth(height, width, channels):
    """Something that JPEG keeps well."""
    y, x, c = numpy.meshgrid(numpy.arange(height), numpy.arange(width), numpy.arange(channels), indexing="ij")
    return (127 + 100 * numpy.sin(y / 5 + c) * numpy.cos(x / 7)).astype(numpy.uint8)


def png(channels, bits=8, height=5, width=7):
    dtype = numpy.uint8 if bits == 8 else numpy.uint16
    return tensorflow.io.encode_png(RANDOM.integers(0, 2**bits, (height, width, channels)).astype(dtype)).numpy()


def jpeg(channels, height=24, width=40, **options):
    return tensorflow.io.encode_jpeg(smooth(height, width, channels), **options).numpy()


def bmp(channels, height, width):
    row = (width * channels + 3) // 4 * 4
    header = b"BM" + struct.pack("<IHHI", 54 + row * abs(height), 0, 0, 54)
    header += struct.pack("<IiiHHIIiiII", 40, width, height, 1, 8 * channels, 0, row * abs(height), 1, 1, 0, 0)
    return header + RANDOM.integers(0, 256, row * abs(height)).astype(numpy.uint8).tobytes()


def close(ours, theirs):
    if ours.shape != theirs.shape:
        return "shape %s, TensorFlow's is %s" % (ours.shape, theirs.shape)
    scale = 255 if theirs.dtype.kind == "f" else 1
    far = numpy.abs(ours.astype(float) - theirs.astype(float)).max() * scale
    return "%g away" % far if far > 2 else None


def same_pixels(ours, theirs):
    """Encoded bytes depend on the library; what they decode to must not."""
    for a, b in zip(ours.reshape(-1), theirs.reshape(-1)):
        a, b = (tensorflow.io.decode_image(s, expand_animations=False).numpy().astype(int) for s in (a, b))
        if a.shape != b.shape or numpy.abs(a - b).max() > 2:
            return "decoded images differ: %s and %s" % (a.shape, b.shape)
    return None


# 3x2, two frames; the second covers one pixel and has a transparent colour.
GIF = base64.b64decode("R0lGODlhAwACAPEAAP8AAAD/AAAA/////yH5BAkKAAAALAAAAAADAAIAAAIDhG9RACH5BAkKAAMALAEAAAABAAEAAAICVAEAOw==")
ONE = base64.b64decode("R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=")
P, J1, J3, PROGRESSIVE = in_child(lambda: ([png(1), png(2), png(3), png(4), png(1, 16), png(3, 16), png(4, 16)], jpeg(1), jpeg(3),
                                           jpeg(3, progressive=True)))
# A progressive image whose header claims 65500 by 65500 pixels.
HUGE = PROGRESSIVE.replace(b"\xff\xc2\x00\x11\x08\x00\x18\x00\x28", b"\xff\xc2\x00\x11\x08\xff\xdc\xff\xdc")
B1, B3, B4, TOP = bmp(1, 4, 5), bmp(3, 4, 5), bmp(4, 3, 3), bmp(3, -4, 5)
s = lambda data: values(data, "string")
WRONG = "Unknown image file format. One of JPEG, PNG, GIF, BMP required."

ROWS = [
    Row("DecodePng", cases=[C(s(p)) for p in P] + [C(s(p), channels=k) for p in P for k in (1, 3, 4)] +
        [C(s(p), dtype="uint16") for p in P] + [C(s(ONE))], types=[{}], tol=0,
        errors=[C(s("xx"), says=WRONG), C(s([P[0]]), says="must be scalar|must be rank 0"), C(s(P[0]), channels=5, says="channels"),
                C(s(P[2][:40]), says="PNG"), C(s(B3), says="Trying to decode BMP format using a wrong op. Use `decode_bmp`"),
                C(s(GIF), says="Got 2 frames, but animated gifs can only be decoded by")]),
    Row("DecodePng", name="jpeg", cases=[C(s(J3)), C(s(J1), channels=3)], types=[{}], compare=close),
    Row("DecodeJpeg", cases=[C(s(J1)), C(s(J3)), C(s(J3), channels=1), C(s(J1), channels=3), C(s(J3), fancy_upscaling=False),
                             C(s(J3), dct_method="INTEGER_ACCURATE"), C(s(PROGRESSIVE))] + [C(s(J3), ratio=r) for r in (2, 4, 8)], compare=close,
        errors=[C(s(J3[:300]), says="Invalid JPEG data or crop window"), C(s(J3), channels=4, says="channels"), C(s(J3), ratio=3, says="ratio must be 1, 2, 4, or 8"),
                C(s(J3), dct_method="X", says="dct_method must be one of"), C(s(HUGE), says="Invalid JPEG data or crop window"),
                C(s(J3), channels=2**32 + 1, says="out of range for an int32"), C(s(J3), ratio=2**32 + 2, says="out of range for an int32")]),
    Row("DecodeJpeg", name="png", cases=[C(s(P[2])), C(s(ONE))], tol=0),
    Row("DecodeAndCropJpeg", cases=[C(s(J3), [2, 3, 10, 12]), C(s(J1), [0, 0, 24, 40]), C(s(J3), [23, 39, 1, 1], channels=1)], compare=close,
        errors=[C(s(J3), [0, 0, 25, 3], says="Invalid JPEG data or crop window"), C(s(J3), [0, 0, 0, 3], says="Invalid JPEG data or crop window"),
                C(s(J3), [-1, 0, 3, 3], says="Invalid JPEG data or crop window"), C(s(P[2]), [0, 0, 1, 1], says="DecodeAndCropJpeg operation can run on JPEG only, but detected PNG.")]),
    Row("ExtractJpegShape", cases=[C(s(J1)), C(s(J3))], errors=[C(s("xx"), types={"output_type": "int32"}, says="Invalid JPEG data, size 2")]),
    Row("DecodeGif", cases=[C(s(GIF)), C(s(ONE)), C(s(P[2]))], tol=0, errors=[C(s(GIF[:20]), says="GIF|gif"), C(s("xx"), says=WRONG)]),
    Row("DecodeBmp", cases=[C(s(b)) for b in (B1, B3, B4, TOP)] + [C(s(B3), channels=3)], tol=0,
        errors=[C(s(B3), channels=1, says="for BMP, but got 1"),
                C(s(B3[:50]), says="Incomplete bmp content"), C(s(B3 + b"x"), says="differ by 1"), C(s(B3[:-1]), says="differ by -1"), C(s(P[0]), says="using DecodeBmp op")]),
    Row("DecodeImage", cases=[C(s(d)) for d in P + [GIF, ONE, B3, TOP]] + [C(s(GIF), expand_animations=False)] + [
        C(s(d), dtype=t) for d in (P[2], P[5], B3, GIF) for t in ("uint16", "float")], types=[{}], tol=1e-6,
        errors=[C(s("xx"), says=WRONG), C(s(""), says="Input is empty")]),
    Row("DecodeImage", name="jpeg", cases=[C(s(J3)), C(s(J3), dtype="float")], types=[{}], compare=close),
    Row("EncodePng", compare=same_pixels, types={"T": ("uint8",)}, cases=[
        C(uniform(0, 255).of(5, 4, k)) for k in (1, 2, 3, 4)] + [C(uniform(0, 255).of(2, 3, 4, 3)), C(uniform(0, 255).of(5, 4, 3), compression=9)],
        errors=[C(rand(2, 3), says="at least rank 3"), C(rand(2, 3, 5), says="1, 2, 3, or 4 channels"), C(rand(0, 3, 1), says="PNG encoding failed"),
                C(rand(2, 3, 1), compression=10, says="compression should be in \\[-1,9\\], got 10")]),
    Row("EncodePng", name="16 bits", compare=same_pixels, types={"T": ("uint16",)}, cases=[C(uniform(0, 65535).of(5, 4, 3))]),
    Row("EncodeJpeg", compare=same_pixels, cases=[
        C(values(smooth(24, 40, 3))), C(values(smooth(24, 40, 1)), quality=50), C(values(smooth(24, 40, 3)), progressive=True, optimize_size=True),
        C(values(smooth(24, 40, 3)), chroma_downsampling=False, format="rgb", density_unit="cm", x_density=10, y_density=20, xmp_metadata="<x/>")],
        errors=[C(rand(2, 3), says="3-dimensional|rank 3"), C(rand(2, 3, 2), says="channels"), C(rand(2, 3, 1), format="rgb", says="expects 3 channels"),
                C(rand(2, 3, 1), quality=101, says="quality must be in \\[0,100\\], got 101"),
                C(rand(2, 3, 1), quality=2**32 + 50, says="out of range for an int32")]),
    Row("EncodeJpegVariableQuality", compare=same_pixels, cases=[C(values(smooth(24, 40, 3)), 30)],
        errors=[C(values(smooth(8, 8, 3)), -1, says="quality must be in \\[0,100\\], got -1")]),
]
