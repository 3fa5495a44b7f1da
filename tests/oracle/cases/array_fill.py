"""Tensors made from a rule."""

from tests.oracle.table import *

INDEX_TYPE = [{"T": t, "index_type": "int32"} for t in ALL] + [{"T": "float", "index_type": "int64"}]
FLOAT = {"T": "float", "index_type": "int32"}
ONE_HOT = [{"T": t, "TI": "int64"} for t in ALL] + [{"T": "float", "TI": t} for t in ("int32", "uint8", "int8")]
HOT = {"T": "float", "TI": "int64"}

ROWS = [
    Row("Fill", cases=[C([2, 3], rand()), C([], rand()), C([0, 2], rand()), C([40, 50], rand())], types=INDEX_TYPE,
        errors=[C([[2]], rand(), types=FLOAT, says="vector|rank 1"), C([2], rand(2), types=FLOAT, says="scalar|rank 0"),
                C([-1], rand(), types=FLOAT, says="must be >= 0|>= 0")]),
    Row("Empty", cases=[C([2, 3], init=True), C([0], init=True), C([], init=True)]),
    Row("Empty", cases=[C([2, 3])], compare="shapes", name="uninitialised",
        errors=[C([[2]], types={"dtype": "float"}, says="vector|rank 1")]),
    Row("ZerosLike", [uniform()], shapes=ELEMENTWISE),
    Row("OnesLike", [uniform()], shapes=ELEMENTWISE),
    Row("OneHot", cases=[C(values([0, 2, 1]), 3, 5, 1, types=ONE_HOT[:1]), C(ints(0, 4).of(2, 3), 4, rand(), rand()),
                         C(ints(0, 4).of(2, 3), 4, rand(), rand(), axis=0), C(ints(0, 4).of(2, 3), 4, rand(), rand(), axis=1),
                         C(ints(0, 3).of(), 3, rand(), rand()), C(ints(0, 3).of(0), 3, rand(), rand()), C(ints(0, 3).of(2), 0, rand(), rand()),
                         C(values([3, 0, 100]), 3, rand(), rand())], types=ONE_HOT,
        errors=[C(values([0]), -1, rand(), rand(), types=HOT, says="non-negative"), C(values([0]), [3], rand(), rand(), types=HOT, says="scalar|rank 0"),
                C(values([0]), 3, rand(1), rand(), types=HOT, says="scalar|rank 0"),
                C(values([0]), 3, rand(), rand(), axis=3, types=HOT, says="axis|rank")]),
    Row("OneHot", cases=[C(values([-1, 1]), 3, rand(), rand())], types=[{"T": "float", "TI": t} for t in ("int32", "int64", "int8")], name="negative"),
    Row("Range", cases=[C(0, 5, 1), C(values(1), values(10), values(3)), C(5, 0, -2), C(3, 3, 1), C(0, 1, 5)],
        types={"Tidx": FLOATS + INDEX + ("bfloat16",)},
        errors=[C(0, 5, 0, types={"Tidx": "int32"}, says="Requires delta != 0"), C(5, 0, 1, types={"Tidx": "int32"}, says="Requires start <= limit when delta > 0"),
                C(0, 5, -1, types={"Tidx": "int32"}, says="Requires start >= limit when delta < 0"),
                C([[0]], 5, 1, types={"Tidx": "int32"}, says="scalar|rank 0")]),
    Row("Range", cases=[C(0.5, 2.75, 0.25), C(1, -1, -0.5), C(0, 1, 0.3)], types={"Tidx": FLOATS + ("bfloat16",)}, name="fractions"),
    # TensorFlow's shape function rejects constants of this type.
    Row("Range", cases=[C(values(0.5), values(2.75), values(0.25), variants=["known", "unknown"]), C(values(6), values(-1), values(-2))],
        types={"Tidx": ("half",)}, name="half"),
    Row("LinSpace", cases=[C(0, 1, 5), C(rand(), rand(), 3), C(2, 2, 4), C(3, 7, 1), C(-1, 1, 2)],
        errors=[C(0, 1, 0, types={"T": "float", "Tidx": "int32"}, says="Requires num > 0"),
                C([0, 1], 1, 2, types={"T": "float", "Tidx": "int32"}, says="scalar|rank 0")]),
    # Values fit the type, but multiples of the step do not.
    Row("Range", cases=[C(values(-2147483648), values(2147483647), values(1073741824)), C(values(2147483647), values(-2147483648), values(-2000000000))],
        types={"Tidx": "int32"}, name="far"),
]
