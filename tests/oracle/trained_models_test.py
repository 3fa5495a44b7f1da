"""`sluice run` restores and runs models that TensorFlow trained, with one command."""

import os
import subprocess
import tempfile
import unittest

import numpy
import tensorflow

tf = tensorflow.compat.v1
SLUICE = os.path.join(os.environ.get("SLUICE_ORACLE_ROOT", ""), "tools/sluice")
X = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)


def sluice(*words):
    return subprocess.run([SLUICE, *words], capture_output=True, text=True, timeout=120, check=False)


def linear(resource):
    """y = xw + b with trained values, and a table whose initializer is a node of its own."""
    x = tf.placeholder(tf.float32, [None, 3], "x")
    w = tf.get_variable("w", [3, 2], use_resource=resource, initializer=tf.constant_initializer(0.25))
    b = tf.get_variable("b", [2], use_resource=resource, initializer=tf.constant_initializer(-1.0))
    return x, tf.add(tf.matmul(x, w), b, name="y"), tf.group(w.assign_add(tf.ones([3, 2])), name="train")


class TrainedModels(unittest.TestCase):

    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    def path(self, name):
        return os.path.join(self.folder, name)

    def feeds(self, **arrays):
        numpy.savez(self.path("feeds.npz"), **arrays)
        return "--feeds=" + self.path("feeds.npz")

    def results(self, *words):
        done = sluice("run", *words, "--out=" + self.path("out.npz"))
        self.assertEqual(done.returncode, 0, done.stderr)
        with numpy.load(self.path("out.npz")) as out:
            return dict(out)

    def error(self, *words):
        done = sluice("run", *words)
        self.assertEqual(done.returncode, 1)
        return done.stderr

    def trained(self, resource=True, **saver):
        """Saves a checkpoint and its MetaGraph, and returns y of X."""
        with tf.Graph().as_default() as graph, tf.Session() as session:
            x, y, train = linear(resource)
            tf.global_variables_initializer().run()
            train.run()
            self.checkpoint = tf.train.Saver(**saver).save(session, self.path("model"), global_step=3)
            tf.train.write_graph(graph, self.folder, "graph.pbtxt")
            return session.run(y, {x: X})

    def test_meta_graph_with_checkpoint(self):
        for resource in (False, True):
            for saver in ({}, {"sharded": True}):
                with self.subTest(resource=resource, **saver):
                    expected = self.trained(resource, **saver)
                    meta = self.checkpoint + ".meta"
                    for checkpoint in (self.checkpoint, self.folder):
                        found = self.results(meta, "--checkpoint=" + checkpoint, self.feeds(**{"x:0": X}), "--fetches=y:0")
                        numpy.testing.assert_array_equal(found["y:0"], expected)

    def test_graph_file_with_checkpoint(self):
        expected = self.trained()
        found = self.results(self.path("graph.pbtxt"), "--checkpoint=" + self.checkpoint, self.feeds(x=X), "--fetches=y")
        numpy.testing.assert_array_equal(found["y"], expected)

    def test_meta_graph_without_saver(self):
        expected = self.trained()
        with tf.Graph().as_default():
            linear(True)
            tf.train.export_meta_graph(self.path("other.meta"))
        found = self.results(self.path("other.meta"), "--checkpoint=" + self.checkpoint, self.feeds(**{"x:0": X}), "--fetches=y:0")
        numpy.testing.assert_array_equal(found["y:0"], expected)

    def test_bad_checkpoints(self):
        self.trained()
        meta = self.checkpoint + ".meta"
        self.assertIn("is not a valid checkpoint", self.error(meta, "--checkpoint=" + self.path("missing"), "--fetches=y:0"))
        with tf.Graph().as_default() as graph:
            tf.constant(1.0, name="c")
            tf.train.write_graph(graph, self.folder, "other.pbtxt")
        self.assertIn("the graph has neither a saver", self.error(self.path("other.pbtxt"), "--checkpoint=" + self.checkpoint, "--fetches=c:0"))

    def saved_model(self, *tags):
        """Exports a model with a vocabulary file and two signatures, and returns y of X."""
        vocabulary = self.path("words.txt")
        with open(vocabulary, "w", encoding="utf-8") as file:
            file.write("a\nb\n")
        with tf.Graph().as_default(), tf.Session() as session:
            x, y, train = linear(True)
            word = tf.placeholder(tf.string, [None], "word")
            table = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(
                vocabulary, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), -1)
            tf.global_variables_initializer().run()
            train.run()
            signature = tf.saved_model.signature_def_utils.predict_signature_def
            indices = tf.sparse.from_dense(tf.constant([0, 4]))
            ids = signature({"word": word}, {"id": table.lookup(word)})
            ids.outputs["pair"].CopyFrom(tf.saved_model.utils.build_tensor_info(indices))
            builder = tf.saved_model.Builder(self.path("saved"))
            builder.add_meta_graph_and_variables(
                session, list(tags), {"serving_default": signature({"features": x}, {"scores": y, "twice": y * 2}), "ids": ids},
                main_op=tf.tables_initializer(), assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS))
            builder.save()
            os.remove(vocabulary)
            return session.run(y, {x: X})

    def test_saved_model(self):
        expected = self.saved_model("serve")
        model = self.path("saved")
        found = self.results(model, "--signature=serving_default", self.feeds(features=X))
        self.assertEqual(set(found), {"scores", "twice"})
        numpy.testing.assert_array_equal(found["scores"], expected)
        numpy.testing.assert_array_equal(found["twice"], expected * 2)
        found = self.results(model, "--signature=serving_default", self.feeds(**{"features#steps": X[:, None]}), "--fetches=scores,b/Read/ReadVariableOp:0")
        numpy.testing.assert_array_equal(found["scores#steps"], expected[:, None])
        numpy.testing.assert_array_equal(found["b/Read/ReadVariableOp:0"], [-1, -1])
        found = self.results(model, "--signature=ids", self.feeds(word=numpy.array([b"b", b"c", b"a"])))
        numpy.testing.assert_array_equal(found["id"], [1, -1, 0])
        numpy.testing.assert_array_equal(found["pair/indices"], [[1]])
        numpy.testing.assert_array_equal(found["pair/values"], [4])

    def test_saved_model_with_another_checkpoint(self):
        self.saved_model("serve")
        with tf.Graph().as_default(), tf.Session() as session:
            x, y, train = linear(True)
            tf.global_variables_initializer().run()
            session.run([train] * 2)
            checkpoint = tf.train.Saver().save(session, self.path("later"))
            expected = session.run(y, {x: X})
        found = self.results(self.path("saved"), "--checkpoint=" + checkpoint, "--signature=serving_default", self.feeds(features=X))
        numpy.testing.assert_array_equal(found["scores"], expected)

    def test_tags_and_signatures(self):
        self.saved_model("serve", "gpu")
        model = self.path("saved")
        self.assertIn("could not be found in SavedModel", self.error(model, "--signature=ids"))
        self.assertIn("has no signature 'none'; it has: ids, serving_default", self.error(model, "--tags=gpu,serve", "--signature=none"))
        self.assertEqual(set(self.results(model, "--tags=gpu,serve", "--signature=serving_default", self.feeds(features=X))), {"scores", "twice"})

    def test_inspect_lists_signatures(self):
        self.saved_model("serve")
        shown = sluice("inspect", self.path("saved")).stdout
        self.assertIn("tags        serve\n", shown)
        self.assertIn("signature   serving_default: features = x:0 float [?,3] -> scores = y:0 float [?,2], twice = mul:0 float [?,2]\n", shown)
        self.assertIn("pair/indices = ", shown)

    def test_saved_model_of_tensorflow_2(self):
        module = tensorflow.Module()
        module.w = tensorflow.Variable([[1.0], [2.0], [3.0]])
        module.f = tensorflow.function(lambda x: {"y": x @ module.w}, input_signature=[tensorflow.TensorSpec([None, 3])])
        tensorflow.saved_model.save(module, self.path("saved"), signatures=module.f)
        found = self.results(self.path("saved"), "--signature=serving_default", self.feeds(x=X))
        numpy.testing.assert_array_equal(found["y"], X @ numpy.float32([[1], [2], [3]]))

    def test_feeds_apply_to_init(self):
        with tf.Graph().as_default():
            start = tf.placeholder(tf.float32, [2], "start")
            v = tf.get_variable("v", initializer=start, use_resource=True)
            tf.identity(v.read_value(), "now")
            tf.group(v.initializer, name="init")
            tf.train.export_meta_graph(self.path("fed.meta"))
        found = self.results(self.path("fed.meta"), self.feeds(start=numpy.float32([3, 4])), "--init=init", "--fetches=now:0")
        numpy.testing.assert_array_equal(found["now:0"], [3, 4])
        found = self.results(self.path("fed.meta"), self.feeds(**{"start:0#steps": numpy.float32([[5, 6], [7, 8]])}), "--init=init", "--fetches=now:0")
        numpy.testing.assert_array_equal(found["now:0#steps"], [[5, 6], [5, 6]])

    def test_file_without_arrays(self):
        with tf.Graph().as_default() as graph:
            tf.constant(2.0, name="c")
            tf.train.write_graph(graph, self.folder, "constant.pb", as_text=False)
        self.assertEqual(self.results(self.path("constant.pb"), self.feeds(), "--fetches=c:0")["c:0"], 2)
