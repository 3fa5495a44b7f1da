"""Ops that move, compare or convert elements, of quantized types."""

from tests.oracle.table import *

NUMBERS_OF = {"qint8": (-128, 127), "quint8": (0, 255), "qint16": (-32768, 32767), "quint16": (0, 65535), "qint32": (-2**31, 2**31 - 1)}
CODES = Gen(lambda random, shape, dtype: random.integers(NUMBERS_OF[dtype][0], NUMBERS_OF[dtype][1], shape, endpoint=True))
FEW = Gen(lambda random, shape, dtype: random.integers(0, 3, shape))
Q3 = ("qint8", "quint8", "qint32")
Q5 = Q3 + ("qint16", "quint16")


def variable(b):
    t = b.types["T"]
    v = b.op("VariableV2", shape=[2, 3], dtype=t)
    b.run(targets=[b.op("Assign", v, b.input(CODES.of(2, 3), t))])
    b.run(fetches=[b.op("Identity", v)])
    handle = b.op("VarHandleOp", dtype=t, shape=[2, 3], shared_name=b.name("v"))
    b.run(targets=[b.op("AssignVariableOp", handle, b.input(CODES.of(2, 3), t))])
    b.run(fetches=[b.op("ReadVariableOp", handle, dtype=t)])
    b.run(fetches=[b.op("ResourceGather", handle, [1, 0], dtype=t)])


def switch(b):
    t = b.types["T"]
    for taken in (True, False):
        made = b.op("Switch", b.input(CODES.of(2, 3), t), b.input(values(taken), "bool"))
        b.run(fetches=[b.op("Merge", [made[0], made[1]])])


ROWS = [
    Row("Concat", cases=[C(1, [CODES.of(2, 3), CODES.of(2, 1)])], types={"T": Q5}, name="quantized"),
    Row("ConcatV2", cases=[C([CODES.of(2, 3), CODES.of(1, 3)], 0)], types={"T": Q5}, name="quantized"),
    Row("Pack", cases=[C([CODES.of(2, 3), CODES.of(2, 3)], axis=1)], types={"T": Q5}, name="quantized"),
    Row("DynamicStitch", cases=[C([values([0, 2]), values([1])], [CODES.of(2, 3), CODES.of(1, 3)])], types={"T": Q3}, name="quantized"),
    Row("Equal", cases=[C(FEW.of(2, 3), FEW.of(3))], types={"T": Q5}, name="quantized"),
    Row("NotEqual", cases=[C(FEW.of(2, 3), FEW.of(2, 3))], types={"T": Q5}, name="quantized"),
    Row("Fill", cases=[C([2, 3], CODES.of())], types={"T": Q5, "index_type": "int32"}, name="quantized"),
    Row("Gather", cases=[C(CODES.of(4, 3), ints(0, 4).of(5))], types={"Tparams": Q5, "Tindices": "int32"}, name="quantized"),
    Row("GatherV2", cases=[C(CODES.of(4, 3), ints(0, 3).of(5), 1)], types={"Tparams": Q5, "Tindices": "int32", "Taxis": "int32"}, name="quantized"),
    Row("GatherNd", cases=[C(CODES.of(4, 3), values([[0, 1], [3, 2]]))], types={"Tparams": Q3, "Tindices": "int32"}, name="quantized"),
    Row("MirrorPad", cases=[C(CODES.of(2, 3), [[1, 1], [0, 2]], mode="SYMMETRIC")], types={"T": Q3, "Tpaddings": "int32"}, name="quantized"),
    Row("Pad", cases=[C(CODES.of(2, 3), [[1, 1], [0, 2]])], types={"T": Q3, "Tpaddings": "int32"}, name="quantized"),
    Row("PadV2", cases=[C(CODES.of(2, 3), [[1, 1], [0, 2]], CODES.of())], types={"T": Q3, "Tpaddings": "int32"}, name="quantized"),
    Row("Slice", cases=[C(CODES.of(4, 3), [1, 0], [2, -1])], types={"T": Q3, "Index": "int32"}, name="quantized"),
    Row("StridedSlice", cases=[C(CODES.of(4, 3), [3, 0], [0, 3], [-2, 1])], types={"T": Q3, "Index": "int32"}, name="quantized"),
    Row("SpaceToDepth", cases=[C(CODES.of(1, 4, 4, 2), block_size=2)], types={"T": "qint8"}, name="quantized"),
    Row("Split", cases=[C(1, CODES.of(2, 4), num_split=2)], types={"T": "quint8"}, name="quantized"),
    Row("SplitV", cases=[C(CODES.of(2, 4), [1, 3], 1, num_split=2)], types={"T": "quint8", "Tlen": "int64"}, name="quantized"),
    Row("SparseToDense", cases=[C([[0, 1], [1, 2]], [2, 3], CODES.of(2), CODES.of())], types={"T": ("qint8", "quint8", "qint16", "quint16"), "Tindices": "int64"}, name="quantized"),
    Row("Cast", cases=[C(uniform(0, 100).of(2, 3))], types=[{"SrcT": s, "DstT": d} for s in ("float", "int32", "uint8") for d in Q5], name="to quantized"),
    Row("Cast", cases=[C(CODES.of(2, 3))], types=[{"SrcT": s, "DstT": d} for d in ("float", "int32") for s in Q5], name="from quantized"),
    Row("Bitcast", cases=[C(CODES.of(2, 3))], types=[{"T": "quint8", "type": "uint8"}, {"T": "qint8", "type": "int8"}, {"T": "qint32", "type": "int32"}, {"T": "quint8", "type": "qint8"}], name="quantized"),
    Row("Identity", cases=[C(CODES.of(2, 3))], types={"T": Q5}, name="quantized"),
    Row("Reshape", cases=[C(CODES.of(2, 3), [6])], types={"T": Q5, "Tshape": "int32"}, name="quantized"),
    Row("Assign", build=variable, types={"T": Q3}, name="quantized"),
    Row("Switch", build=switch, types={"T": Q3}, name="quantized"),
]
