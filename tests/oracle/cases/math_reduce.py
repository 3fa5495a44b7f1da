"""Reductions and running reductions."""

from tests.oracle.table import *


def shapes_and_axes(gen):
    """Every way that kept and reduced dimensions follow each other."""
    return [
        C(gen.of(2, 3), [0]), C(gen.of(2, 3), [-1], keep_dims=True), C(gen.of(2, 3), 1), C(gen.of(2, 3), [0, 1]), C(gen.of(2, 3), []),
        C(gen.of(), []), C(gen.of(5), 0), C(gen.of(2, 3, 4), [0, 2]), C(gen.of(2, 3, 4), [1], keep_dims=True),
        C(gen.of(2, 3, 2, 3), [0, 2]), C(gen.of(2, 3, 2, 3), [1, 3]), C(gen.of(2, 1, 3), [1]), C(gen.of(2, 1, 3), [0, 2], keep_dims=True),
        C(gen.of(2, 0, 3), [0]),
    ]


EMPTY = [C(rand(0, 3), [0]), C(rand(2, 0), [1]), C(rand(0), 0, keep_dims=True)]
ERRORS = [C(rand(2, 3), [2], types={"T": "float", "Tidx": "int32"}, says="[Ii]nvalid reduction dimension"),
          C(rand(2, 3), [-3], types={"T": "float", "Tidx": "int32"}, says="[Ii]nvalid reduction dimension"),
          C(rand(2, 3), [0, 0], types={"T": "float", "Tidx": "int32"}, says="duplicate", variants=["unknown"]),
          C(rand(2, 3), [[0]], types={"T": "float", "Tidx": "int32"}, says="rank", variants=["known"])]
BIG = [C(uniform(-1, 1).of(70000), 0), C(uniform(-1, 1).of(3000, 7), 0), C(uniform(-1, 1).of(5, 5000), 1), C(uniform(-1, 1).of(700, 300), 0),
       C(uniform(-1, 1).of(40, 3000), 0), C(uniform(-1, 1).of(9, 70, 11, 3), [0, 2])]
T32 = {"T": NUMBERS, "Tidx": ("int32",)}
BIG_TYPES = {"T": FLOATS + ("int32", "complex64"), "Tidx": ("int32",)}
B = uniform().typed("bool")


def scan(op, gen, **more):
    return Row(op, cases=[
        C(gen.of(5), 0), C(gen.of(2, 3), 1, exclusive=True), C(gen.of(2, 3), -2, reverse=True),
        C(gen.of(2, 4, 3), 1, exclusive=True, reverse=True), C(gen.of(0, 3), 0), C(gen.of(2, 0), 0), C(gen.of(3, 1), 1, exclusive=True)],
        errors=[C(rand(2, 3), 2, types={"T": "float", "Tidx": "int32"}, says="scan axis"),
                C(rand(2, 3), [0], types={"T": "float", "Tidx": "int32"}, says="scalar")], **more)


ROWS = [
    Row("Sum", cases=shapes_and_axes(uniform()) + EMPTY, types=T32, errors=ERRORS),
    Row("Sum", cases=[C(rand(2, 3), [0], variants=["known"]), C(rand(2, 3), 1, variants=["known"])], types={"T": FLOATS, "Tidx": ("int64",)}, name="int64_axes"),
    Row("Sum", cases=BIG, types=BIG_TYPES, name="big", tol={"float": 1e-4, "complex64": 1e-4}, grad=False),
    Row("Mean", cases=shapes_and_axes(uniform()), types=T32, errors=ERRORS[:2]),
    Row("Mean", cases=EMPTY, types=T32, grad=False, name="empty"),
    Row("Mean", cases=BIG, types=BIG_TYPES, name="big", tol={"float": 1e-4, "complex64": 1e-4}, grad=False),
    Row("Mean", cases=[C(rand(2, 3), [0], variants=["known"]), C(rand(2, 3), 1, variants=["known"])], types={"T": FLOATS, "Tidx": ("int64",)}, name="int64_axes"),
    Row("Mean", cases=[C(values([100, 120, 127]), 0), C(values([-100, -120, -127]), 0)], types={"T": ("int8", "int16", "int32"), "Tidx": ("int32",)}, name="wide"),
    Row("Prod", cases=shapes_and_axes(away_from_zero(0.5, 2)) + EMPTY, types=T32, errors=ERRORS[:2], grad_tol={"half": 2e-2, "bfloat16": 0.1}),
    Row("Prod", cases=[C(values([[2.0, 0, 3], [0, 0, 1]]), [1]), C(values([2.0, 0, 3]), 0)], types={"T": FLOATS, "Tidx": INDEX}, name="zeros"),
    Row("Max", cases=shapes_and_axes(distinct()), types={"T": REALS, "Tidx": ("int32",)}, errors=ERRORS[:2]),
    Row("Max", cases=EMPTY, types={"T": REALS, "Tidx": ("int32",)}, grad=False, name="empty"),
    Row("Max", cases=[C(values([[1.0, 1, 0], [2, 2, 2]]), [1])], types={"T": ALL_FLOATS, "Tidx": INDEX}, grad="tf", name="ties"),
    Row("Max", cases=[C(values([[1.0, nan, 0], [-inf, 2, inf]]), [1]), C(values([[1.0, nan, 0], [-inf, 2, inf]]), [0])],
        types={"T": ALL_FLOATS, "Tidx": ("int32",)}, grad=False, name="edges"),
    Row("Max", cases=BIG, types={"T": FLOATS + ("int32",), "Tidx": ("int32",)}, name="big", grad=False),
    Row("Min", cases=shapes_and_axes(distinct()), types={"T": REALS, "Tidx": ("int32",)}, errors=ERRORS[:2]),
    Row("Min", cases=EMPTY, types={"T": REALS, "Tidx": ("int32",)}, grad=False, name="empty"),
    Row("Min", cases=[C(values([[1.0, 1, 0], [2, 2, 2]]), [1])], types={"T": ALL_FLOATS, "Tidx": INDEX}, grad="tf", name="ties"),
    Row("Min", cases=[C(values([[1.0, nan, 0], [-inf, 2, inf]]), [1])], types={"T": ALL_FLOATS, "Tidx": ("int32",)}, grad=False, name="edges"),
    Row("All", cases=shapes_and_axes(B) + [C(B.of(0, 3), [0]), C(values([True, True], "bool"), 0)], types={"Tidx": INDEX}),
    Row("Any", cases=shapes_and_axes(B) + [C(B.of(0, 3), [0]), C(values([False, False], "bool"), 0)], types={"Tidx": INDEX}),
    Row("EuclideanNorm", cases=shapes_and_axes(away_from_zero()), types=T32, grad="tf"),
    Row("EuclideanNorm", cases=EMPTY, types=T32, grad=False, name="empty"),
    Row("ArgMax", cases=[C(distinct().of(2, 3), 0), C(distinct().of(2, 3), -1), C(distinct().of(2, 3, 4), 1), C(distinct().of(5), 0),
                         C(values([1, 1, 0]), 0), C(distinct().of(0, 3), 1)], types={"T": REALS, "Tidx": INDEX, "output_type": INDEX},  # TensorFlow misreads an int16 axis
        errors=[C(rand(2, 3), 2, types={"T": "float", "Tidx": "int32", "output_type": "int64"}, says="(in the range|Expected dimension)"),
                C(rand(2, 0), 1, types={"T": "float", "Tidx": "int32", "output_type": "int64"}, says="empty")]),
    Row("ArgMax", cases=[C(distinct().of(2, 3), 0), C(values([[nan, 1.0], [2, nan]]), 0), C(values([1, nan, 2.0]), 0)],
        types={"T": FLOATS, "Tidx": ("int32",), "output_type": ("int16", "uint16")}, name="narrow"),
    Row("ArgMax", cases=[C(B.of(2, 3), 0), C(B.of(4), 0)], types={"T": ("bool",), "Tidx": ("int32",), "output_type": INDEX}, name="bool"),
    Row("ArgMin", cases=[C(distinct().of(2, 3), 0), C(distinct().of(2, 3), -1), C(distinct().of(2, 3, 4), 1), C(values([1, 0, 0]), 0)],
        types={"T": REALS + ("bool",), "Tidx": INDEX, "output_type": INDEX},
        errors=[C(rand(2, 3), -3, types={"T": "float", "Tidx": "int32", "output_type": "int64"}, says="(in the range|Expected dimension)")]),
    scan("Cumsum", uniform(), types=T32),
    # TensorFlow's gradient does not conjugate complex numbers.
    scan("Cumprod", away_from_zero(0.5, 1.5), types={"T": COMPLEX, "Tidx": ("int32",)}, grad="tf", name="complex"),
    scan("Cumprod", away_from_zero(0.5, 1.5), types={"T": REALS, "Tidx": ("int32",)}, grad_tol={"half": 2e-2, "bfloat16": 0.1}),
    scan("CumulativeLogsumexp", uniform(-3, 3), types={"T": ALL_FLOATS, "Tidx": ("int32",)}, grad="tf"),
    Row("Cumsum", cases=[C(rand(2, 3), 1)], types={"T": FLOATS, "Tidx": ("int64",)}, name="int64_axis"),
]
