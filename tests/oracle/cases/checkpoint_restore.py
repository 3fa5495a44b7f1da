"""Checkpoints of both formats: what is saved comes back, whole and in parts, and what a wrong request says.

Each program's two sides write to the same place, one after the other: the runs of a side read what it wrote itself.
tests/oracle/checkpoint_test.py has each program read what the other wrote.
"""

import os
import tempfile

from tests.oracle.table import *

FOLDER = tempfile.mkdtemp(prefix="sluice_oracle_")
V1_TYPES = ("float", "double", "int32", "int64", "int16", "int8", "uint8", "bool", "half", "string", "complex64", "complex128")


def path(b, program, name="m"):
    """`program` distinguishes rows that run at the same time."""
    return os.path.join(FOLDER, "%s_%s%s" % (program, b.prefix.replace("/", "_"), name))


def save_v2(b):
    dtype = b.types["T"]
    p = path(b, "save_v2")
    whole = b.op("SaveV2", p, ["a", "e"], ["", ""], [b.input(rand(2, 3).typed(dtype)), b.input(rand(0, 2).typed(dtype))])
    b.run(targets=[whole])
    again = b.op("RestoreV2", p, ["e", "a"], ["", ""], dtypes=[dtype, dtype])
    b.run(fetches=[again])
    if dtype not in ("half", "uint16", "uint32", "uint64", "string"):  # TensorFlow cannot restore slices of these
        b.run(fetches=[b.op("RestoreV2", p, ["a"], ["2 3 1,1:-"], dtypes=[dtype])])


def slices(b):
    p = path(b, "slices")
    b.run(targets=[b.op("SaveV2", p, ["p", "p", "s"], ["4 2 0,2:-", "4 2 2,2:0,2", ""],
                        [b.input(rand(2, 2).typed("float")), b.input(rand(2, 2).typed("float")), b.const("x", "string")])])
    for spec in ["", "4 2 1,2:-", "4 2 -:1,1", "4 2 0,2:-"]:
        b.run(fetches=[b.op("RestoreV2", p, ["p"], [spec], dtypes=["float"])])
    hidden = lambda text: b.hidden(values([text], "string"))
    for spec, says in [("4 3 1,2:-", r"spec \[4,3\] does not match the shape stored in checkpoint: \[4,2\]"),
                       ("garbage", "Need least two elements"), ("2 0,3", "out of bounds"), ("2 0,1:0,1", "Mismatching ranks"),
                       ("x 0,1", "Non numerical dimension"), ("4 2 a,1:-", "Expected a pair of numbers"),
                       ("4 2 0,0:-", "positive length"), ("4 2 -1,2:-", "non-negative start")]:
        b.run(fetches=[b.op("RestoreV2", p, ["p"], hidden(spec), dtypes=["float"])], error=True, says=says)
    holes = path(b, "slices", "holes")
    b.run(targets=[b.op("SaveV2", holes, ["p"], ["4 2 0,2:-"], [b.input(rand(2, 2).typed("float"))])])
    b.run(fetches=[b.op("RestoreV2", holes, ["p"], [""], dtypes=["float"])], error=True, says="sufficient slices for .* tensor p")


def save_errors(b):
    p, x = path(b, "save_errors"), b.input(rand(2).typed("float"))
    two, one = values(["a", "b"], "string"), values(["a"], "string")

    def save(prefix, names, specs, tensors, says):
        b.run(targets=[b.op("SaveV2", prefix, names, specs, tensors)], error=True, says=says)

    save(p, b.hidden(two), b.hidden(values(["", ""], "string")), [x], "Got 2 tensor names but 1 tensors")
    save(p, b.hidden(one), b.hidden(values(["", ""], "string")), [x], "different number of elements: 1 vs. 2")
    save(b.hidden(two), ["a"], [""], [x], "prefix should have a single element, got 2")
    save(p, ["a", "a"], ["", ""], [x, x], "Adding duplicate key: a")
    save(p, ["a"], ["4 0,3"], [x], "does not match the shape of the tensor")
    save("/nowhere/at/all", ["a"], [""], [x], "No such file or directory")


def restore_errors(b):
    p = path(b, "restore_errors")
    b.run(targets=[b.op("SaveV2", p, ["a"], [""], [b.input(rand(2).typed("float"))])])
    restore = lambda prefix, names, dtype: b.op("RestoreV2", prefix, names, [""] * len(names), dtypes=[dtype] * len(names))
    b.run(fetches=[restore(p, ["q"], "float")], error=True, says="Key q not found in checkpoint")
    b.run(fetches=[restore(p, ["a", "q"], "int32")], error=True, says="Key q not found in checkpoint")
    b.run(fetches=[restore(p, ["a"], "int32")], error=True, says="expected dtype int32 does not equal original dtype float")
    b.run(fetches=[restore(p + "x", ["a"], "float")], error=True, says="Failed to find any matching files for")
    b.run(fetches=[b.op("RestoreV2", p, b.hidden(values(["a", "b"], "string")), b.hidden(values([""], "string")), dtypes=["float"])],
          error=True)


def old_format(b):
    dtype = b.types["T"]
    p = path(b, "old_format")
    b.run(targets=[b.op("Save", p, ["a", "e"], [b.input(rand(2, 3).typed(dtype)), b.input(rand().typed(dtype))])])
    for name in ["a", "e"]:
        b.run(fetches=[b.op("Restore", p, name, dt=dtype)])
    b.run(fetches=[b.op("RestoreSlice", p, "a", "2 3 -:1,2", dt=dtype)])
    b.run(fetches=[b.op("RestoreV2", p, ["a"], [""], dtypes=[dtype])])


def old_slices(b):
    p = path(b, "old_slices")
    b.run(targets=[b.op("SaveSlices", p, ["p", "p"], ["4 2 0,2:-", "4 2 2,2:-"],
                        [b.input(rand(2, 2).typed("float")), b.input(rand(2, 2).typed("float"))])])
    b.run(fetches=[b.op("Restore", p, "p", dt="float")])
    b.run(fetches=[b.op("RestoreSlice", p, "p", "4 2 1,2:-", dt="float")])


def old_errors(b):
    p, x = path(b, "old_errors"), b.input(rand(2).typed("float"))
    b.run(targets=[b.op("Save", p, ["a"], [x])])
    b.run(fetches=[b.op("Restore", p, "q", dt="float")], error=True, says='Tensor name "q" not found in checkpoint files')
    b.run(fetches=[b.op("Restore", p, "a", dt="int32")], error=True, says="Expected to restore a tensor of type int32, got .* float")
    b.run(fetches=[b.op("Restore", p + "x", "a", dt="float")], error=True, says="Failed to find any matching files")
    b.run(fetches=[b.op("RestoreV2", p, ["q"], [""], dtypes=["float"])], error=True, says='Tensor name "q" not found')
    b.run(targets=[b.op("SaveSlices", p, ["a"], [""], [b.input(rand(2).typed("bfloat16"))])], error=True,
          says="Saving data type bfloat16 not yet supported")


def merge(b):
    parts = [path(b, "merge", "temp/part-%d" % i) for i in range(2)]
    saves = [b.op("SaveV2", p, ["w", "own%d" % i], ["4 %d,2" % (2 * i), ""], [b.input(rand(2).typed("float")), i])
             for i, p in enumerate(parts)]
    b.run(targets=saves)
    whole = path(b, "merge", "whole")
    b.run(targets=[b.op("MergeV2Checkpoints", parts, whole)])
    b.run(fetches=[b.op("RestoreV2", whole, ["w", "own0", "own1"], ["", "", ""], dtypes=["float", "int32", "int32"])])
    b.run(targets=[b.op("MergeV2Checkpoints", parts, whole)], error=True, says="did not exist")
    b.run(targets=[b.op("MergeV2Checkpoints", parts, whole, allow_missing_files=True)], error=True, says="but none existed")
    b.run(targets=saves)
    b.run(targets=[b.op("MergeV2Checkpoints", [parts[0], parts[0]], whole, delete_old_dirs=False)], error=True)


def disable_copy(b):
    v = b.op("VarHandleOp", dtype="float", shape=[2], shared_name=b.name("v"))
    b.run(targets=[b.op("DisableCopyOnRead", v)], error=True)
    b.run(targets=[b.op("AssignVariableOp", v, b.input(rand(2).typed("float")))])
    b.run(fetches=[b.op("ReadVariableOp", v, dtype="float", control=[b.op("DisableCopyOnRead", v)])])


ROWS = [
    Row("DisableCopyOnRead", build=disable_copy, types=[{}]),
    Row("SaveV2", build=save_v2, types=[{"T": t} for t in ALL]),
    Row("SaveV2", build=save_errors, types=[{}], name="errors"),
    Row("RestoreV2", build=slices, types=[{}], name="slices"),
    Row("RestoreV2", build=restore_errors, types=[{}], name="errors"),
    Row("Save", build=old_format, types=[{"T": t} for t in V1_TYPES]),
    Row("SaveSlices", build=old_slices, types=[{}]),
    Row("Restore", build=old_errors, types=[{}]),
    Row("RestoreSlice", build=old_slices, types=[{}]),
    Row("MergeV2Checkpoints", build=merge, types=[{}]),
]
