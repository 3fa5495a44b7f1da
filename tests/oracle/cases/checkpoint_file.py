"""Whole files, and names of files."""

import os
import tempfile

from tests.oracle.table import *

FOLDER = tempfile.mkdtemp(prefix="sluice_oracle_")


def files(b):
    folder = os.path.join(FOLDER, "%s_%d" % (b.prefix.replace("/", "_"), os.getpid()))
    for name in ["new/a.txt", "new/b.txt", "c"]:
        b.run(targets=[b.op("WriteFile", os.path.join(folder, name), "contents of " + name)])
    b.run(targets=[b.op("WriteFile", os.path.join(folder, "c"), "")])
    b.run(fetches=[b.op("ReadFile", os.path.join(folder, "new/b.txt")), b.op("ReadFile", os.path.join(folder, "c"))])
    for pattern in [folder + "/new/*.txt", [folder + "/c", folder + "/new/[a]*"], folder + "/no*/x", folder + "/new/?.txt"]:
        b.run(fetches=[b.op("MatchingFiles", pattern)])
    b.run(fetches=[b.op("ReadFile", folder + "/nothing")], error=True, says="No such file or directory")
    b.run(fetches=[b.op("ReadFile", folder)], error=True, says="Is a directory")
    vector = b.hidden(values(["a"], "string"))
    b.run(fetches=[b.op("ReadFile", vector)], error=True, says="must be scalar, but had shape: \\[1\\]")
    b.run(targets=[b.op("WriteFile", vector, "x")], error=True, says="must be scalar")
    b.run(targets=[b.op("WriteFile", folder + "/d", vector)], error=True, says="Contents tensor must be scalar")


def uris(b):
    """"file://" is the local file system, and matching files keep the form of the pattern."""
    folder = os.path.join(FOLDER, "%s_%d" % (b.prefix.replace("/", "_"), os.getpid()))
    for start in ("file://", "file://localhost"):
        b.run(targets=[b.op("WriteFile", start + folder + "/new/a.txt", "contents for " + start)])
        b.run(fetches=[b.op("ReadFile", folder + "/new/a.txt"), b.op("ReadFile", start + folder + "/new/a.txt")])
        b.run(fetches=[b.op("MatchingFiles", start + folder + "/*/*.txt")])
    b.run(fetches=[b.op("ReadFile", "file://" + folder + "/b")], error=True, says="file://.*/b; No such file or directory")
    for op in ("ReadFile", "MatchingFiles"):
        b.run(fetches=[b.op(op, "bogus://host/a")], error=True,
              says="File system scheme 'bogus' not implemented \\(file: 'bogus://host/a'\\)")
    b.run(targets=[b.op("WriteFile", "FILE://host/a/b", "x")], error=True,
          says="File system scheme 'FILE' not implemented \\(file: 'FILE://host/a'\\)")


TEXTS = strings("model", "/a/b", "").of()
PAIR = values(["a", "b"], "string")

ROWS = [
    Row("WriteFile", build=files, types=[{}]),
    Row("ReadFile", build=files, types=[{}]),
    Row("MatchingFiles", build=files, types=[{}]),
    Row("WriteFile", build=uris, types=[{}], name="uris"),
    Row("ShardedFilename", cases=[C(TEXTS, 1, 3), C(TEXTS, 123456, 7)], errors=[C(PAIR, 0, 1, says="basename must be a scalar|rank 0")]),
    Row("ShardedFilespec", cases=[C(TEXTS, 3)], errors=[C(PAIR, 1, says="basename must be a scalar|rank 0")]),
]
