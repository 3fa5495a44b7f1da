"""Sparse tensors as strings and variants, and in a map of the device."""

from tests.oracle.table import *

F = {"T": "float"}
TYPES = ("float", "double", "half", "bfloat16", "int32", "int64", "int8", "int16", "uint8", "uint16", "uint32", "uint64", "bool", "complex64", "complex128", "string")


def i64(x):
    return values(numpy.array(x, "int64"), "int64")


def sparse(shape, *indices):
    return [i64(numpy.array(indices).reshape(-1, len(shape))), rand(len(indices)), i64(shape)]


A = sparse([3, 4], [0, 1], [0, 3], [2, 0], [2, 2])
LARGER = sparse([3, 6], [0, 5], [1, 1])
CUBE = sparse([2, 3, 4], [0, 0, 1], [0, 2, 3], [1, 0, 0], [1, 0, 2], [1, 2, 3])
EMPTY = sparse([3, 4])
NONE = sparse([0, 4])
UNORDERED = sparse([3, 4], [2, 2], [0, 1])
OUTSIDE = sparse([3, 4], [0, 1], [3, 0])
REPEATED = sparse([3, 4], [0, 1], [0, 1])


def given(b, x):
    return b.input(x, x.dtype or b.types["T"])


def there_and_back(name, *tensors):
    """Serialized in each form, and read back: alone, several stacked, under two dimensions."""

    def build(b):
        dtype = b.types["T"]
        for form in ("string", "variant"):
            parts = [b.op("Serialize" + name, *[given(b, x) for x in t], out_type=form) for t in tensors]
            back = b.op("DeserializeSparse", parts[0], dtype=dtype)
            b.run(fetches=[back])
            stacked = b.op("Pack", [p for p in parts], axis=0)
            b.run(fetches=[b.op("DeserializeSparse", stacked, dtype=dtype)])
            deeper = b.op("Pack", [stacked], axis=1)
            b.run(fetches=[b.op("DeserializeSparse", deeper, dtype=dtype)])
            if form == "string":
                b.run(fetches=[parts[0]])
                if name == "ManySparse":
                    b.run(fetches=[b.op("DeserializeManySparse", parts[0], dtype=dtype)])
                wrong = b.op("DeserializeSparse", parts[0], dtype="int8" if dtype != "int8" else "float")
                b.run(fetches=[wrong], error=True, says="Requested SparseTensor of type")

    return build


def bad_serialized(b):
    two = b.op("SerializeSparse", *[given(b, x) for x in A])
    three = b.op("SerializeSparse", *[given(b, x) for x in CUBE])
    mixed = b.op("Pack", [two, three], axis=0)
    b.run(fetches=[b.op("DeserializeSparse", mixed, dtype="float")], error=True, says="Inconsistent shape")
    b.run(fetches=[b.op("DeserializeManySparse", mixed, dtype="float")], error=True, says="Inconsistent shape")
    for shape, says in (((2,), "3 as the last"), ((), "non-zero rank"), ((0, 3), "at least 1")):
        junk = b.hidden(values(numpy.full(shape, b"x", object), "string"))
        b.run(fetches=[b.op("DeserializeSparse", junk, dtype="float")], error=True, says=says)
    junk = b.hidden(values([b"\xff", b"b", b"c"], "string"))
    b.run(fetches=[b.op("DeserializeSparse", junk, dtype="float")], error=True, says="parse")
    b.run(fetches=[b.op("DeserializeManySparse", junk, dtype="float")], error=True, says="matrix|parse")


def through_map(b):
    dtype = b.types["T"]
    name = b.name("map")
    many = b.op("AddManySparseToTensorsMap", *[given(b, x) for x in A], shared_name=name)
    b.run(fetches=[many])
    take = b.op("TakeManySparseFromTensorsMap", b.input(i64([2, 0])), dtype=dtype, shared_name=name)
    b.run(fetches=[take])
    b.run(fetches=[take], error=True, says="Unable to find SparseTensor: 2 in map")
    one = b.op("AddSparseToTensorsMap", *[given(b, x) for x in LARGER], shared_name=name)
    b.run(fetches=[one])
    b.run(fetches=[b.op("TakeManySparseFromTensorsMap", b.input(i64([3])), dtype=dtype, shared_name=name)])
    both = b.op("TakeManySparseFromTensorsMap", b.input(i64([1, 7])), dtype=dtype, shared_name=name)
    b.run(fetches=[both], error=True, says="Unable to find")


def bad_map(b):
    name = b.name("map")
    for parts, says in ((UNORDERED, "order"), (REPEATED, "repeated"), (OUTSIDE, "bounds"), (sparse([4], [1]), "[Rr]ank")):
        b.run(fetches=[b.op("AddManySparseToTensorsMap", *[given(b, x) for x in parts], shared_name=name)], error=True, says=says)
    many = b.op("AddSparseToTensorsMap", *[given(b, x) for x in A], shared_name=name)
    b.run(fetches=[many])
    b.run(fetches=[b.op("TakeManySparseFromTensorsMap", b.input(i64([0])), dtype="int32", shared_name=name)], error=True, says="type int32")
    b.run(fetches=[b.op("TakeManySparseFromTensorsMap", b.input(i64([])), dtype="int32", shared_name=name)], error=True, says="at least 1")


ROWS = [
    Row("SerializeSparse", build=there_and_back("Sparse", A, LARGER, EMPTY), types=[{"T": t} for t in TYPES]),
    Row("SerializeSparse", name="bad", errors=[C(rand(2).typed("int64"), rand(1), i64([3]), types=F, says="matrix|rank"), C(A[0], rand(4, 1), A[2], types=F, says="vector|rank"), C(A[0], A[1], i64([[3, 4]]), types=F, says="vector|rank")]),
    Row("SerializeManySparse", build=there_and_back("ManySparse", A, LARGER, EMPTY), types=[{"T": t} for t in TYPES]),
    Row("SerializeManySparse", name="more", cases=[C(*CUBE), C(*NONE)], types={"T": ("float", "int64"), "out_type": ("string",)},
        errors=[C(*UNORDERED, types={"T": "float", "out_type": "string"}, says="out of order"), C(*REPEATED, types={"T": "float", "out_type": "string"}, says="repeated"),
                C(*OUTSIDE, types={"T": "float", "out_type": "string"}, says="out of bounds"), C(*sparse([4], [1]), types={"T": "float", "out_type": "string"}, says="[Rr]ank")]),
    Row("DeserializeSparse", build=there_and_back("Sparse", CUBE, CUBE), types=[{"T": "float"}, {"T": "string"}]),
    Row("DeserializeSparse", name="bad", build=bad_serialized, types=[{"T": "float"}]),
    Row("DeserializeManySparse", build=there_and_back("ManySparse", CUBE, CUBE), types=[{"T": "float"}, {"T": "string"}]),
    Row("AddSparseToTensorsMap", build=through_map, types={"T": ("float", "string")}),
    Row("AddManySparseToTensorsMap", build=through_map, types={"T": TYPES}),
    Row("TakeManySparseFromTensorsMap", build=bad_map, types=[{"T": "float"}]),
]
