"""Functions run on the tasks of a cluster of `sluice server`s as they do on TensorFlow's servers."""

import unittest

import tensorflow

from tests.oracle.client import clusters
from tests.oracle.client import function_scripts
from tests.oracle.client import stories

tf = tensorflow.compat.v1
tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.FATAL)


def tell(script, cluster):
    """The story of a script on a cluster."""
    tf.reset_default_graph()
    tf.set_random_seed(1)
    story = stories.Story()
    script(cluster, story)
    return story


class FunctionsTest(stories.StoryTestCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        counts = {"ps": 1, "chief": 1, "worker": 2}
        cls.control = clusters.TensorFlowCluster(**counts)
        cls.cluster = clusters.SluiceCluster(**counts)

    @classmethod
    def tearDownClass(cls):
        cls.cluster.stop()
        super().tearDownClass()

    def test_scripts(self):
        for script in function_scripts.SCRIPTS:
            with self.subTest(script.__name__):
                ours = tell(script, self.cluster)
                theirs = tell(script, self.control)
                self.assert_same_stories(theirs, ours, script.__name__)


if __name__ == "__main__":
    unittest.main()
