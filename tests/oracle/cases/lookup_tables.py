"""Lookup tables. The order of exported contents is unspecified."""

import os
import tempfile

from tests.oracle.table import *

FOLDER = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
HASH = [{"key_dtype": k, "value_dtype": v} for k, v in
        [(k, v) for k in ("int32", "int64", "string") for v in ("double", "float", "int32", "string")] + [("int64", "int64"), ("string", "int64"), ("string", "bool")]]
MUTABLE = [{"key_dtype": k, "value_dtype": v} for k, v in
           [(k, v) for k in ("int32", "int64", "string") for v in ("double", "float", "int32")] +
           [("int64", "int64"), ("string", "int64"), ("int64", "string"), ("string", "bool")]]
DENSE = [{"key_dtype": k, "value_dtype": v} for k, v in
         [(k, v) for k in ("int32", "int64", "string") for v in ("double", "float", "int32")] + [(k, v) for k in ("int64", "string") for v in ("int64", "bool")]]


def file(name, text):
    path = os.path.join(FOLDER, name)
    with open(path, "w", newline="") as out:
        out.write(text)
    return path


VOCABULARY = file("vocabulary", "a\t1\t0.5\nb\t2\t1.5\nc\t3\tx\n")
EMPTY_LINE = file("empty_line", "a\n\nb\r\nc")
TWICE = file("twice", "a\na\n")
NOTHING = file("nothing", "")


@of_all
def sorted_rows(ours, theirs):
    a, b = (sorted(x.reshape(len(x), -1).tolist()) for x in (ours, theirs))
    return None if a == b else "%s, TensorFlow has %s" % (a, b)


class Table:
    """A table of a program, in one of the two forms, and its ops."""

    def __init__(self, b, kind, v2, keys, value_type, *inputs, **attrs):
        self.b, self.v2, self.keys, self.value_type = b, "V2" if v2 else "", keys, value_type
        named = {} if kind.startswith("Anonymous") else {"shared_name": b.name("t")}
        self.handle = b.op(kind + ("" if named == {} else self.v2), *inputs, key_dtype=keys, value_dtype=value_type, **{**named, **attrs})

    def key(self, data):
        return self.b.input(data if isinstance(data, Gen) else values(data, self.keys if self.keys == "string" else None), self.keys)

    def value(self, data):
        return self.b.input(data if isinstance(data, Gen) else values(data, self.value_type if self.value_type == "string" else None), self.value_type)

    def op(self, name, *inputs, **attrs):
        return self.b.op(name + self.v2, self.handle, *inputs, **attrs)

    def find(self, keys, default):
        return self.op("LookupTableFind", self.key(keys), self.value(default))

    def insert(self, keys, data):
        return self.op("LookupTableInsert", self.key(keys), self.value(data))

    def initialize(self, keys, data):
        return self.op("InitializeTable", self.key(keys), self.value(data))

    def load(self, keys, data):
        return self.op("LookupTableImport", self.key(keys), self.value(data))

    def export(self):
        return self.op("LookupTableExport", Tkeys=self.keys, Tvalues=self.value_type)

    def size(self):
        return self.op("LookupTableSize")


def ones(keys):
    """Three keys of a type, and two more."""
    return (["a", "", "xyz"], ["other", "b\0c"]) if keys == "string" else ([1, -5, 2**30], [0, 7])


def some(value_type, n):
    return uniform(-9, 9).of(n) if value_type != "string" else strings("v", "w", "").of(n)


def one(value_type):
    return uniform(-9, 9).of() if value_type != "string" else strings("default").of()


def read_only(v2):

    def build(b):
        k, v = b.types["key_dtype"], b.types["value_dtype"]
        (there, other), t = ones(k), Table(b, "HashTable", v2, k, v)
        b.run(fetches=[t.size()])
        b.run(fetches=[t.find(there, one(v))], error=True, says="Table not initialized.")
        b.run(fetches=[t.export()], error=True, says="HashTable is not initialized.")
        b.run(targets=[t.initialize(there, some(v, 3))])
        b.run(fetches=[t.size()])
        b.run(fetches=[t.find(there + other, one(v))])
        b.run(fetches=[t.find([there[:2], other], one(v))])
        b.run(fetches=[t.find(there[0], one(v))])
        # If there is a default per key, TensorFlow uses the first one for all keys.
        b.run(fetches=[t.export()], compare=sorted_rows)
        b.run(targets=[t.insert(other, some(v, 2))], error=True, says="Insert not supported by InitializableLookupTable implementations")
        b.run(targets=[t.load(other, some(v, 2))], error=True, says="Table was already initialized with different data.")

    return build


def again(v2):

    def build(b):
        t = Table(b, "HashTable", v2, "string", "int64")
        b.run(targets=[t.initialize(["a", "a"], [1, 2])], error=True, says="HashTable has different value for same key. Key a has 1 and trying to add value 2")
        b.run(fetches=[t.size()])
        b.run(targets=[t.initialize(["a", "b", "a"], [1, 2, 1])])
        b.run(targets=[t.initialize(["b", "a"], [2, 1])])
        # If other contents have the same size, TensorFlow reports no error and keeps the first.
        b.run(targets=[t.initialize(["a"], [1])], error=True, says="Table was already initialized with different data.")
        b.run(fetches=[t.export()], compare=sorted_rows)

    return build


def misuse(b):
    t = Table(b, "HashTable", True, "string", "int64")
    f = lambda x: b.hidden(x)
    w, n = values(["a", "b"], "string"), values([1, 2], "int64")
    init = lambda keys, data: b.op("InitializeTableV2", t.handle, f(keys), f(data))
    b.run(targets=[init(values([["a"]], "string"), values([[1]], "int64"))], error=True, says="Keys must be a vector, but received shape")
    b.run(targets=[init(w, values([[1, 2]], "int64"))], error=True, says="Values must be a vector")
    b.run(targets=[init(w, values([1], "int64"))], error=True, says="Keys and values must have the same size 2 vs 1")
    b.run(targets=[init(w, values([1, 2], "int32"))], error=True, says="Signature mismatch, have: resource, string, int32-> expected: resource, string, int64->")
    b.run(targets=[init(w, n)])
    find = lambda keys, d: b.op("LookupTableFindV2", t.handle, f(keys), f(d))
    b.run(fetches=[find(values([1.0], "float"), n)], error=True, says="Signature mismatch, have: resource, float, int64->int64 expected: resource, string, int64->int64")
    b.run(fetches=[find(w, values([1, 2, 3], "int64"))], error=True, says="Expected shape \\[\\] or \\[2\\] for default value, got \\[3\\]")
    b.run(targets=[b.op("LookupTableRemoveV2", t.handle, f(w))], error=True, says="Remove not supported by InitializableLookupTable implementations")
    other = b.op("HashTableV2", key_dtype="int64", value_dtype="int64", shared_name=b.name("t"))
    b.run(fetches=[b.op("LookupTableSizeV2", other)], error=True, says="Conflicting key/value dtypes int64->int64 with string-int64 for table")


def changing(v2):

    def build(b):
        k, v = b.types["key_dtype"], b.types["value_dtype"]
        (there, other), t = ones(k), Table(b, "MutableHashTable", v2, k, v)
        b.run(fetches=[t.find(there, one(v))])
        b.run(targets=[t.insert(there, some(v, 3))])
        b.run(targets=[t.insert(other + there[:1], some(v, 3))])
        b.run(fetches=[t.size()])
        b.run(fetches=[t.find(there + other, one(v))])
        b.run(fetches=[t.export()], compare=sorted_rows)
        if v2:
            b.run(targets=[t.op("LookupTableRemove", t.key(there[:2]))])
            b.run(fetches=[t.find(there, some(v, 3))])
        b.run(targets=[t.load(other, some(v, 2))])
        b.run(fetches=[t.export()], compare=sorted_rows)
        b.run(targets=[t.insert(there[0], one(v))])
        b.run(fetches=[t.find([there[:1], other[:1]], one(v))])

    return build


def changing_misuse(b):
    t = Table(b, "MutableHashTable", True, "string", "int64")
    f = lambda x: b.hidden(x)
    for name in ("LookupTableInsertV2", "LookupTableImportV2"):
        b.run(targets=[b.op(name, t.handle, f(values(["a"], "string")), f(values([1, 2], "int64")))], error=True, says="Expected shape \\[1\\] for value, got \\[2\\]")
    b.run(targets=[b.op("LookupTableInsertV2", t.handle, f(values([1], "int32")), f(values([1], "int64")))], error=True,
          says="Signature mismatch, have: resource, int32, int64-> expected: resource, string, int64->")
    b.run(targets=[b.op("LookupTableRemoveV2", t.handle, f(values([1], "int32")))], error=True, says="Signature mismatch, have: resource, int32-> expected: resource, string->")
    b.run(targets=[t.initialize(["a"], [1])], error=True, says="is not initializable")


def of_tensors(v2):

    def build(b):
        k, v = b.types["key_dtype"], b.types["value_dtype"]
        (there, other), t = ones(k), Table(b, "MutableHashTableOfTensors", v2, k, v, value_shape=[2])
        rows = lambda *shape: uniform(-9, 9).of(*shape) if v != "string" else strings("v", "w").of(*shape)
        b.run(targets=[t.insert(there, rows(3, 2))])
        b.run(fetches=[t.find(there + other, rows(2))])
        if v2:
            b.run(fetches=[t.find([there[:1], other[:1]], rows(2, 1, 2))])
        b.run(fetches=[t.export()], compare=sorted_rows)
        b.run(fetches=[t.find(there, rows(3))], error=True, says="Expected shape \\[2\\] or \\[3,2\\] for default value, got \\[3\\]")
        b.run(targets=[t.insert(there, rows(3))], error=True, says="Expected shape \\[3,2\\] for value, got \\[3\\]")

    return build


def tensors_of(shape):

    def build(b):
        t = Table(b, "MutableHashTableOfTensors", True, "int64", "float", value_shape=shape)
        b.run(fetches=[t.size()], error=True, says="Default value must be a vector, got shape")

    return build


def unknown_shape(b):
    """A value shape of unknown rank stands for a scalar."""
    t = Table(b, "MutableDenseHashTable", True, "int64", "float", values(-1, "int64"), values(-2, "int64"), value_shape=None)
    b.run(targets=[t.insert([1, 2], some("float", 2))])
    b.run(fetches=[t.find([1, 3], one("float"))])
    partial = b.op("MutableHashTableOfTensorsV2", key_dtype="int64", value_dtype="float", value_shape=[-1, 2])
    b.run(fetches=[b.op("LookupTableSizeV2", partial)], error=True, says="Shape \\[\\?,2\\] is not fully defined")


def dense(b):
    k, v = b.types["key_dtype"], b.types["value_dtype"]
    (there, other) = ones(k)
    reserved = ["empty", "deleted"] if k == "string" else [-1, -2]
    key = lambda x: b.input(values(x, "string" if k == "string" else None), k)
    t = Table(b, "MutableDenseHashTable", True, k, v, key(reserved[0]), key(reserved[1]), initial_num_buckets=4)
    b.run(fetches=[t.find(there, one(v))])
    b.run(targets=[t.insert(there, some(v, 3))])
    b.run(targets=[t.insert(other, some(v, 2))])
    b.run(fetches=[t.size()])
    b.run(fetches=[t.find(there + other, one(v))])
    b.run(fetches=[t.export()], compare=sorted_rows)
    b.run(targets=[t.op("LookupTableRemove", t.key(there[:2]))])
    b.run(fetches=[t.size()])
    b.run(fetches=[t.find(there + other, one(v))])
    for k, name in zip(reserved, ("empty_key", "deleted_key")):
        says = "Using the %s as a table key is not allowed" % name
        b.run(targets=[t.insert([k], some(v, 1))], error=True, says=says)
        b.run(fetches=[t.find([k], one(v))], error=True, says=says)
        b.run(targets=[t.op("LookupTableRemove", t.key([k]))], error=True, says=says)


def dense_layout(b):
    """Buckets as TensorFlow's, one by one: a checkpoint has them."""
    t = Table(b, "MutableDenseHashTable", True, "int64", "float", values([-1, -1], "int64"), values([-2, -2], "int64"), value_shape=[1], initial_num_buckets=8)
    other = Table(b, "MutableDenseHashTable", True, "int64", "float", values([-1, -1], "int64"), values([-2, -2], "int64"), value_shape=[1], initial_num_buckets=8,
                  container="other")
    b.run(targets=[t.insert([[1, 2], [3, 4], [5, 6], [1, 9], [-7, 2**40]], uniform().of(5, 1))])
    export = t.export()
    b.run(fetches=[export[0]])
    b.run(targets=[t.op("LookupTableRemove", t.key([[3, 4], [0, 0]]))])
    b.run(fetches=[export[0]])
    b.run(fetches=[t.find([[1, 2], [3, 4], [1, 3]], uniform().of(1))])
    b.run(targets=[b.op("LookupTableImportV2", other.handle, export[0], export[1])])
    b.run(fetches=[other.size(), other.find([[1, 2], [3, 4], [5, 6]], uniform().of(1))])
    b.run(fetches=[t.op("LookupTableFind", b.hidden(values(1, "int64")), t.value(rand(1)))], error=True, says="Input key shape \\[\\] must end with the table's key shape \\[2\\]")


def dense_strings(b):
    t = Table(b, "MutableDenseHashTable", True, "string", "int64", values("", "string"), values("\0", "string"), initial_num_buckets=16)
    b.run(targets=[t.insert(["a", "b", "longer than eight", "c"], [1, 2, 3, 4])])
    b.run(fetches=[t.export()[0]])


def dense_restored(b):
    """Import replaces the buckets by exported ones, whatever the number of both is."""
    saved = b.op("MutableDenseHashTableV2", values(0, "int64"), values(-1, "int64"), value_dtype="int64", shared_name=b.name("a"),
                 initial_num_buckets=32)
    other = b.op("MutableDenseHashTableV2", values(0, "int64"), values(-1, "int64"), value_dtype="int64", shared_name=b.name("b"),
                 initial_num_buckets=4)
    b.run(targets=[b.op("LookupTableInsertV2", saved, values([11, 12, 13, 14], "int64"), values([0, 1, 2, 3], "int64"))])
    b.run(targets=[b.op("LookupTableRemoveV2", saved, values([12, 15], "int64"))])
    b.run(targets=[b.op("LookupTableInsertV2", other, values([11, 24], "int64"), values([21, 24], "int64"))])
    keys, exported = b.op("LookupTableExportV2", saved, Tkeys="int64", Tvalues="int64").outputs
    b.run(fetches=[keys, exported])
    b.run(targets=[b.op("LookupTableImportV2", other, keys, exported)])
    b.run(fetches=b.op("LookupTableExportV2", other, Tkeys="int64", Tvalues="int64").outputs)
    b.run(fetches=[b.op("LookupTableSizeV2", other),
                   b.op("LookupTableFindV2", other, values([10, 11, 12, 13, 14, 24], "int64"), values(-1, "int64"))])
    b.run(targets=[b.op("LookupTableInsertV2", other, values([12, 101], "int64"), values([7, 8], "int64"))])
    b.run(fetches=b.op("LookupTableExportV2", other, Tkeys="int64", Tvalues="int64").outputs)
    for bad in ([1, 2, 3], [[1, 2]]):
        b.run(targets=[b.op("LookupTableImportV2", other, b.hidden(values(bad, "int64")), b.hidden(values(bad, "int64")))], error=True)
        b.run(fetches=[b.op("LookupTableSizeV2", other)])


def dense_refused(says, empty=1, deleted=2, **attrs):

    def build(b):
        t = Table(b, "MutableDenseHashTable", True, "int64", "float", values(empty, "int64"), values(deleted, "int64"), **attrs)
        b.run(fetches=[t.size()], error=True, says=says)

    return build


def dense_without_deleted(b):
    t = Table(b, "MutableDenseHashTable", False, "int64", "float", values(-1, "int64"))
    b.run(fetches=[t.size()], error=True, says="deleted_key")


def anonymous(kind, *reserved, **attrs):

    def build(b):
        t = Table(b, kind, True, "int64", "float", *[values(r, "int64") for r in reserved], **attrs)
        shape = attrs.get("value_shape", [])
        if kind == "AnonymousHashTable":
            fill = t.initialize([1, 2], uniform().of(2))
        else:
            fill = t.insert([1, 2], uniform().of(2, *shape))
        b.run(fetches=[b.op("LookupTableFindV2", t.handle, t.key([2, 3]), t.value(uniform().of(*shape)), control=[fill])])
        b.run(fetches=[b.op("LookupTableSizeV2", t.handle, control=[fill])])

    return build


def from_file(v2, keys, value_type, key_index, value_index, path=VOCABULARY, says=None, **attrs):

    def build(b):
        t = Table(b, "HashTable", v2, keys, value_type)
        load = t.op("InitializeTableFromTextFile", b.hidden(values(path, "string")), key_index=key_index, value_index=value_index, **attrs)
        b.run(targets=[load], error=bool(says), says=says)
        if not says:
            b.run(fetches=[t.export()], compare=sorted_rows)
            b.run(targets=[load])
        else:
            b.run(fetches=[t.size()])

    return build


FILES = [("string", "int64", 0, 1, {}), ("string", "int64", -2, -1, {}), ("int64", "string", -1, -2, {}), ("string", "int64", 0, -1, dict(offset=5)),
         ("string", "float", 0, 2, dict(vocab_size=2)), ("int32", "string", 1, 0, {}), ("string", "double", 0, 1, {}), ("string", "int32", 0, 1, {}), ("string", "string", 0, 2, {})]
BAD_FILES = [
    ("string", "float", 0, 2, {}, "Field x in line 2 is not a valid float."), ("string", "int64", 0, 1, dict(vocab_size=5), "Invalid vocab_size in .*: expected 5 but got 3"),
    ("string", "int64", 0, 7, {}, "Invalid number of columns in .* line 0 .* : expected at least 8 got 3"), ("string", "int64", 0, 1, dict(delimiter=","), "expected at least 2 got 1"),
    ("string", "int64", 0, 1, dict(delimiter=",,"), "delimiter should be only 1 char"), ("string", "int64", 0, 1, dict(delimiter=""), "delimiter should be only 1 char"),
    ("string", "int64", 0, 0, {}, "Field a in line 0 is not a valid int64."), ("string", "int32", 0, -1, {}, "Value index for line number requires table value dtype of int64, got int32"),
    ("int32", "string", -1, 0, {}, "Key index for line number requires table key dtype of int64, got int32"),
    ("string", "float", 0, -2, {}, "Value index for whole line requires table value dtype of integer or string, got float"),
    ("string", "int64", 0, 1, dict(path=os.path.join(FOLDER, "missing")), "missing; No such file or directory"), ("string", "int64", 0, 1, dict(path=""), "filename cannot be empty."),
    ("string", "int64", 0, 1, dict(path=[VOCABULARY]), "filename should be a single string, but got \\[1\\]|rank 0"),
    ("int64", "string", -1, -2, dict(path=EMPTY_LINE), "Invalid content in .*: empty line found at position 3"),
    ("string", "int64", -2, -1, dict(path=NOTHING), "Read less bytes than requested"),
    ("string", "int64", -2, -1, dict(path=NOTHING, vocab_size=2), "Invalid vocab_size in .*: expected 2 but got 0"),
    ("string", "int64", -2, -1, dict(vocab_size=0), "Finished reading 0 of lines from"),
    ("string", "int64", -2, -1, dict(path=TWICE), "HashTable has different value for same key. Key a has 0 and trying to add value 1"),
]
ROWS = [
    Row("HashTableV2", build=misuse, name="misuse"), Row("MutableHashTableV2", build=changing_misuse, name="misuse"),
    Row("LookupTableRemoveV2", build=changing(True), types=MUTABLE),
    Row("MutableHashTableOfTensorsV2", build=tensors_of([]), name="scalars"), Row("MutableHashTableOfTensorsV2", build=tensors_of([2, 2]), name="matrices"),
    Row("MutableHashTableOfTensorsV2", build=tensors_of(None), name="unknown shape"),
    Row("MutableDenseHashTableV2", build=dense, types=DENSE), Row("MutableDenseHashTableV2", build=dense_layout, types=[{}], name="layout"),
    Row("MutableDenseHashTableV2", build=dense_strings, types=[{}], name="layout of strings"),
    Row("MutableDenseHashTableV2", build=unknown_shape, types=[{}], name="unknown shape"),
    Row("MutableDenseHashTableV2", build=dense_restored, types=[{}], name="restored"),
    Row("MutableDenseHashTable", build=dense_without_deleted, types=[{}]),
    Row("AnonymousHashTable", build=anonymous("AnonymousHashTable"), types=[{}]), Row("AnonymousMutableHashTable", build=anonymous("AnonymousMutableHashTable"), types=[{}]),
    Row("AnonymousMutableHashTableOfTensors", build=anonymous("AnonymousMutableHashTableOfTensors", value_shape=[2]), types=[{}]),
    Row("AnonymousMutableDenseHashTable", build=anonymous("AnonymousMutableDenseHashTable", -1, -2), types=[{}]),
]
ROWS += [Row("MutableDenseHashTableV2", build=dense_refused(says, **attrs), types=[{}], name="refused %d" % i) for i, (says, attrs) in enumerate((
    ("Empty and deleted keys cannot be equal", dict(deleted=1)), ("Empty and deleted keys must have same shape, got shapes: \\[1\\] and \\[\\]", dict(empty=[1])),
    ("Number of buckets must be at least 4 and a power of 2, got: 3", dict(initial_num_buckets=3)), ("Number of buckets must be at least 4 and a power of 2, got: 2", dict(initial_num_buckets=2)),
    ("max_load_factor must be between 0 and 1, got: 1.5", dict(max_load_factor=1.5)), ("max_load_factor must be between 0 and 1, got: 0", dict(max_load_factor=0.0))))]
for v2 in (True, False):
    suffix = "V2" if v2 else ""
    ROWS += [Row("HashTable" + suffix, build=read_only(v2), types=HASH), Row("InitializeTable" + suffix, build=again(v2), types=[{}]),
             Row("MutableHashTable" + suffix, build=changing(v2), types=MUTABLE), Row("MutableHashTableOfTensors" + suffix, build=of_tensors(v2), types=MUTABLE)]
    ROWS += [Row(name + suffix, build=changing(v2), types=MUTABLE) for name in ("LookupTableInsert", "LookupTableImport", "LookupTableExport", "LookupTableSize")]
    ROWS.append(Row("LookupTableFind" + suffix, build=read_only(v2), types=HASH))
    ROWS += [Row("InitializeTableFromTextFile" + suffix, build=from_file(v2, *case[:4], **case[4]), types=[{}], name="%d" % i) for i, case in enumerate(FILES)]
    ROWS += [Row("InitializeTableFromTextFile" + suffix, build=from_file(v2, *case[:4], says=case[5], **case[4]), types=[{}], name="bad %d" % i)
             for i, case in enumerate(BAD_FILES)]
