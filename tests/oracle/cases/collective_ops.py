"""Collectives over several devices of one session, and Send and Recv."""

import zlib

from tests.oracle.table import *

SUMS = ("bfloat16", "float", "half", "double", "int32", "int64")
ROWS_TYPES = ("float", "half", "double", "int32", "int64")
VALUES = ("bool", "float", "half", "double", "int32", "int64")


def device(i):
    return "/job:localhost/replica:0/task:0/device:CPU:%d" % i


def key(b, more=""):
    """TensorFlow remembers groups for as long as the session lives: no two cases share one."""
    return zlib.crc32((b.name("") + more).encode()) % 1000000 + 1


def group(b, n, **more):
    return dict(group_size=n, group_key=key(b), instance_key=key(b, "instance"), **more)


def reduce(b, inputs, merge="Add", final="Id", **more):
    made = {**group(b, len(inputs)), "merge_op": merge, "final_op": final, "subdiv_offsets": [0], **more}
    return [b.op("CollectiveReduce", b.input(x), device=device(i), **made) for i, x in enumerate(inputs)]


def keys_of(b, n):
    made = group(b, n)
    return [made["group_size"], made["group_key"], made["instance_key"]]


def reduce_v2(b, inputs, merge="Add", final="Id", keys=None, **more):
    keys = keys or keys_of(b, len(inputs))
    return [b.op("CollectiveReduceV2", b.input(x), *keys, [], merge_op=merge, final_op=final, device=device(i), **more) for i, x in enumerate(inputs)]


def reductions(make):

    def build(b):
        for merge in ("Add", "Mul", "Min", "Max"):
            for final in ("Id", "Div"):
                more = {"instance_key": key(b, merge + final)} if make is reduce else {"keys": keys_of(b, 2)[:2] + [key(b, merge + final)]}
                b.run(fetches=make(b, [rand(2, 3), rand(2, 3)], merge, final, **more))

    return build


SHAPES = ((1, (2,)), (3, (4, 2)), (2, ()), (2, (1, 1, 5)), (2, (1000,)))  # TensorFlow crashes for empty fed tensors


def of_shape(make, n, shape):
    return lambda b: b.run(fetches=make(b, [f(*shape) for _ in range(n)]))


def steps(b):
    """One instance, several steps."""
    sums = reduce(b, [rand(3).typed("float"), rand(3).typed("float")])
    for _ in range(3):
        b.run(fetches=sums)


def accepted(b):
    for k, more in enumerate(({"subdiv_offsets": []}, {"subdiv_offsets": [0, 1]}, {"wait_for": [7]}, {"communication_hint": "ring"}, {"timeout_seconds": 30.0})):
        b.run(fetches=reduce(b, [rand(4).typed("float"), rand(4).typed("float")], instance_key=key(b, str(k)), **more))
    for k, more in enumerate(({"is_stateless": True}, {"max_subdivs_per_device": 0}, {"communication_hint": "ring"}, {"timeout_seconds": 30.0})):
        b.run(fetches=reduce_v2(b, [rand(4).typed("float"), rand(4).typed("float")], keys=[2, key(b), key(b, "v2" + str(k))], **more))


def gather(b, inputs, shape=(1,), **more):
    return [b.op("CollectiveGather", b.input(x), shape=list(shape), device=device(i), **{**group(b, len(inputs)), **more}) for i, x in enumerate(inputs)]


def gather_v2(b, inputs, **more):
    return [b.op("CollectiveGatherV2", b.input(x), *keys_of(b, len(inputs)), [], device=device(i), **more) for i, x in enumerate(inputs)]


def gatherings(b):
    for n, shape in ((1, (2,)), (3, (4, 2)), (2, (1,)), (2, (2, 1, 3))):
        b.run(fetches=gather(b, [rand(*shape) for _ in range(n)], (n * shape[0],) + shape[1:], group_key=key(b, "%d%s" % (n, shape))))


def gatherings_v2(b):
    b.run(fetches=gather_v2(b, [rand(2, 3), rand(2, 3), rand(2, 3)]))


def broadcast(b, value, source, n, shape, **more):
    made = {**group(b, n), "shape": list(shape), **more}
    return [b.op("CollectiveBcastSend", b.input(value), device=device(i), **made) if i == source else
            b.op("CollectiveBcastRecv", T=b.types["T"], device=device(i), **made) for i in range(n)]


def broadcast_v2(b, value, source, n, shape, keys=None):
    keys = keys or keys_of(b, n)
    return [b.op("CollectiveBcastSendV2", b.input(value), *keys, device=device(i)) if i == source else
            b.op("CollectiveBcastRecvV2", *keys, list(shape), T=b.types["T"], Tshape="int32", device=device(i)) for i in range(n)]


def broadcasts(make):

    def build(b):
        make(b, rand(2, 3), 0, 2, (2, 3))
        for source, n, shape in ((0, 2, (2, 3)), (1, 3, (4,)), (2, 3, ())):
            unique = "%d%d" % (source, n)
            more = {"group_key": key(b, unique)} if make is broadcast else {"keys": [n, key(b, unique), 1]}
            b.run(fetches=make(b, rand(*shape), source, n, shape, **more))

    return build


def refused(make, says, code=None, **run):

    def build(b):
        b.run(fetches=make(b), error=True, says=says, **run)

    return build


f = lambda *shape: rand(*shape).typed("float")


def mixed(b):
    made = group(b, 2, merge_op="Add", final_op="Id", subdiv_offsets=[0])
    return [b.op("CollectiveReduce", b.input(rand(2).typed(t)), device=device(i), **made) for i, t in enumerate(("float", "int32"))]


def sizes(b):
    made = group(b, 2, merge_op="Add", final_op="Id", subdiv_offsets=[0])
    return [b.op("CollectiveReduce", b.input(f(2)), device=device(i), **{**made, "group_size": 2 + i}) for i in range(2)]


def too_many(b):
    made = group(b, 2, merge_op="Add", final_op="Id", subdiv_offsets=[0])
    return [b.op("CollectiveReduce", b.input(f(2)), device=device(i), **made) for i in range(3)]


def of_float(make, *arguments, **more):

    def build(b):
        b.types = {"T": "float"}
        return make(b, *arguments, **more)

    return build


def other_shape(b):
    keys = keys_of(b, 2)
    return [b.op("CollectiveBcastSendV2", b.input(f(2)), *keys, device=device(0)),
            b.op("CollectiveBcastRecvV2", *keys, [3], T="float", Tshape="int32", device=device(1))]


def send(b, value, name="t", there=0, **attrs):
    made = {"tensor_name": b.name(name), "send_device": device(0), "send_device_incarnation": 1, "recv_device": device(there), **attrs}
    return b.op("Send", b.input(value), device=device(0), **made)


def recv(b, name="t", there=0, dtype=None, **attrs):
    made = {"tensor_name": b.name(name), "send_device": device(0), "send_device_incarnation": 1, "recv_device": device(there), **attrs}
    return b.op("Recv", tensor_type=dtype or b.types["T"], device=device(there), **made)


def transfer(b):
    for there in (0, 2):
        b.run(fetches=[recv(b, "t%d" % there, there)], targets=[send(b, rand(2, 3), "t%d" % there, there)])


def bad_device(b):
    b.run(targets=[send(b, f(2), send_device="x")], error=True, says="Invalid  rendezvous key: x;")


ROWS = [Row(op, build=of_shape(make, n, shape), types=[{}], name="%d of %s" % (n, list(shape)))
        for op, make in (("CollectiveReduce", reduce), ("CollectiveReduceV2", reduce_v2)) for n, shape in SHAPES] + [
    Row("CollectiveReduce", build=reductions(reduce), types={"T": SUMS}),
    Row("CollectiveReduceV2", build=reductions(reduce_v2), types={"T": SUMS}),
    Row("CollectiveReduce", build=steps, types=[{}], name="steps"),
    Row("CollectiveReduce", build=accepted, types=[{}], name="accepted"),
    Row("CollectiveGather", build=gatherings, types={"T": ROWS_TYPES}),
    Row("CollectiveGatherV2", build=gatherings_v2, types={"T": ROWS_TYPES}),
    Row("CollectiveBcastSend", build=broadcasts(broadcast), types={"T": VALUES}),
    Row("CollectiveBcastRecv", build=broadcasts(broadcast), types={"T": VALUES}),
    Row("CollectiveBcastSendV2", build=broadcasts(broadcast_v2), types={"T": VALUES}),
    Row("CollectiveBcastRecvV2", build=broadcasts(broadcast_v2), types={"T": VALUES}),
    Row("Send", build=transfer, types={"T": ALL}),
    Row("Recv", build=transfer, types={"T": ALL}),
    # --- errors. Which mismatch TensorFlow reports for the first version is random
    # (ops/dataflow/collective_test.cc).
    Row("CollectiveReduceV2", build=refused(of_float(reduce_v2, [f(2), f(3)]), "Shape mismatch in the collective instance .*expected shape"), types=[{}], name="shape mismatch"),
    Row("CollectiveGatherV2", build=refused(of_float(gather_v2, [f(1), f(2)]), "Shape mismatch in the collective instance"), types=[{}], name="shape mismatch"),
    Row("CollectiveReduce", build=refused(mixed, "expected type 0 and data_type . but got type 0 and data_type"), types=[{}], name="dtype mismatch"),
    Row("CollectiveReduce", build=refused(sizes, "is joining a group with size .*, but that group has size"), types=[{}], name="size mismatch"),
    Row("CollectiveReduce", build=refused(too_many, "is joining a group that is already full"), types=[{}], name="too many"),
    Row("CollectiveReduce", build=refused(of_float(reduce, [f(2)], group_size=-1), "group_size must be positive integer but got -1"), types=[{}], name="no size"),
    Row("CollectiveReduceV2", build=refused(of_float(reduce_v2, [f(2)], keys=[-1, 1, 1]), "group_size must be positive integer but got -1"), types=[{}], name="no size"),
    Row("CollectiveReduceV2", build=refused(of_float(reduce_v2, [f(2)], keys=[[1], 1, 1]), "Unexpected dimensions on input group_size, got \\[1\\]"), types=[{}], name="group_size"),
    Row("CollectiveReduce", build=refused(of_float(reduce, [f(2)], group_size=2, timeout_seconds=0.2), "Collective has timed out waiting for other workers"), types=[{}], name="timeout"),
    Row("CollectiveBcastSendV2", build=refused(other_shape, "Shape mismatch in the collective instance"), types=[{}], name="shape mismatch"),
    Row("CollectiveGather", errors=[C(f(), group_size=1, group_key=1, instance_key=1, shape=[1], says="at least rank 1|rank > 0")], types=[{}], name="scalar"),
    Row("Send", build=bad_device, types=[{}], name="device"),
]
