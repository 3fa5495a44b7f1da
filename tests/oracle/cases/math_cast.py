"""Cast between all pairs of numbers and bool."""

from tests.oracle.table import *

ROWS = [
    Row("Cast", [uniform(-9, 9)], shapes=((2, 3), ()), types={"SrcT": SIGNED + ALL_FLOATS + COMPLEX, "DstT": SIGNED + ALL_FLOATS + COMPLEX + ("bool",)}),
    Row("Cast", [uniform(0, 9)], shapes=((5,), (0,)), types={"SrcT": PLAIN, "DstT": UNSIGNED}, name="to_unsigned"),
    Row("Cast", [uniform(0, 9)], shapes=((5,),), types={"SrcT": UNSIGNED + ("bool",), "DstT": PLAIN}, name="from_unsigned"),
    Row("Cast", cases=[C(values([0.0, -0.0, 1e-9, -1, inf, nan, 1e30, 65519.0, 65520.0, 1e-7]), grad=False)],
        types={"SrcT": ("float", "double"), "DstT": ALL_FLOATS + ("bool",)}, name="edges"),
    Row("Cast", cases=[C(values([1.99999, -1.99999, 3.14159, 1e-6]), Truncate=True, grad=False)],
        types={"SrcT": ("float", "double"), "DstT": ("half", "bfloat16", "float")}, name="truncate"),
    Row("Cast", cases=[], errors=[C(strings("a").of(2), types={"SrcT": "string", "DstT": "float"}, says="Cast string to float is not supported")],
        name="string"),
]
