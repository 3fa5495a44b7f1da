"""CSVDataset: records, fields, quotes and errors."""

import gzip
import os

from tests.oracle.datasets import *
from tests.oracle.table import *

INT, TEXT, FLOAT = "int32", "string", "float"
COUNT = iter(range(1000))


def csv(data, *types, steps, defaults=None, header=False, delim=",", quotes=True, na="", columns=(), exclude=None, compression="", buffer_size=4096, errors=(), make_error=None, op="CSVDataset", path=None):
    """Reads `steps` elements. errors: {number of the step: message}."""
    path = path or file("%d.csv" % next(COUNT), gzip.compress(data) if compression == "GZIP" else data)

    @program
    def build(p):
        b = p.b
        required = [values(numpy.zeros([0]) if d is None else d, t) for d, t in zip(defaults or [None] * len(types), types)]
        inputs = [values([path], "string"), compression, n64(buffer_size), header, delim, quotes, na, values(list(columns), "int64"), required]
        dataset = b.op(op + ("" if exclude is None else "V2"), *inputs, *([] if exclude is None else [n64(list(exclude))]), output_types=list(types), output_shapes=[[]] * len(types))
        spec = dict(output_types=list(types), output_shapes=[[]] * len(types))
        iterator = b.op("IteratorV2", shared_name=b.name("it"), container="", **spec)
        b.run(targets=[b.op("MakeIterator", dataset, iterator)], error=bool(make_error), says=make_error)
        get = b.op("IteratorGetNext", iterator, **spec)
        for step in range(steps):
            b.run(fetches=[get], error=step in dict(errors), says=dict(errors).get(step))
        if not make_error and path.endswith(".csv"):
            b.run(fetches=[get], error=True, says="End of sequence")

    return build


def row(name, build, op="CSVDataset"):
    return Row(op, build=build, types=[{}], name=name)


FOUR = b"1,2,3,4\n5,6,7,8\n"
QUOTED = b"1,\"a,b \"\"q\"\" \n x\"\n2,\"c\"\n"
MISSING = "is required but missing in record!"
ROWS = [
    row("", csv(b"1,a,2.5\n2,b,3\n", INT, TEXT, FLOAT, steps=2)), row("line ends", csv(b"1,a\r\n2,b\r3,c", INT, TEXT, steps=3)),
    row("types", csv(b"1,2,3.5,-4e3,x\n", "int32", "int64", "float", "double", "string", steps=1)),
    row("header", csv(b"h1,h2\n1,a\n", INT, TEXT, steps=1, header=True)), row("only a header", csv(b"h1,h2", INT, TEXT, steps=0, header=True)),
    row("no header", csv(b"", INT, TEXT, steps=1, header=True, errors={0: "Can't read header of file"})), row("empty", csv(b"", INT, TEXT, steps=0)),
    row("empty lines", csv(b"1,a\n\n2,b\n\n", INT, TEXT, steps=4, errors={1: MISSING, 3: MISSING})), row("quotes", csv(QUOTED, INT, TEXT, steps=2)),
    row("quoted numbers", csv(b"\"1\",\"2.5\"\n\"\",\"\"\n", INT, FLOAT, steps=2, defaults=[9, 8])),
    row("open quote", csv(b"1,\"a\n", INT, TEXT, steps=1, errors={0: "Reached end of file without closing quoted field in record"})),
    row("inner quote", csv(b"1,a\"b\n2,c\n", INT, TEXT, steps=2, errors={0: "Unquoted fields cannot have quotes inside"})),
    row("plain quotes", csv(b"1,\"a\"b\n2,c\n", INT, TEXT, steps=2, quotes=False)), row("defaults", csv(b",\n5,x\n", INT, TEXT, steps=2, defaults=[7, "d"])),
    row("required", csv(b",\n5,x\na,\n", INT, TEXT, steps=3, errors={0: "Field 0 " + MISSING, 2: "Field 0 in record is not a valid int32: a"})),
    row("not available", csv(b"NA,x\n5,NA\n", INT, TEXT, steps=2, defaults=[7, "d"], na="NA")),
    row("few fields", csv(b"1,2,3\n4,5\n7,8,9\n", INT, INT, INT, steps=3, errors={1: "Expect 3 fields but have 2 in record"})),
    row("many fields", csv(b"1,2,3\n4,5,6,7\n7,8,9\n", INT, INT, INT, steps=3, errors={1: "Expect 3 fields but have more in record"})),
    row("bad numbers", csv(b"1,x\n99999999999,1\n1.5,1\n 1, 2\n", INT, INT, steps=4, errors={0: "Field 1 in record is not a valid int32: x", 1: "not a valid int32", 2: "not a valid int32"})),
    row("delimiter", csv(b"1;2\n", INT, INT, steps=1, delim=";")), row("columns", csv(FOUR, INT, INT, steps=2, columns=(1, 3))), row("few columns", csv(b"1,2,3,4\n5,6\n", INT, INT, steps=2, columns=(1, 3), errors={1: "Expect 2 fields but have 1 in record"})),
    row("gzip", csv(b"1,2\n", "int64", "double", steps=1, compression="GZIP")), row("carriage returns", csv(b"\"a\rb\",c\n", TEXT, TEXT, steps=1)),
    row("missing file", csv(b"", INT, steps=2, path=os.path.join(FOLDERS, "missing"), errors={0: "No such file or directory", 1: "No such file or directory"})),
    row("compression", csv(b"", INT, steps=0, compression="XX", make_error="Unsupported compression_type: XX.")), row("no delimiter", csv(b"", INT, steps=0, delim="", make_error="field_delim should be only 1 char")),
    row("no buffer", csv(b"", INT, steps=0, buffer_size=0, make_error="buffer_size should be positive")),
    row("order of columns", csv(b"", INT, INT, steps=0, columns=(3, 1), make_error="select_cols should be strictly increasing indices")),
    row("negative column", csv(b"", INT, INT, steps=0, columns=(-1, 1), make_error="select_cols should be non-negative indices")),
    row("number of columns", csv(b"", INT, INT, steps=0, columns=(1,), make_error="select_cols should match output size")),
    row("", csv(FOUR, INT, INT, steps=2, exclude=(0, 2)), "CSVDatasetV2"), row("one less", csv(FOUR, INT, INT, INT, steps=2, exclude=(1,)), "CSVDatasetV2"),
    row("both", csv(FOUR, INT, INT, steps=0, columns=(1, 3), exclude=(0, 2), make_error="Either select_cols or exclude_cols should be empty"), "CSVDatasetV2"),
    row("order", csv(FOUR, INT, INT, steps=0, exclude=(2, 0), make_error="exclude_cols should be strictly increasing indices"), "CSVDatasetV2"),
    row("", csv(b"1,a\n", INT, TEXT, steps=1, op="ExperimentalCSVDataset"), "ExperimentalCSVDataset"),
]
