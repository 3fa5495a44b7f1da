"""The manifest through TF's Python client: sess.run ("tf-py") and make_callable ("tf-py-callable").

Usage: python tensorflow_python.py MANIFEST --section A [--intra N --inter N] [--api run|callable] [--filter SUBSTR]
"""
import argparse, os, sys
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow.compat.v1 as tf
from tensorflow.core.protobuf import rewriter_config_pb2
from feed import await_turn, make_feed, measure
tf.disable_v2_behavior(); tf.logging.set_verbosity(tf.logging.ERROR)

p = argparse.ArgumentParser(); p.add_argument("manifest"); p.add_argument("--section", default=""); p.add_argument("--intra", type=int, default=0)
p.add_argument("--inter", type=int, default=0); p.add_argument("--api", default="run"); p.add_argument("--filter", default="")
p.add_argument("--reps", type=int, default=9); p.add_argument("--rep_s", type=float, default=0.2)
p.add_argument("--turns", action="store_true", help="wait for a line before each case")
a = p.parse_args()
threads = "default" if a.intra == a.inter == 0 else f"{a.intra}/{a.inter}"
split = lambda s, d: [] if s == "-" else s.split(d)
for line in open(a.manifest):
    sec, bench, case, pb, init, feeds, fetches, targets, items, unit, flops, nbytes, opts = line.rstrip("\n").split("\t")
    if (a.section and sec != a.section) or a.filter not in f"{bench}/{case}": continue
    if a.turns: await_turn(f"{bench}/{case}")
    gd = tf.GraphDef.FromString(open(os.path.join(os.path.dirname(a.manifest), pb), "rb").read())
    g = tf.Graph()
    with g.as_default(): tf.import_graph_def(gd, name="")
    cfg = tf.ConfigProto(intra_op_parallelism_threads=a.intra, inter_op_parallelism_threads=a.inter)
    if opts == "nograppler":
        cfg.graph_options.rewrite_options.disable_meta_optimizer = True
        cfg.graph_options.optimizer_options.opt_level = tf.OptimizerOptions.L0
    try:
        with tf.Session(graph=g, config=cfg) as s:
            if init != "-": s.run(g.get_operation_by_name(init))
            names, vals = [], []
            for i, f in enumerate(split(feeds, ";")):
                n, spec = f.split("=", 1); names.append(n); vals.append(make_feed(spec, i))
            want = [g.get_tensor_by_name(t) for t in split(fetches, ",")] + [g.get_operation_by_name(t) for t in split(targets, ",")]
            if a.api == "callable":
                call = s.make_callable(want, [g.get_tensor_by_name(n) for n in names]); once = lambda: call(*vals)
            else:
                fd = dict(zip([g.get_tensor_by_name(n) for n in names], vals)); once = lambda: s.run(want, fd)
            measure(once, bench, case, "tf-py" + ("-callable" if a.api == "callable" else ""), threads, unit, int(items), a.reps, a.rep_s,
                    float(flops), float(nbytes), sec)
    except Exception as e:
        print(f"FAILED: {bench}/{case}: {str(e)[:300]}", file=sys.stderr)
