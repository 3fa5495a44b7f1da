"""Event files of FileWriter, as TensorFlow and TensorBoard read them."""

import glob
import os
import subprocess
import tempfile
import unittest

import numpy
import tensorflow
from tensorflow.core.framework import graph_pb2
from tensorflow.core.protobuf import config_pb2
from tensorflow.core.protobuf import meta_graph_pb2

EXPORT = "tests/oracle/export_events"


def events_of(path):
    return list(tensorflow.compat.v1.train.summary_iterator(path))


def by_tensorflow(folder):
    """The path of the event file that TensorFlow writes when it runs the graph of FOLDER/ops.pb."""
    with open(os.path.join(folder, "ops.pb"), "rb") as f:
        def_ = graph_pb2.GraphDef.FromString(f.read())
    with open(os.path.join(folder, "ops.txt"), encoding="utf-8") as f:
        names = f.read().split()
    logdir = os.path.join(folder, "tensorflow")
    with tensorflow.Graph().as_default() as graph:
        tensorflow.graph_util.import_graph_def(def_, name="")
        with tensorflow.compat.v1.Session(graph=graph) as session:
            for name in names:
                session.run(graph.get_operation_by_name(name), {"logdir:0": logdir})
    (path,) = glob.glob(os.path.join(logdir, "*"))
    return path


class EventsTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        subprocess.run([EXPORT, cls.folder], check=True)
        (cls.path,) = glob.glob(os.path.join(cls.folder, "writer", "*"))
        cls.events = events_of(cls.path)

    def values(self, tag):
        return [(e.step, v) for e in self.events if e.HasField("summary") for v in e.summary.value if v.tag == tag]

    def test_the_file_is_named_and_begins_as_tensorflows_do(self):
        self.assertRegex(os.path.basename(self.path), r"^events\.out\.tfevents\.\d{10}\.[^/]+$")
        self.assertEqual(self.events[0].file_version, "brain.Event:2")

    def test_graph_and_meta_graph_are_ones_that_tensorflow_imports(self):
        graphs = [graph_pb2.GraphDef.FromString(e.graph_def) for e in self.events if e.HasField("graph_def")]
        metas = [meta_graph_pb2.MetaGraphDef.FromString(e.meta_graph_def) for e in self.events if e.HasField("meta_graph_def")]
        self.assertEqual((len(graphs), len(metas)), (1, 1))
        for def_ in (graphs[0], metas[0].graph_def):
            with tensorflow.Graph().as_default() as graph:
                tensorflow.graph_util.import_graph_def(def_, name="")
                self.assertEqual(graph.get_tensor_by_name("x:0").shape, [4])
        self.assertIn("_output_shapes", graphs[0].node[0].attr)

    def test_scalars(self):
        self.assertEqual([(s, v.simple_value) for s, v in self.values("train/loss")], [(1, 0.5), (2, 1.0), (3, 1.5)])

    def test_histograms_are_tensorflows(self):
        for step, value in self.values("x"):
            x = numpy.array([-2.5, 0.0, 1e-3, 7.0], numpy.float32) * numpy.float32(step)
            theirs = tensorflow.raw_ops.HistogramSummary(tag="x", values=x).numpy()
            self.assertEqual(value, tensorflow.compat.v1.Summary.FromString(theirs).value[0])

    def test_images_and_sounds(self):
        (step, image), *_ = self.values("picture/image")
        self.assertEqual((image.image.height, image.image.width, image.image.colorspace), (3, 4, 3))
        pixels = tensorflow.io.decode_png(image.image.encoded_image_string).numpy()
        self.assertTrue((pixels == 255).all())
        (_, sound), *_ = self.values("sound/audio/0")
        samples, rate = tensorflow.audio.decode_wav(sound.audio.encoded_audio_string)
        self.assertEqual((rate.numpy(), samples.numpy().ravel().tolist()), (8000, [0.25] * 8))

    def test_text_has_its_plugin_the_first_time(self):
        notes = [v for _, v in self.values("note")]
        self.assertEqual([v.metadata.plugin_data.plugin_name for v in notes], ["text", "", ""])
        self.assertEqual(notes[0].tensor.string_val, [b"**bold**"])

    def test_run_metadata(self):
        tagged = [e.tagged_run_metadata for e in self.events if e.HasField("tagged_run_metadata")]
        self.assertEqual([t.tag for t in tagged], ["step 1", "step 2", "step 3"])
        stats = config_pb2.RunMetadata.FromString(tagged[0].run_metadata).step_stats
        names = {n.node_name for d in stats.dev_stats for n in d.node_stats}
        self.assertIn("Merge/MergeSummary", names)

    def test_what_ops_write_is_what_tensorflows_ops_write(self):
        (path,) = glob.glob(os.path.join(self.folder, "ops", "*"))
        self.assertTrue(path.endswith(".sfx"))
        ours, theirs = events_of(path), events_of(by_tensorflow(self.folder))
        self.assertEqual(len(ours), 9)
        self.assertEqual(len(ours), len(theirs))
        for a, b in zip(ours, theirs):
            for event in (a, b):
                if event.step != 9:  # the imported event has its own time
                    event.ClearField("wall_time")
                event.ClearField("source_metadata")
                for value in event.summary.value:
                    if value.HasField("image"):  # encoders differ
                        value.image.encoded_image_string = tensorflow.io.decode_png(value.image.encoded_image_string).numpy().tobytes()
            self.assertEqual(a, b)


if __name__ == "__main__":
    unittest.main()
