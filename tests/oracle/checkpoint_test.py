"""Checkpoints, meta graphs, savers and SavedModels pass both ways between Sluice and TensorFlow."""

import os
import subprocess
import sys
import tempfile
import unittest

import numpy
import tensorflow
from tensorflow.python.checkpoint import checkpoint_management

v1 = tensorflow.compat.v1
PROGRAM = os.path.join(os.environ.get("SLUICE_ORACLE_ROOT", ""), "tests/oracle/checkpoint_program")


def sluice(*words):
    done = subprocess.run([PROGRAM] + [str(w) for w in words], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise AssertionError("%s: exit %d\n%s" % (words[0], done.returncode, done.stderr[-2000:]))
    return done.stdout


def read(path):
    with open(path, "rb") as file:
        return file.read()


def values(prefix):
    reader = tensorflow.train.load_checkpoint(prefix)
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def batch(step):
    rows, columns = numpy.meshgrid(numpy.arange(4), numpy.arange(6), indexing="ij")
    x = numpy.sin((step + 3 * rows + columns).astype(numpy.float32))
    return x, x.sum(axis=1, keepdims=True)


def train(session, steps):
    op = session.graph.get_collection("train_op")[0]
    step = v1.train.get_global_step(session.graph)
    for _ in range(steps):
        x, y = batch(int(session.run(step)))
        session.run(op, {"x:0": x, "y:0": y})


def model(kind):
    """TensorFlow's own: weights of the kind, a reference variable, a text, Adam or momentum."""
    v1.disable_eager_execution()
    x = v1.placeholder(tensorflow.float32, [None, 6], name="x")
    y = v1.placeholder(tensorflow.float32, [None, 1], name="y")
    step = v1.train.get_or_create_global_step()
    partitioner = v1.fixed_size_partitioner(3) if kind == "parts" else None
    with tensorflow.device("/device:CPU:1" if kind == "sharded" else None):
        w = v1.get_variable("w", [6, 1], initializer=v1.zeros_initializer(), partitioner=partitioner,
                            use_resource=kind != "reference")
    b = v1.get_variable("b", [1], initializer=v1.zeros_initializer(), use_resource=False)
    v1.get_variable("label", initializer="text", trainable=False, use_resource=True)
    loss = tensorflow.reduce_mean(tensorflow.square(tensorflow.matmul(x, w) + b - y), name="loss")
    v1.train.AdamOptimizer(0.1).minimize(loss, global_step=step)  # adds it to the collection train_op


def session():
    return v1.Session(config=v1.ConfigProto(device_count={"CPU": 2}))


class Checkpoints(unittest.TestCase):

    def setUp(self):
        v1.disable_eager_execution()
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = holder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def assert_close(self, found, expected):
        self.assertEqual(sorted(found), sorted(expected))
        for name, value in expected.items():
            if isinstance(value, bytes):
                self.assertEqual(found[name], value)
            else:
                numpy.testing.assert_allclose(found[name], value, rtol=1e-5, atol=1e-6, err_msg=name)

    def test_every_type_is_read_and_written_byte_for_byte(self):
        tensors = {}
        for t in ("float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16",
                  "uint32", "uint64", "bool", "complex64", "complex128"):
            dtype = tensorflow.as_dtype(t)
            tensors[t] = numpy.array([[0, 1, 2], [3, 4, 5]]).astype(dtype.as_numpy_dtype)
            tensors[t + "/scalar"] = numpy.array(1).astype(dtype.as_numpy_dtype)
            tensors[t + "/empty"] = numpy.zeros([0, 2], dtype.as_numpy_dtype)
        tensors["string"] = numpy.array(["", "a", "\u00fc" * 200, "x" * 70000], object)
        tensors["string/scalar"] = numpy.array("one", object)
        tensors["string/empty"] = numpy.zeros([0], object)
        names = sorted(tensors)
        with v1.Graph().as_default(), v1.Session() as s:
            constants = [tensorflow.constant(tensors[n], dtype=tensorflow.string if n.startswith("string") else None) for n in names]
            s.run(tensorflow.raw_ops.SaveV2(prefix=self.path("t"), tensor_names=names, shape_and_slices=[""] * len(names),
                                            tensors=constants))
        sluice("copy", self.path("t"), self.path("s"))
        for ending in (".index", ".data-00000-of-00001"):
            self.assertEqual(read(self.path("s") + ending), read(self.path("t") + ending), ending)
        found = values(self.path("s"))
        for name in names:
            numpy.testing.assert_array_equal(found[name], values(self.path("t"))[name])

    def test_many_tensors_make_many_blocks(self):
        names = ["layer_%05d/weights_of_a_long_name" % i for i in range(20000)]
        with v1.Graph().as_default(), v1.Session() as s:
            s.run(tensorflow.raw_ops.SaveV2(prefix=self.path("t"), tensor_names=names, shape_and_slices=[""] * len(names),
                                            tensors=[tensorflow.constant(1.5)] * len(names)))
        sluice("copy", self.path("t"), self.path("s"))
        self.assertEqual(read(self.path("s.index")), read(self.path("t.index")))

    def test_parts_are_written_byte_for_byte(self):
        x = numpy.arange(24, dtype=numpy.float32).reshape(6, 4)
        specs = ["6 4 0,2:-", "6 4 2,4:0,1", "6 4 2,4:1,3"]
        with v1.Graph().as_default(), v1.Session() as s:
            s.run(tensorflow.raw_ops.SaveV2(prefix=self.path("t"), tensor_names=["p"] * 3, shape_and_slices=specs,
                                            tensors=[x[:2], x[2:, :1], x[2:, 1:]]))
        sluice("copy", self.path("t"), self.path("s"))
        for ending in (".index", ".data-00000-of-00001"):
            self.assertEqual(read(self.path("s") + ending), read(self.path("t") + ending), ending)
        numpy.testing.assert_array_equal(values(self.path("s"))["p"], x)

    def continue_in_both(self, meta, checkpoint):
        """Both programs run the meta graph's model 4 steps from the checkpoint; all variables agree."""
        with v1.Graph().as_default(), session() as s:
            saver = v1.train.import_meta_graph(meta)
            saver.restore(s, checkpoint)
            train(s, 4)
            theirs = saver.save(s, self.path("theirs"), write_state=False)
        found = values(sluice("train", meta, checkpoint, 4, self.path("ours")).strip())
        self.assertEqual(found["global_step"], 7)
        self.assert_close(found, values(theirs))

    def check_ours(self, kind):
        sluice("model", kind, self.path("m"))
        checkpoint = v1.train.latest_checkpoint(self.folder)
        self.assertEqual(checkpoint, self.path("m-3"))
        saved = values(checkpoint)
        self.assertEqual(saved["label"], b"text")
        self.assertEqual(saved["w"].shape, (6, 1))
        self.assertGreater(abs(saved["w"]).min(), 0)
        self.continue_in_both(checkpoint + ".meta", checkpoint)

    def test_tensorflow_trains_on_from_ours(self):
        self.check_ours("plain")

    def test_tensorflow_trains_on_from_ours_in_parts(self):
        self.check_ours("parts")

    def test_tensorflow_trains_on_from_ours_in_shards(self):
        self.check_ours("sharded")
        self.assertEqual(len([f for f in os.listdir(self.folder) if f.startswith("m-3.data")]), 2)

    def check_theirs(self, kind, **options):
        with v1.Graph().as_default(), session() as s:
            model(kind)
            saver = v1.train.Saver(sharded=kind == "sharded", **options)
            s.run(v1.global_variables_initializer())
            train(s, 3)
            checkpoint = saver.save(s, self.path("m"), global_step=3)
        self.continue_in_both(self.path("m-3.meta"), checkpoint)

    def test_ours_trains_on_from_tensorflows(self):
        self.check_theirs("plain")

    def test_ours_trains_on_from_tensorflows_references(self):
        self.check_theirs("reference")

    def test_ours_trains_on_from_tensorflows_parts(self):
        self.check_theirs("parts")

    def test_ours_trains_on_from_tensorflows_shards(self):
        self.check_theirs("sharded")

    def test_ours_trains_on_from_the_first_format(self):
        self.check_theirs("plain", write_version=v1.train.SaverDef.V1)

    def test_ours_trains_on_from_shards_of_the_first_format(self):
        self.check_theirs("sharded", write_version=v1.train.SaverDef.V1)

    def check_nodes(self, kind):
        """TensorFlow's Saver for the variables of our meta graph builds the same nodes as ours."""
        sluice("model", kind, self.path("m"))
        meta = v1.MetaGraphDef.FromString(read(self.path("m-3.meta")))
        ours = {n.name: n for n in meta.graph_def.node if n.name.startswith("save/")}
        rest = [n for n in meta.graph_def.node if not n.name.startswith("save/")]
        bare = v1.MetaGraphDef()
        bare.CopyFrom(meta)
        bare.ClearField("saver_def")
        del bare.graph_def.node[:]
        bare.graph_def.node.extend(rest)
        with v1.Graph().as_default() as graph:
            v1.train.import_meta_graph(bare)
            # The nodes that import_meta_graph adds if there is no SaverDef.
            known = {n.name for n in graph.as_graph_def().node}
            saver = v1.train.Saver(sharded=kind == "sharded", name="again")
            theirs = {n.name.replace("again/", "save/"): n for n in graph.as_graph_def().node
                      if n.name.startswith("again/") and n.name not in known}
        skipped = {n for n in theirs if theirs[n].op == "DisableCopyOnRead"}  # only in TensorFlow 2
        self.assertEqual(sorted(ours), sorted(set(theirs) - skipped))
        for name, node in ours.items():
            other = theirs[name]
            self.assertEqual(node.op, other.op, name)
            data = [i for i in node.input if not i.startswith("^")]
            inputs = [i.replace("again/", "save/") for i in other.input]
            self.assertEqual(data, [i for i in inputs if not i.startswith("^")], name)
            self.assertEqual(sorted(node.input), sorted(inputs), name)
            self.assertEqual(node.device, other.device, name)
            for key in ("value", "dtypes", "_class", "validate_shape", "T", "dtype"):
                self.assertEqual(str(node.attr.get(key)), str(other.attr.get(key)).replace("again/", "save/"), (name, key))
        definition = saver.saver_def
        for field in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
            self.assertEqual(getattr(meta.saver_def, field), getattr(definition, field).replace("again/", "save/"))
        for field in ("max_to_keep", "sharded", "keep_checkpoint_every_n_hours", "version"):
            self.assertEqual(getattr(meta.saver_def, field), getattr(definition, field))

    def test_nodes_of_the_saver(self):
        self.check_nodes("plain")

    def test_nodes_of_the_saver_of_parts(self):
        self.check_nodes("parts")

    def test_nodes_of_the_saver_of_shards(self):
        self.check_nodes("sharded")

    def test_the_state_file_is_tensorflows(self):
        sluice("model", "plain", self.path("m"))
        ours = read(self.path("checkpoint"))
        checkpoint_management.update_checkpoint_state(self.folder, self.path("m-3"), [self.path("m-3")])
        self.assertEqual(ours, read(self.path("checkpoint")))

    def test_tensorflow_serves_our_saved_model(self):
        with open(self.path("asset.txt"), "w") as file:
            file.write("five!")
        sluice("export", self.path("model"), self.path("asset.txt"))
        os.remove(self.path("asset.txt"))
        with v1.Graph().as_default(), v1.Session() as s:
            meta = v1.saved_model.load(s, ["serve"], self.path("model"))
            signature = meta.signature_def["serving_default"]
            y = s.run(signature.outputs["y"].name, {signature.inputs["x"].name: [1, 10]})
        numpy.testing.assert_array_equal(y, [7, 25])
        self.assertEqual(sluice("serve", self.path("model"), 3), "11\n")

    def test_ours_serves_tensorflows_saved_model(self):
        with open(self.path("asset.txt"), "w") as file:
            file.write("five!")
        with v1.Graph().as_default(), v1.Session() as s:
            x = v1.placeholder(tensorflow.float32, [None], name="x")
            three = v1.get_variable("three", initializer=3.0, use_resource=True)
            length = v1.get_variable("length", initializer=0.0, collections=["local_variables"], use_resource=True)
            path = tensorflow.constant(self.path("asset.txt"))
            v1.add_to_collection(v1.GraphKeys.ASSET_FILEPATHS, path)
            is_right = tensorflow.equal(tensorflow.io.read_file(path), "five!")
            init = length.assign(tensorflow.cast(is_right, tensorflow.float32) * 5).op
            y = x * three + length
            s.run(v1.global_variables_initializer())
            builder = v1.saved_model.Builder(self.path("model"))
            builder.add_meta_graph_and_variables(
                s, ["serve"], {"serving_default": v1.saved_model.predict_signature_def({"x": x}, {"y": y})},
                assets_collection=v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS), main_op=init)
            builder.save()
        os.remove(self.path("asset.txt"))
        self.assertEqual(sluice("serve", self.path("model"), 4), "17\n")

    def test_ours_serves_a_saved_model_of_functions(self):
        """A model written by tf.saved_model.save: variables, an asset, and functions with calls,
        branches and loops."""
        with open(self.path("asset.txt"), "w") as file:
            file.write("five!")
        made = subprocess.run([sys.executable, "-c", FUNCTIONS, self.path("model"), self.path("asset.txt")],
                              capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(made.returncode, 0, made.stderr[-2000:])
        os.remove(self.path("asset.txt"))
        self.assertEqual(sluice("serve", self.path("model"), 4), "17\n")   # 4 * 3 + 2, and one three times
        self.assertEqual(sluice("serve", self.path("model"), -4), "15\n")  # -(-4 * 3), and the same


FUNCTIONS = """
import sys
import tensorflow as tf

class Model(tf.Module):
    def __init__(self):
        self.three, self.table = tf.Variable(3.0), tf.Variable([1.0, 2.0])
        self.path = tf.saved_model.Asset(sys.argv[2])

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="x")])
    def serve(self, x):
        y = x * self.three
        y = tf.cond(tf.reduce_sum(x) > 0, lambda: y + self.table[1], lambda: -y)
        return {"y": tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, self.add(v)), [0, y])[1]}

    @tf.function
    def add(self, v):
        return v + tf.cast(tf.equal(tf.io.read_file(self.path), "five!"), tf.float32)

model = Model()
tf.saved_model.save(model, sys.argv[1], signatures={"serving_default": model.serve})
"""


if __name__ == "__main__":
    unittest.main()
