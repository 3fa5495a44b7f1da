"""Isotonic regression."""

from tests.oracle.table import *

SAME = [{"T": t, "output_dtype": t} for t in ("float", "double", "half", "bfloat16")]
OTHER = [{"T": t, "output_dtype": o} for t, o in (("int8", "float"), ("int16", "float"), ("int32", "double"), ("int64", "double"))]
ROWS = [
    # TensorFlow's gradient needs a matrix.
    Row("IsotonicRegression", cases=[C(distinct().of(2, 7)), C(distinct().of(1, 9)), C(distinct().of(3, 1))], types=SAME),
    Row("IsotonicRegression", cases=[C(distinct().of(9)), C(distinct().of(2, 3, 5)), C(distinct().of()), C(distinct().of(0, 3)), C(distinct().of(3, 0)), C(values([3, 1, 2, 2, 5, -1, -1])), C(values([nan, 1.0, 2.0]), types=SAME[0])], types=SAME, grad=False, name="other ranks"),
    Row("IsotonicRegression", cases=[C(distinct().of(2, 7)), C(ints(-5, 5).of(40))], types=OTHER, grad=False, name="integers"),
    Row("IsotonicRegression", cases=[C(distinct().of(7)), C(distinct().of(2, 3, 4)), C(distinct().of())], types=[{"T": "double", "output_dtype": "double"}], grad="numeric", name="gradient"),
]
