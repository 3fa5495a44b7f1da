import ctypes
import sys
from ctypes import POINTER, byref, c_char_p, c_double, c_float, c_int64, c_size_t, c_uint32, c_void_p

lib = ctypes.CDLL("libsluice.so.0")
lib.sluice_error_message.restype = c_char_p
lib.sluice_tensor_data.restype = POINTER(c_uint32)
lib.sluice_tensor_elements.restype = c_int64


class Feed(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("value", c_void_p)]


class HyperParameter(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("value", c_double)]


def call(name, *arguments, result=None):
    """Calls sluice_<name>. `result` is the type of its last argument, which is returned."""
    out = result() if result else None
    function = getattr(lib, "sluice_" + name)
    function.restype = c_void_p
    error = function(*arguments, *([byref(out)] if result else []))
    if error:
        raise RuntimeError(lib.sluice_error_message(c_void_p(error)).decode())
    return out


def tensor(rows):
    values = [value for row in rows for value in row]
    memory = (c_float * len(values))(*values)
    dims = (c_int64 * 2)(len(rows), len(rows[0]))
    return call("tensor_copy", 1, dims, 2, memory, c_size_t(ctypes.sizeof(memory)), result=c_void_p)


def run(session, feeds=(), fetches=(), targets=()):
    fetched = (c_void_p * len(fetches))()
    call("session_run", session, (Feed * len(feeds))(*feeds), c_size_t(len(feeds)), (c_char_p * len(fetches))(*fetches),
         c_size_t(len(fetches)), fetched, (c_char_p * len(targets))(*targets), c_size_t(len(targets)), None)
    return [c_void_p(handle) for handle in fetched]


xs = [(i / 8, (i % 3) / 4) for i in range(8)]
feeds = [(b"x", tensor(xs)), (b"y", tensor([(a * b,) for a, b in xs]))]
graph = call("graph_load", sys.argv[1].encode(), result=c_void_p)
rate = HyperParameter(b"learning_rate", 0.02)
train = call("graph_minimize", graph, b"loss", b"Adam", byref(rate), c_size_t(1), result=c_char_p)
init = call("graph_initializer", graph, result=c_char_p)
session = call("session_new", graph, None, None, result=c_void_p)
run(session, targets=[init.value])
for _ in range(200):
    run(session, feeds, targets=[train.value])
names = [b"loss", b"weights"]
for name, value in zip(names, run(session, feeds, names)):
    bits = lib.sluice_tensor_data(value)[:lib.sluice_tensor_elements(value)]
    print(name.decode(), " ".join("%08x" % number for number in bits))
call("session_save", session, sys.argv[2].encode(), c_int64(200))
