"""What RunMetadata holds. The scripts are like those in scripts.py."""

import tensorflow

tf = tensorflow.compat.v1


def cost_graphs(target, story):
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    v = tf.Variable(tf.ones([3, 4]), use_resource=False, name="v")
    y, z = tf.matmul(x, v, name="y"), tf.matmul(x, v * 2.0, name="z")
    for every, after in ((0, 0), (1, 0), (2, 1), (3, 1)):
        config = tf.ConfigProto(graph_options=tf.GraphOptions(build_cost_model=every, build_cost_model_after=after))
        with tf.Session(target, config=config) as session:
            session.run(v.initializer)
            for fetch in (y, y, y, y, z, z):
                metadata = tf.RunMetadata()
                session.run(fetch, {x: [[1, 2, 3], [4, 5, 6]]}, options=tf.RunOptions(), run_metadata=metadata)
                nodes = {node.name: node for node in metadata.cost_graph.node}
                story.say("every %d after %d" % (every, after), bool(nodes))
                story.say("nothing else", [len(metadata.step_stats.dev_stats), len(metadata.partition_graphs)])
                if not nodes:
                    continue
                product = nodes[fetch.op.name]
                [output] = product.output_info
                story.say("product", [product.device, product.compute_cost > 0, output.dtype, [d.size for d in output.shape.dim], output.size, len(product.input_info)])
                names = {node.id: node.name for node in nodes.values()}
                story.say("beginning and end", [names[0], names[1], len(names) == len(metadata.cost_graph.node)])
    tf.Session.reset(target)


SCRIPTS = [cost_graphs]
SCRIPTS_WITH_FILES = []
