"""Matrix products."""

from tests.oracle.table import *

SMALL = uniform(-2, 2)
INNER = "(Matrix size-incompatible|Dimensions must be equal|must be equal|incompatible)"


def batches(op, types, broadcast):
    cases = [
        C(SMALL.of(2, 2, 3), SMALL.of(2, 3, 4)), C(SMALL.of(2, 3, 2), SMALL.of(2, 3, 4), adj_x=True),
        C(SMALL.of(2, 2, 3), SMALL.of(2, 4, 3), adj_y=True), C(SMALL.of(2, 3, 2), SMALL.of(2, 4, 3), adj_x=True, adj_y=True),
        C(SMALL.of(2, 3), SMALL.of(3, 2)), C(SMALL.of(0, 2, 3), SMALL.of(0, 3, 2)), C(SMALL.of(2, 0, 3), SMALL.of(2, 3, 2)),
        C(SMALL.of(2, 2, 0), SMALL.of(2, 0, 3)), C(SMALL.of(2, 3, 1, 2), SMALL.of(2, 3, 2, 2)),
    ]
    if broadcast:
        cases += [C(SMALL.of(2, 2, 3), SMALL.of(3, 2)), C(SMALL.of(3, 1, 2, 3), SMALL.of(2, 3, 2)), C(SMALL.of(1, 2, 3), SMALL.of(4, 3, 2)),
                  C(SMALL.of(2, 3), SMALL.of(2, 1, 4, 3), adj_y=True)]
    return Row(op, cases=cases, types=types, grad_tol={"half": 2e-2, "bfloat16": 0.1}, tol={"half": 5e-3, "bfloat16": 4e-2})


F32 = {"T": "float"}
ROWS = [
    Row("MatMul", cases=[
        C(SMALL.of(2, 3), SMALL.of(3, 4)), C(SMALL.of(3, 2), SMALL.of(3, 4), transpose_a=True), C(SMALL.of(2, 3), SMALL.of(4, 3), transpose_b=True),
        C(SMALL.of(3, 2), SMALL.of(4, 3), transpose_a=True, transpose_b=True), C(SMALL.of(1, 5), SMALL.of(5, 1)), C(SMALL.of(5, 1), SMALL.of(1, 5)),
        C(SMALL.of(0, 3), SMALL.of(3, 2)), C(SMALL.of(2, 0), SMALL.of(0, 3)), C(SMALL.of(1, 7), SMALL.of(7, 9)), C(SMALL.of(9, 7), SMALL.of(7, 1))],
        grad_tol={"half": 2e-2, "bfloat16": 0.1}, tol={"half": 5e-3, "bfloat16": 4e-2},
        errors=[C(rand(2, 3), rand(2, 3), types=F32, says="(Matrix size-incompatible: In\\[0\\]: \\[2,3\\], In\\[1\\]: \\[2,3\\]|Dimensions must be equal, but are 3 and 2)"),
                C(rand(2, 3, 4), rand(4, 2), types=F32, says="rank|matri|ndims")]),
    Row("MatMul", cases=[C(SMALL.of(150, 70), SMALL.of(70, 130)), C(SMALL.of(300, 33), SMALL.of(300, 40), transpose_a=True),
                         C(SMALL.of(40, 500), SMALL.of(7, 500), transpose_b=True)],
        types={"T": FLOATS + ("int32", "complex64")}, tol={"float": 1e-4, "double": 1e-10, "complex64": 1e-4}, name="big", grad=False),
    # Sizes for which a matrix unit is used, if the machine has one.
    Row("MatMul", cases=[C(SMALL.of(256, 64), SMALL.of(64, 128)), C(SMALL.of(128, 32), SMALL.of(200, 128), transpose_a=True, transpose_b=True),
                         C(SMALL.of(90, 200), SMALL.of(90, 150), transpose_a=True), C(SMALL.of(31, 600), SMALL.of(190, 600), transpose_b=True)],
        types={"T": FLOATS}, tol={"float": 1e-4, "double": 1e-10}, name="large", grad=False),
    batches("BatchMatMul", None, False),
    batches("BatchMatMulV2", None, True),
    Row("BatchMatMulV2", cases=[C(SMALL.of(3, 150, 70), SMALL.of(70, 130))], types={"T": FLOATS}, tol={"float": 1e-4, "double": 1e-10}, name="big",
        grad=False, errors=[C(rand(2, 2, 3), rand(3, 3, 2), types=F32, says="(compatible batch|must be equal)"),
                            C(rand(2, 2, 3), rand(2, 4, 2), types=F32, says=INNER), C(rand(3), rand(3, 2), types=F32, says="rank|ndims")]),
    Row("BatchMatMul", cases=[], errors=[C(rand(2, 2, 3), rand(3, 3, 2), types=F32, says="(same batch|must be equal|must be the same|compatible)"),
                                         C(rand(2, 2, 3), rand(3, 2), types=F32, says="(ndims|rank|must be equal|compatible)")], name="errors"),
    batches("BatchMatMulV3", [{"Ta": t, "Tb": t, "Tout": t} for t in FLOATS + COMPLEX + ("int32", "int64", "int16")] +
            [{"Ta": a, "Tb": b, "Tout": "int32"} for a in ("int8", "uint8") for b in ("int8", "uint8")] , True),
]
