"""TensorArrays and tensor lists whose elements differ in shape or were never written, in loops and branches of both kinds, and gradients
through them. The scripts are like those in scripts.py."""

import numpy as np
import tensorflow
from tensorflow.python.ops import control_flow_util
from tensorflow.python.ops import list_ops

tf = tensorflow.compat.v1
raw = tf.raw_ops


def in_both_control_flows(build, target, story):
    """Runs `build(say)`, which returns {label: fetches} or None, with Switch and Merge, and with While and If."""
    before = control_flow_util.ENABLE_CONTROL_FLOW_V2
    for v2 in (False, True):
        (tf.enable_control_flow_v2 if v2 else tf.disable_control_flow_v2)()
        try:
            with tf.Graph().as_default():
                feeds, fetches = build()
                with tf.Session(target) as session:
                    for label, fetch in fetches.items():
                        outcome(story, "%s %s" % ("v2" if v2 else "v1", label), lambda fetch=fetch: session.run(fetch, feeds))
        finally:
            (tf.enable_control_flow_v2 if before else tf.disable_control_flow_v2)()


def outcome(story, label, call):
    """The result of a call, or its error."""
    try:
        story.say(label, call())
    except tf.errors.OpError as e:
        story.failed(label, e)


def array(dtype=tf.float32, size=3, **kw):
    return tf.TensorArray(dtype, size=size, **kw)


# --- arrays outside of loops


def unwritten(target, story):

    def build():
        x = tf.placeholder(tf.float32, [2], name="x")
        known = dict(element_shape=[2])
        fetches = {}
        for name, kw in (("known", known), ("partial", dict(element_shape=[None])), ("unknown", {}), ("free", dict(infer_shape=False)),
                         ("free and known", dict(infer_shape=False, element_shape=[2])), ("dynamic", dict(dynamic_size=True)),
                         ("kept", dict(clear_after_read=False, element_shape=[2]))):
            empty, one = array(**kw), array(**kw).write(1, x)
            fetches.update({
                name + " read empty": empty.read(0), name + " read": one.read(0), name + " stack empty": empty.stack(), name + " stack": one.stack(),
                name + " gather": one.gather([1, 0]), name + " gather unwritten": one.gather([0, 2]), name + " gather nothing": one.gather(tf.zeros([0], tf.int32)),
                name + " concat": one.concat(), name + " concat empty": empty.concat(), name + " size": one.size(), name + " past": one.read(3),
                name + " before": one.read(-1), name + " none": array(size=0, **kw).stack(), name + " concat none": array(size=0, **kw).concat()})
        for dtype in (tf.int32, tf.string, tf.bool, tf.float64, tf.complex64):
            a = array(dtype, element_shape=[2])
            fetches["zeros of " + dtype.name] = a.read(0)
            fetches["stack of " + dtype.name] = a.stack()
        return {x: [1.0, 2.0]}, fetches

    in_both_control_flows(build, target, story)


def different_shapes(target, story):

    def build():
        x, y = tf.placeholder(tf.float32, name="x"), tf.placeholder(tf.float32, name="y")
        fetches = {}
        for name, kw in (("free", dict(infer_shape=False)), ("inferred", {}), ("partial", dict(element_shape=[None], infer_shape=False)),
                         ("rank 2", dict(element_shape=[None, 2], infer_shape=False)), ("fixed", dict(element_shape=[3]))):
            a = array(size=2, **kw).write(0, x).write(1, y)
            fetches.update({name + " first": a.read(0), name + " second": a.read(1), name + " stack": a.stack(), name + " concat": a.concat(),
                            name + " gather": a.gather([1, 1]), name + " reads": [a.read(0), a.read(1)]})
            fetches[name + " gradients"] = tf.gradients([a.concat()[0], tf.reduce_sum(a.read(1))], [x, y])
            split = array(size=2, **kw).split(x, [1, 2])
            fetches[name + " split"] = [split.read(0), split.read(1)]
            fetches[name + " unstack"] = array(size=3, **kw).unstack(x).read(1)
        return {x: [1.0, 2.0, 3.0], y: [4.0]}, fetches

    in_both_control_flows(build, target, story)


def writes(target, story):

    def build():
        x = tf.placeholder(tf.float32, [2], name="x")
        free = dict(infer_shape=False, element_shape=None)
        a = array(**free).write(0, x)
        wide = tf.placeholder(tf.float32, name="wide")
        d = array(size=0, dynamic_size=True, **free).write(3, x)
        fetches = {
            "again": a.write(0, x).stack(), "past the end": a.write(5, x).stack(), "negative": a.write(-1, x).stack(), "grown": d.size(), "grown read": d.read(3),
            "grown unwritten": d.read(1), "grown stack": d.stack(), "wrong shape": array(element_shape=[3]).write(0, wide).read(0),
            "read twice": [a.read(0), a.read(0)], "scatter": array(**free).scatter([2, 0], wide).read(2), "scatter past": array(**free).scatter([0, 3], wide).read(0),
            "scatter grown": array(size=1, dynamic_size=True, **free).scatter([4, 2], wide).size(), "scatter too few": array(**free).scatter([2], wide).read(2),
            "unstack more": array(size=1, **free).unstack(wide).size(), "split wrong": array(**free).split(x, [1, 2]).size(),
            "split fewer": array(**free).split(x, [1, 1]).size(), "split grown": array(size=0, dynamic_size=True, **free).split(x, [1, 1, 0]).size()}
        return {x: [1.0, 2.0], wide: [[1.0, 2.0], [3.0, 4.0]]}, fetches

    in_both_control_flows(build, target, story)


# --- loops


def loops(target, story):

    def build():
        n = tf.placeholder_with_default(4, [], name="n")
        x = tf.placeholder(tf.float32, [3], name="x")
        fetches = {}

        def loop(body, *arrays, limit=n, **kw):
            return tf.while_loop(lambda i, *_: i < limit, lambda i, *a: (i + 1, *body(i, *a)), (0, *arrays), **kw)[1:]

        ragged = loop(lambda i, a: [a.write(i, tf.fill([i + 1], tf.cast(i, tf.float32)) * x[0])], array(size=n, infer_shape=False, element_shape=[None]))[0]
        fetches.update({"ragged concat": ragged.concat(), "ragged third": ragged.read(2), "ragged stack": ragged.stack(),
                        "ragged gradient": tf.gradients(ragged.concat(), x)})
        odd = loop(lambda i, a: [tf.cond(tf.equal(i % 2, 1), lambda: a.write(i, x * tf.cast(i, tf.float32)), lambda: a)], array(size=n, element_shape=[3]))[0]
        fetches.update({"odd stack": odd.stack(), "odd first": odd.read(0), "odd gradient": tf.gradients(odd.stack(), x)})
        both = loop(lambda i, a, b: [a.write(i, x), b.write(i, tf.reduce_sum(x) + tf.cast(i, tf.float32))], array(size=n), array(size=0, dynamic_size=True, infer_shape=False))
        fetches.update({"both": [both[0].stack(), both[1].stack()], "both gradient": tf.gradients([both[0].stack(), both[1].stack() * 2.0], x)})
        source = array(size=3).unstack(x)
        total = loop(lambda i, s, a: [s + source.read(i), a.write(i, s)], tf.constant(0.0), array(size=3), limit=3)
        fetches.update({"total": [total[0], total[1].stack()], "total gradient": tf.gradients([total[0] * total[0], total[1].stack()], x)})
        previous = tf.while_loop(lambda i, _: i < 4, lambda i, a: (i + 1, a.write(i, a.read(i - 1) * x)), (1, array(size=4, clear_after_read=False).write(0, x)))[1]
        fetches.update({"previous": previous.stack(), "previous gradient": tf.gradients(previous.stack(), x)})
        nested = loop(lambda i, a: [tf.while_loop(lambda j, _: j < i, lambda j, b: (j + 1, b.write(i * 4 + j, x * tf.cast(j, tf.float32))), (0, a))[1]], array(size=16, element_shape=[3]))[0]
        fetches.update({"nested": nested.stack(), "nested gradient": tf.gradients(nested.stack(), x)})
        none = loop(lambda i, a: [a.write(i, x)], array(size=2, element_shape=[3]), limit=0)[0]
        fetches.update({"none": none.stack(), "none gradient": tf.gradients(none.stack(), x)})
        parallel = loop(lambda i, a: [a.write(i, tf.sin(x))], array(size=n), parallel_iterations=1)[0]
        fetches["parallel"] = parallel.stack()
        fetches["parallel gradient"] = tf.gradients(fetches["parallel"], x)
        grown = loop(lambda i, a: [a.write(i, tf.fill([2 - i % 2], x[1]))], array(size=0, dynamic_size=True, infer_shape=False))[0]
        fetches.update({"grown concat": grown.concat(), "grown size": grown.size(), "grown stack": grown.stack(), "grown gradient": tf.gradients(grown.concat(), x)})
        return {x: [1.0, 2.0, 3.0]}, fetches

    in_both_control_flows(build, target, story)


def strings_and_integers(target, story):

    def build():
        s = tf.placeholder(tf.string, [], name="s")
        words = tf.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, a.write(i, tf.fill([i], s))), (0, array(tf.string, infer_shape=False)))[1]
        numbers = tf.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, a.write(2 - i, tf.range(i))), (0, array(tf.int32, infer_shape=False)))[1]
        return {s: "ab"}, {"words": words.concat(), "last": words.read(2), "numbers": numbers.concat(), "stack": numbers.stack(), "first": numbers.read(0)}

    in_both_control_flows(build, target, story)


def branches(target, story):

    def build():
        p = tf.placeholder(tf.bool, [], name="p")
        x = tf.placeholder(tf.float32, [2], name="x")
        a = array(size=2, infer_shape=False, element_shape=[None]).write(0, x)
        written = tf.cond(p, lambda: a.write(1, x * 2.0), lambda: a.write(1, tf.concat([x, x], 0)))
        maybe = tf.cond(p, lambda: a.write(1, x), lambda: a)
        read = tf.cond(p, lambda: a.read(0), lambda: tf.zeros([5]) * x[0])
        fetches = {"concat": written.concat(), "second": written.read(1), "stack": written.stack(), "maybe": maybe.concat(), "read": read,
                   "gradients": tf.gradients(written.concat(), x), "gradients of maybe": tf.gradients(maybe.read(0), x), "gradients of read": tf.gradients(read, x)}
        return None, {"%s %s" % (label, value): (fetch, value) for label, fetch in fetches.items() for value in (True, False)}

    before = control_flow_util.ENABLE_CONTROL_FLOW_V2
    for v2 in (False, True):
        (tf.enable_control_flow_v2 if v2 else tf.disable_control_flow_v2)()
        with tf.Graph().as_default() as graph:
            _, fetches = build()
            with tf.Session(target) as session:
                for label, (fetch, value) in fetches.items():
                    outcome(story, "%s %s" % ("v2" if v2 else "v1", label), lambda fetch=fetch, value=value: session.run(fetch, {"p:0": value, "x:0": [1.0, 2.0]}))
    (tf.enable_control_flow_v2 if before else tf.disable_control_flow_v2)()


# --- functions that use arrays


def scans_and_maps(target, story):

    def build():
        x = tf.placeholder(tf.float32, [3], name="x")
        scan = tf.scan(lambda a, v: a * v + 1.0, x)
        scan_back = tf.scan(lambda a, v: a * v, x, reverse=True)
        mapped = tf.map_fn(lambda v: [v * 2.0, tf.stack([v, v])], x, dtype=[tf.float32, tf.float32])
        folded, folded_back = tf.foldl(lambda a, v: a + v * v, x), tf.foldr(lambda a, v: a * v, x)
        fetches = {"scan": scan, "scan back": scan_back, "map": mapped, "folds": [folded, folded_back], "scan gradient": tf.gradients([scan, scan_back], x),
                   "map gradient": tf.gradients(mapped, x), "fold gradient": tf.gradients([folded, folded_back], x),
                   "map of nothing": tf.map_fn(lambda v: v * 2.0, x[:0]), "second order": tf.gradients(tf.gradients(tf.reduce_sum(tf.sin(x)), x)[0], x)}
        return {x: [1.0, 2.0, 3.0]}, fetches

    in_both_control_flows(build, target, story)


# --- lists


def lists(target, story):

    def build():
        x, wide = tf.placeholder(tf.float32, [2], name="x"), tf.placeholder(tf.float32, name="wide")
        reserve = lambda shape, n=3, dtype=tf.float32: list_ops.tensor_list_reserve(shape, n, dtype)
        get = lambda l, i, shape=None, dtype=tf.float32: list_ops.tensor_list_get_item(l, i, dtype, shape)
        stack = lambda l, shape=None: list_ops.tensor_list_stack(l, tf.float32, element_shape=shape)
        set_ = list_ops.tensor_list_set_item
        free, known = reserve(None), reserve([2])
        one = set_(free, 1, x)
        mixed = set_(set_(free, 0, x), 2, wide)
        empty = list_ops.empty_tensor_list(None, tf.float32)
        fetches = {
            "get unset": get(one, 0), "get unset of known": get(known, 0), "get unset of given": get(free, 0, [2]), "get unset of mixed": get(mixed, 1),
            "get of free": get(free, 0), "get set": get(one, 1), "get other shape": get(one, 1, [3]), "get past": get(one, 3), "get negative": get(one, -1),
            "stack free": stack(free), "stack one": stack(one), "stack mixed": stack(mixed), "stack given": stack(free, [2]), "stack other": stack(one, [3]),
            "stack empty": stack(empty), "stack empty of known": stack(list_ops.empty_tensor_list([2], tf.float32)), "set wrong": stack(set_(known, 0, wide)),
            "set past": stack(set_(known, 7, x)), "concat": list_ops.tensor_list_concat(one, tf.float32, element_shape=[None]),
            "concat known": list_ops.tensor_list_concat(set_(known, 1, x), tf.float32), "concat mixed": list_ops.tensor_list_concat(mixed, tf.float32),
            "concat lengths": list(raw.TensorListConcatV2(input_handle=one, element_shape=[-1], leading_dims=tf.constant([1, 2, 3], tf.int64), element_dtype=tf.float32)),
            "concat empty": list_ops.tensor_list_concat(empty, tf.float32), "concat empty given": list_ops.tensor_list_concat(empty, tf.float32, element_shape=[None, 2]),
            "gather": list_ops.tensor_list_gather(one, [1, 1], tf.float32), "gather unset": list_ops.tensor_list_gather(one, [1, 0], tf.float32),
            "gather free": list_ops.tensor_list_gather(free, [0], tf.float32), "gather past": list_ops.tensor_list_gather(one, [3], tf.float32),
            "gather nothing": list_ops.tensor_list_gather(one, tf.zeros([0], tf.int32), tf.float32), "pop empty": list_ops.tensor_list_pop_back(empty, tf.float32)[1],
            "pop unset": raw.TensorListPopBack(input_handle=one, element_shape=-1, element_dtype=tf.float32)[1],
            "pop set": raw.TensorListPopBack(input_handle=list_ops.tensor_list_push_back(one, x), element_shape=-1, element_dtype=tf.float32)[1],
            "element shapes": [raw.TensorListElementShape(input_handle=l, shape_type=tf.int32) for l in (free, known, one)],
            "resized": [stack(list_ops.tensor_list_resize(one, 2)), stack(list_ops.tensor_list_resize(set_(known, 0, x), 4))],
            "full": list_ops.tensor_list_length(list_ops.tensor_list_push_back(list_ops.empty_tensor_list([2], tf.float32, 0), x)),
            "from tensor": stack(list_ops.tensor_list_from_tensor(wide, [])), "from tensor wrong": list_ops.tensor_list_length(list_ops.tensor_list_from_tensor(wide, [7])),
            "scatter": stack(list_ops.tensor_list_scatter(wide, [2, 0, 1], [])), "scatter sparse": stack(list_ops.tensor_list_scatter(wide, [4, 0, 1], [])),
            "scatter into": stack(raw.TensorListScatterIntoExistingList(input_handle=reserve([]), tensor=wide, indices=[2, 1, 0])),
            "split": [get(list_ops.tensor_list_split(wide, [None], [1, 0, 2]), i) for i in range(3)], "split wrong": list_ops.tensor_list_length(list_ops.tensor_list_split(wide, [None], [1, 0])),
            "concat lists": stack(list_ops.tensor_list_concat_lists(list_ops.tensor_list_push_back(empty, x), list_ops.tensor_list_from_tensor(tf.stack([x, x]), [2]), tf.float32)),
            "zeros of strings": raw.TensorListGetItem(input_handle=reserve([2], 1, tf.string), index=0, element_shape=[2], element_dtype=tf.string)}
        fetches["gradients"] = tf.gradients([get(mixed, 0), get(mixed, 2), list_ops.tensor_list_concat(mixed, tf.float32)], [x, wide])
        fetches["gradients of unset"] = tf.gradients([stack(one)], [x])
        return {x: [1.0, 2.0], wide: [3.0, 4.0, 5.0]}, fetches

    in_both_control_flows(build, target, story)


def sums_of_lists(target, story):

    def build():
        x = tf.placeholder(tf.float32, [2], name="x")
        y = tf.placeholder(tf.float32, name="y")
        push, set_ = list_ops.tensor_list_push_back, list_ops.tensor_list_set_item
        stack = lambda l: list_ops.tensor_list_stack(l, tf.float32)
        a, b = list_ops.tensor_list_from_tensor(tf.stack([x, x * 2.0]), [2]), list_ops.tensor_list_from_tensor(tf.stack([x, x]), None)
        free = list_ops.tensor_list_reserve(None, 2, tf.float32)
        uneven = set_(set_(free, 0, x), 1, y)
        nested = tf.stack([a, b])
        fetches = {
            "add": stack(tf.add_n([a, b])), "add three": stack(tf.add_n([a, b, a])), "add one": stack(tf.add_n([a])), "add reserved": stack(tf.add_n([a, free])),
            "add both reserved": stack(tf.add_n([set_(free, 0, x), set_(free, 1, x)])), "add uneven": list_ops.tensor_list_concat(tf.add_n([uneven, uneven]), tf.float32),
            "add shapes": stack(tf.add_n([a, uneven])), "add lengths": stack(tf.add_n([a, push(a, x)])),
            "zeros": stack(tf.zeros_like(a)), "zeros of reserved": list_ops.tensor_list_length(tf.zeros_like(free)), "zeros of half": stack(tf.zeros_like(set_(free, 0, x))),
            "zeros of uneven": list_ops.tensor_list_concat(tf.zeros_like(uneven), tf.float32), "identity": stack(tf.identity(a)), "identities": [stack(l) for l in tf.identity_n([a, b])],
            "unstacked": [stack(l) for l in tf.unstack(nested, num=2)], "gathered": stack(tf.gather(nested, 1)), 
            "selected": stack(tf.cond(x[0] > 0, lambda: a, lambda: b)),
            
            "list of lists": stack(list_ops.tensor_list_get_item(push(list_ops.empty_tensor_list([], tf.variant), a), 0, tf.variant)),
            "stopped": stack(tf.stop_gradient(a)), "shape": tf.shape(nested), "rank": tf.rank(a), "size": tf.size(nested)}
        return {x: [1.0, 2.0], y: [7.0]}, fetches

    in_both_control_flows(build, target, story)


SCRIPTS = [unwritten, different_shapes, writes, loops, strings_and_integers, branches, scans_and_maps, lists, sums_of_lists]
SCRIPTS_WITH_FILES = []
