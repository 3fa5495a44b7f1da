"""Graphs of oracle cases, built node by node as GraphDefs, with what is fed to them and fetched from them."""

import dataclasses
import functools

import numpy
import tensorflow
from tensorflow.core.framework import attr_value_pb2
from tensorflow.core.framework import node_def_pb2
from tensorflow.core.framework import tensor_pb2
from tensorflow.core.framework import tensor_shape_pb2
from tensorflow.python.framework import op_def_registry

from tests.oracle import table

dtypes = tensorflow.dtypes


@functools.lru_cache(maxsize=None)
def type_enum(name):
    return dtypes.as_dtype(name).as_datatype_enum


@functools.lru_cache(maxsize=None)
def type_name(enum):
    """Our names: half instead of float16."""
    return {"float16": "half", "float32": "float", "float64": "double"}.get(
        dtypes.as_dtype(enum % 100).name, dtypes.as_dtype(enum % 100).name)


@functools.lru_cache(maxsize=None)
def numpy_type(name):
    return object if name == "string" else numpy.dtype(dtypes.as_dtype(name).as_numpy_dtype)


def shape_proto(shape):
    if shape is None:
        return tensor_shape_pb2.TensorShapeProto(unknown_rank=True)
    return tensor_shape_pb2.TensorShapeProto(
        dim=[tensor_shape_pb2.TensorShapeProto.Dim(size=-1 if n is None else n) for n in shape])


def tensor_proto(array, name):
    """A TensorProto of an array that has the numpy type of `name` (objects for strings)."""
    proto = tensor_pb2.TensorProto(dtype=type_enum(name), tensor_shape=shape_proto(array.shape))
    if name == "string":
        proto.string_val.extend(s.encode() if isinstance(s, str) else bytes(s) for s in array.reshape(-1))
    else:
        proto.tensor_content = array.tobytes()
    return proto


def as_array(value, name):
    """Converts `value` to an array of type `name`. Integers that the type cannot represent wrap
    around."""
    if name == "string":
        array = numpy.array(value, object)
        return numpy.vectorize(lambda s: s.encode() if isinstance(s, str) else s, otypes=[object])(
            array) if array.size else array
    array = numpy.asarray(value)
    with numpy.errstate(all="ignore"):
        if name in table.UNSIGNED and array.dtype.kind == "f":
            array = array.astype(numpy.int64)
        return array.astype(numpy_type(name))


def attr_value(kind, value):
    """An AttrValue of the kind that an OpDef names: "int", "list(type)", …"""
    proto = attr_value_pb2.AttrValue()
    if kind.startswith("list("):
        proto.list.SetInParent()
        for element in value:
            one = attr_value(kind[5:-1], element)
            field = one.WhichOneof("value")
            target = getattr(proto.list, field)
            if field in ("shape", "tensor", "func"):
                target.add().CopyFrom(getattr(one, field))
            else:
                target.append(getattr(one, field))
        return proto
    if kind == "string":
        proto.s = value.encode() if isinstance(value, str) else value
    elif kind == "int":
        proto.i = value
    elif kind == "float":
        proto.f = value
    elif kind == "bool":
        proto.b = value
    elif kind == "type":
        proto.type = type_enum(value) if isinstance(value, str) else value
    elif kind == "shape":
        proto.shape.CopyFrom(shape_proto(value))
    elif kind == "tensor":
        value = numpy.asarray(value)
        name = "string" if value.dtype.kind in "OSU" else type_name(dtypes.as_dtype(value.dtype).as_datatype_enum)
        proto.tensor.CopyFrom(tensor_proto(as_array(value, name), name))
    elif kind == "func":
        proto.func.name = value
    else:
        raise ValueError("attribute of kind " + kind)
    return proto


@dataclasses.dataclass(frozen=True)
class Tensor:
    """Output `index` of a node. `dtype` is a name; a node with no outputs has index 0 and dtype ""."""
    node: "Node"
    index: int
    dtype: str
    is_ref: bool = False

    @property
    def name(self):
        return "%s:%d" % (self.node.name, self.index)


class Node:
    """A node of the graph. Used as a tensor, it is its output 0."""

    def __init__(self, name, output_types):
        self.name = name
        self.outputs = [Tensor(self, i, type_name(t), t > 100) for i, t in enumerate(output_types)]

    def __getitem__(self, index):
        return self.outputs[index]

    def __len__(self):
        return len(self.outputs)


@dataclasses.dataclass
class Run:
    """One step. `error`: it must fail with TensorFlow's code, or with `code` if ours differs on
    purpose."""
    feeds: dict
    fetches: list
    targets: list
    error: bool = False
    says: str = None
    code: str = None
    compare: object = None
    tol: object = None
    timeout_ms: int = 60000


@dataclasses.dataclass
class Gradient:
    ys: list
    xs: list
    grad_ys: list = None  # arrays, chosen once the shapes of ys are known; None: ones
    numeric: bool = False
    beside: bool = True  # whether it is compared with TensorFlow's


class Builder:
    """Collects the nodes of one case, under a prefix, with its feeds, runs and gradients."""

    def __init__(self, prefix, types, variant, random):
        self.prefix = prefix
        self.types = types
        self.variant = variant
        self.random = random
        self.nodes = []
        self.functions = []   # FunctionDefs that the nodes call
        self.feeds = {}       # tensor name -> array
        self.feed_types = {}  # tensor name -> dtype name
        self.differentiated = []
        self.runs = []
        self.gradients_wanted = []
        self._names = set()

    def name(self, base):
        """A name that no other case has, for shared_name and the like."""
        return self.prefix + base

    def _node_name(self, base):
        name, k = self.prefix + base, 0
        while name in self._names:
            k += 1
            name = "%s%s_%d" % (self.prefix, base, k)
        self._names.add(name)
        return name

    def const(self, value, dtype):
        array = as_array(value, dtype)
        node = node_def_pb2.NodeDef(name=self._node_name("Const"), op="Const")
        node.attr["dtype"].type = type_enum(dtype)
        node.attr["value"].tensor.CopyFrom(tensor_proto(array, dtype))
        self.nodes.append(node)
        return Node(node.name, [type_enum(dtype)])[0]

    def placeholder(self, array, dtype, shape):
        """A fed placeholder; `shape` is what the graph says of it (None: unknown rank)."""
        node = node_def_pb2.NodeDef(name=self._node_name("Placeholder"), op="Placeholder")
        node.attr["dtype"].type = type_enum(dtype)
        node.attr["shape"].shape.CopyFrom(shape_proto(shape))
        self.nodes.append(node)
        tensor = Node(node.name, [type_enum(dtype)])[0]
        self.feeds[tensor.name] = array
        self.feed_types[tensor.name] = dtype
        return tensor

    def input(self, value, dtype=None):
        """A Gen or an array as a tensor: fed or constant, with or without static shape, as the variant says."""
        is_const = not isinstance(value, table.Gen)
        if isinstance(value, table.Gen):
            is_const, dtype = value.is_const, value.dtype or dtype or self.types.get("T")
            if value.shape is None:
                raise ValueError("a generator without a shape: use .of(…)")
            array = as_array(value.make(self.random, value.shape, dtype), dtype)
            if array.shape != tuple(value.shape):
                raise ValueError("a generator of shape %s made %s" % (value.shape, array.shape))
        else:
            dtype = dtype or self.types.get("T") or literal_type(value)
            array = as_array(value, dtype)
        if self.variant == "const" or (is_const and self.variant != "unknown"):
            return self.const(array, dtype)
        tensor = self.placeholder(array, dtype, None if self.variant == "unknown" else array.shape)
        if isinstance(value, table.Gen) and value.is_differentiated:
            self.differentiated.append(tensor)
        return tensor

    def hidden(self, gen):
        """A fed input with a shape that the graph does not know, for errors that only a step can
        detect."""
        dtype = gen.dtype or self.types.get("T")
        return self.placeholder(as_array(gen.make(self.random, gen.shape, dtype), dtype), dtype, None)

    def op(self, op, *inputs, name=None, control=(), device="", **attrs):
        """Adds a node of type `op`; see README.md."""
        op_def = op_def_registry.get(op)
        if op_def is None:
            raise ValueError("TensorFlow has no op " + op)
        if len(inputs) != len(op_def.input_arg):
            raise ValueError("%s takes %d inputs, got %d" % (op, len(op_def.input_arg), len(inputs)))
        node = node_def_pb2.NodeDef(op=op, device=device)
        kinds = {a.name: a.type for a in op_def.attr}
        for key, value in attrs.items():
            if key not in kinds and not key.startswith("_"):
                raise ValueError("%s has no attribute %s" % (op, key))
            node.attr[key].CopyFrom(attr_value(kinds.get(key, "string"), value))
        for arg, value in zip(op_def.input_arg, inputs):
            self._add_input(op_def, node, arg, value)
        for key, value in self.types.items():
            if key in kinds and key not in node.attr:
                node.attr[key].CopyFrom(attr_value(kinds[key], value))
        node.input.extend("^" + (c.node if isinstance(c, Tensor) else c).name for c in control)
        node.name = self._node_name(name or op)
        self.nodes.append(node)
        return Node(node.name, output_types(op_def, node))

    def _add_input(self, op_def, node, arg, value):
        is_list = bool(arg.number_attr or arg.type_list_attr)
        values = list(value) if is_list and not isinstance(value, Node) else [value]
        if isinstance(value, Node) and is_list:
            values = value.outputs
        tensors = [self._as_tensor(op_def, node, arg, v) for v in values]
        if arg.number_attr and arg.number_attr not in node.attr:
            node.attr[arg.number_attr].i = len(tensors)
        if arg.type_list_attr and arg.type_list_attr not in node.attr:
            node.attr[arg.type_list_attr].list.type.extend(type_enum(t.dtype) for t in tensors)
            node.attr[arg.type_list_attr].list.SetInParent()
        if arg.type_attr and arg.type_attr not in node.attr and tensors:
            node.attr[arg.type_attr].type = type_enum(tensors[0].dtype)
        node.input.extend(t.node.name if t.index == 0 else t.name for t in tensors)

    def _as_tensor(self, op_def, node, arg, value):
        if isinstance(value, Node):
            return value[0]
        if isinstance(value, Tensor):
            return value
        return self.input(value, self._arg_type(op_def, node, arg, value))

    def _arg_type(self, op_def, node, arg, value):
        """The type of an input that is not a tensor yet, from the definition, the given attributes
        and the row's types."""
        if arg.type:
            return type_name(arg.type)
        if isinstance(value, table.Gen) and value.dtype:
            return value.dtype
        if arg.type_attr in node.attr:
            return type_name(node.attr[arg.type_attr].type)
        if arg.type_attr in self.types:
            return self.types[arg.type_attr]
        for attr in op_def.attr:
            if attr.name == arg.type_attr and attr.HasField("default_value"):
                return type_name(attr.default_value.type)
        if isinstance(value, table.Gen):
            raise ValueError("%s: no type for input %s: name %s in types" % (op_def.name, arg.name, arg.type_attr))
        return literal_type(value)

    def function(self, name, body, *types, shapes=None):
        """A function of the library, of what `body` does with tensors of these types; its name, for attributes."""
        specs = [tensorflow.TensorSpec(shapes[i] if shapes else None, dtypes.as_dtype(t)) for i, t in enumerate(types)]
        with tensorflow.Graph().as_default():
            made = tensorflow.function(body, autograph=False).get_concrete_function(*specs)
            library = made.graph.as_graph_def().library
            definition = made.function_def
        definition.signature.name = self.prefix.replace("/", "_") + name
        known = {f.signature.name for f in self.functions}
        self.functions += [f for f in library.function if f.signature.name not in known] + [definition]
        return definition.signature.name

    def run(self, fetches=(), targets=(), feeds=None, error=False, says=None, code=None, compare=None, tol=None,
            timeout_ms=60000):
        """Adds one step. Without `feeds`, all inputs created so far are fed. Inputs that a step
        does not need are ignored."""
        fetches = [t for f in fetches for t in (f.outputs if isinstance(f, Node) else [f])]
        self.runs.append(Run(dict(self.feeds if feeds is None else {t.name: as_array(v, t.dtype)
                                                                    for t, v in feeds.items()}),
                             fetches, list(targets), error or bool(code), says, code, compare, tol, timeout_ms))

    def gradients(self, ys, xs):
        """Compares d(sum of ys) / d(xs), computed after the runs."""
        head = lambda t: t[0] if isinstance(t, Node) else t
        self.gradients_wanted.append(Gradient([head(y) for y in ys], [head(x) for x in xs]))


def literal_type(value):
    kind = numpy.asarray(value).dtype.kind
    return {"b": "bool", "i": "int32", "f": "float", "c": "complex64", "O": "string", "S": "string", "U": "string"}[kind]


def output_types(op_def, node):
    """Enum values of the types of a node's outputs, refs as such."""
    attrs = {a.name: a.default_value for a in op_def.attr if a.HasField("default_value")}
    attrs.update(node.attr)
    types = []
    for arg in op_def.output_arg:
        if arg.type_list_attr:
            one = list(attrs[arg.type_list_attr].list.type)
        else:
            if arg.type_attr and arg.type_attr not in attrs:
                raise ValueError("%s: attribute %s must be given" % (op_def.name, arg.type_attr))
            kind = attrs[arg.type_attr].type if arg.type_attr else arg.type
            one = [kind] * (attrs[arg.number_attr].i if arg.number_attr else 1)
        types += [t + 100 if arg.is_ref and t < 100 else t for t in one]
    return types
