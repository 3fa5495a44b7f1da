"""Space to batch, to channels and to patches; dilation; formats."""

from tests.oracle.table import *

F = {"T": "float"}
KNOWN = ("known", "const")  # TensorFlow rejects block shapes of unknown rank
I32 = {"T": REALS, "Tpaddings": ("int32",), "Tblock_shape": ("int32",), "Tcrops": ("int32",), "Tidx": ("int32",)}


def types(*names):
    return {k: I32[k] for k in ("T",) + names}


ROWS = [
    Row("SpaceToBatchND", cases=[C(rand(1, 4, 4, 2), [2, 2], [[0, 0], [0, 0]], variants=KNOWN), C(rand(2, 3, 5), [2, 3], [[1, 0], [0, 1]], variants=KNOWN), C(rand(2, 4), [2], [[1, 1]], variants=KNOWN), C(rand(3, 2), numpy.zeros((0,)), numpy.zeros((0, 2)), variants=KNOWN),
                                 C(rand(1, 2, 3, 2, 2), [1, 2, 2], [[0, 0], [1, 0], [2, 2]], variants=KNOWN), C(rand(0, 2), [2], [[0, 0]], variants=KNOWN)], types=types("Tpaddings", "Tblock_shape"),
        errors=[C(rand(1, 3), values([2]), values([[0, 0]]), types=F, says="divisible"), C(rand(1, 3), values([0]), values([[0, 0]]), types=F, says="positive"), C(rand(1, 3), values([2]), values([[-1, 0]]), types=F, says="negative"),
                C(rand(3), values([2]), values([[1, 0]]), types=F, says="rank"), C(rand(1, 3), values([2]), values([[1, 0, 0]]), types=F, says="shape|equal|must be 2")]),
    Row("SpaceToBatchND", cases=[C(rand(2, 3, 5), [2, 3], [[1, 0], [0, 1]], variants=KNOWN)], types={"T": ("float",), "Tpaddings": INDEX, "Tblock_shape": INDEX}, name="index"),
    Row("BatchToSpaceND", cases=[C(rand(4, 2, 2, 1), [2, 2], [[0, 0], [0, 0]], variants=KNOWN), C(rand(6, 2, 2), [2, 3], [[1, 0], [0, 1]], variants=KNOWN), C(rand(4, 4), [2], [[1, 1]], variants=KNOWN), C(rand(3, 2), numpy.zeros((0,)), numpy.zeros((0, 2)), variants=KNOWN)], types=types("Tcrops", "Tblock_shape"),
        errors=[C(rand(3, 3), values([2]), values([[0, 0]]), types=F, says="divisible"), C(rand(2, 1), values([2]), values([[2, 1]]), types=F, says="negative"), C(rand(2, 3), values([2]), values([[-1, 0]]), types=F, says="negative")]),
    Row("BatchToSpaceND", cases=[C(rand(6, 2, 2), [2, 3], [[1, 0], [0, 1]], variants=KNOWN)], types={"T": ("float",), "Tcrops": INDEX, "Tblock_shape": INDEX}, name="index"),
    Row("SpaceToBatch", cases=[C(rand(1, 4, 4, 2), [[0, 0], [0, 0]], block_size=2), C(rand(2, 2, 4, 1), [[1, 0], [1, 1]], block_size=3)], types=types("Tpaddings"),
        errors=[C(rand(1, 3, 3, 1), values([[0, 0], [0, 0]]), block_size=2, types=F, says="divisible"), C(rand(4, 4, 1), values([[0, 0], [0, 0]]), block_size=2, types=F, says="rank")]),
    Row("SpaceToBatch", cases=[C(rand(1, 4, 4, 2), [[0, 0], [0, 0]], block_size=2)], types={"T": ("float",), "Tpaddings": INDEX}, name="index"),
    Row("BatchToSpace", cases=[C(rand(4, 2, 2, 1), [[0, 0], [0, 0]], block_size=2), C(rand(9, 2, 2, 1), [[1, 0], [1, 1]], block_size=3)], types=types("Tidx"),
        errors=[C(rand(3, 3, 3, 1), values([[0, 0], [0, 0]]), block_size=2, types=F, says="divisible")]),
    Row("BatchToSpace", cases=[C(rand(4, 2, 2, 1), [[0, 0], [0, 0]], block_size=2)], types={"T": ("float",), "Tidx": INDEX}, name="index"),
    Row("SpaceToDepth", cases=[C(rand(1, 4, 4, 2), block_size=2), C(rand(2, 3, 6, 1), block_size=3), C(rand(0, 2, 2, 1), block_size=2)], types={"T": ALL},
        errors=[C(rand(1, 3, 4, 1), block_size=2, types=F, says="divisible"), C(rand(4, 4, 1), block_size=2, types=F, says="rank")]),
    Row("DepthToSpace", cases=[C(rand(1, 2, 2, 8), block_size=2), C(rand(2, 1, 2, 9), block_size=3), C(rand(0, 2, 2, 4), block_size=2)], types={"T": ALL},
        errors=[C(rand(1, 2, 2, 3), block_size=2, types=F, says="divisible"), C(rand(4, 4, 4), block_size=2, types=F, says="rank")]),
    Row("ExtractImagePatches", cases=[C(rand(1, 5, 6, 2), ksizes=[1, 2, 3, 1], strides=[1, 1, 2, 1], rates=[1, 1, 1, 1], padding="VALID"), C(rand(2, 5, 5, 1), ksizes=[1, 3, 3, 1], strides=[1, 2, 2, 1], rates=[1, 2, 1, 1], padding="SAME")],
        types={"T": NUMBERS}, errors=[C(rand(5, 5, 1), ksizes=[1, 3, 3, 1], strides=[1, 2, 2, 1], rates=[1, 1, 1, 1], padding="SAME", types=F, says="rank|4-dim")] + [
            C(rand(1, 5, 5, 1), padding="SAME", types=F, says="Only support %s across space" % name, **{**dict(ksizes=[1, 3, 3, 1], strides=[1] * 4, rates=[1] * 4), name: sizes})
            for name in ("ksizes", "strides", "rates") for sizes in ([2, 1, 1, 1], [1, 1, 1, 2])]),
    Row("ExtractVolumePatches", cases=[C(rand(1, 3, 4, 4, 2), ksizes=[1, 2, 2, 3, 1], strides=[1, 1, 2, 1, 1], padding="VALID", variants=("known",)), C(rand(2, 3, 3, 3, 1), ksizes=[1, 2, 3, 2, 1], strides=[1, 2, 2, 1, 1], padding="SAME", variants=("known",))],
        errors=[C(rand(1, 3, 4, 4, 2), padding="SAME", types=F, says="Only support %s across space" % name, **{**dict(ksizes=[1] * 5, strides=[1] * 5), name: [1, 1, 1, 1, 2]}) for name in ("ksizes", "strides")]),
    Row("Dilation2D", cases=[C(distinct().of(1, 5, 5, 2), rand(2, 3, 2), strides=[1, 1, 2, 1], rates=[1, 1, 1, 1], padding="VALID"), C(distinct().of(2, 4, 5, 1), rand(3, 2, 1), strides=[1, 2, 1, 1], rates=[1, 2, 1, 1], padding="SAME")],
        grad="tf", errors=[C(rand(1, 4, 4, 2), rand(2, 2, 3), strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding="VALID", types=F, says="depth|equal"),
            C(rand(1, 4, 4, 2), rand(2, 2, 2), strides=[2, 1, 1, 1], rates=[1, 1, 1, 1], padding="SAME", types=F, says="Stride is only supported across spatial dimensions"),
            C(rand(1, 4, 4, 2), rand(2, 2, 2), strides=[1, 1, 1, 1], rates=[1, 1, 1, 2], padding="SAME", types=F, says="Rate is only supported across spatial dimensions")]),
    Row("Dilation2DBackpropInput", cases=[C(distinct().of(1, 5, 5, 2), rand(2, 3, 2), rand(1, 4, 2, 2), strides=[1, 1, 2, 1], rates=[1, 1, 1, 1], padding="VALID")],
        errors=[C(rand(1, 5, 5, 2), rand(2, 3, 2), rand(1, 4, 3, 2), strides=[1, 1, 2, 1], rates=[1, 1, 1, 1], padding="VALID", types=F, says="out_backprop")]),
    Row("Dilation2DBackpropFilter", cases=[C(distinct().of(1, 5, 5, 2), rand(2, 3, 2), rand(1, 4, 2, 2), strides=[1, 1, 2, 1], rates=[1, 1, 1, 1], padding="VALID")]),
    Row("DataFormatDimMap", cases=[C(values([0, 1, 2, 3, -1, -4])), C(values([[0, 2]]), src_format="NCHW", dst_format="NHWC"), C(values([0, 4]), src_format="NDHWC", dst_format="NCDHW")],
        errors=[C(values([0]), src_format="NHW", dst_format="NHWC", types={"T": "int32"}, says="format"), C(values([0]), src_format="NHWX", dst_format="NHWC", types={"T": "int32"}, says="format|permutation")]),
    Row("DataFormatVecPermute", cases=[C(values([7, 4, 9, 3])), C(values([[1, 2], [3, 4], [5, 6], [7, 8]]), src_format="NCHW", dst_format="NHWC"), C(values([3, 4])), C(values([[1, 2], [3, 4]]), src_format="NHWC", dst_format="HWNC")],
        errors=[C(values([1, 2, 3]), types={"T": "int32"}, says="size"), C(values(3), types={"T": "int32"}, says="vector")]),
]
