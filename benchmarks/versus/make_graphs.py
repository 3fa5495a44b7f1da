"""Builds every workload once as a binary TF GraphDef plus a line in manifest.tsv.

Usage: python make_graphs.py OUT_DIR
Columns of manifest.tsv (tab separated; '-' means empty):
  section bench case pb init_targets feeds fetches targets items_per_run unit flops_per_run bytes_per_run opts
feeds: ';'-joined  TENSOR=DTYPE:SHAPE:GEN   (GEN: const(v) normal uniform(n) zipf(n) onehot(n); see README, "Feed values")
opts:  ','-joined  nograppler (RewriterConfig.disable_meta_optimizer and OptimizerOptions L0)
"""
import os, sys
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
tf.disable_control_flow_v2()

OUT = sys.argv[1] if len(sys.argv) > 1 else "/tmp/baseline_graphs"
os.makedirs(OUT, exist_ok=True)
rows = []


def emit(section, bench, case, feeds=(), fetches=(), targets=(), items=1, unit="ns", flops=0, nbytes=0,
         opts=("",), init=None, graph=None):
    g = graph or tf.get_default_graph()
    if init is None:
        with g.as_default():
            init = tf.global_variables_initializer().name if tf.global_variables() else ""
    pb = f"{bench}.{case}.pb".replace("/", "_")
    with open(os.path.join(OUT, pb), "wb") as f:
        f.write(g.as_graph_def(add_shapes=False).SerializeToString(deterministic=True))
    name = lambda t: t if isinstance(t, str) else t.name
    for opt in opts:
        c = case + ("." + opt if opt else "")
        rows.append([section, bench, c, pb, init or "-",
                     ";".join(f"{name(t)}={spec}" for t, spec in feeds) or "-",
                     ",".join(name(t) for t in fetches) or "-",
                     ",".join(name(t) for t in targets) or "-",
                     str(items), unit, str(int(flops)), str(int(nbytes)), opt or "-"])


def fresh(seed=1):
    tf.reset_default_graph()
    tf.set_random_seed(seed)


BOTH = ("", "nograppler")

# ----------------------------------------------------------------------------- A: executor overhead
def section_a():
    fresh(); op = tf.no_op("noop")
    emit("A", "run", "noop", targets=[op], unit="ns", opts=BOTH)
    fresh(); x = tf.placeholder(tf.float32, [], "x"); y = tf.identity(x, "y")
    emit("A", "run", "feed_fetch_scalar", feeds=[(x, "f32::const(1)")], fetches=[y], opts=("",))

    fresh(); x = tf.placeholder(tf.float32, [], "x"); y = x
    for _ in range(1000): y = tf.raw_ops.AddV2(x=y, y=x)
    y = tf.identity(y, "out")
    emit("A", "chain1000_add", "scalar", feeds=[(x, "f32::const(1)")], fetches=[y], items=1000, opts=BOTH)
    # Not foldable into AddN by grappler: alternating Sub/Mul by a fed scalar.
    fresh(); x = tf.placeholder(tf.float32, [], "x"); y = x
    for i in range(1000): y = tf.raw_ops.Mul(x=y, y=x) if i % 2 else tf.raw_ops.Sub(x=y, y=x)
    y = tf.identity(y, "out")
    emit("A", "chain1000_submul", "scalar", feeds=[(x, "f32::const(1)")], fetches=[y], items=1000, opts=BOTH)

    fresh(); x = tf.placeholder(tf.float32, [], "x")
    adds = [tf.raw_ops.AddV2(x=x, y=tf.constant(float(i))) for i in range(1000)]
    op = tf.group(*adds, name="join")
    emit("A", "indep1000_add", "group", feeds=[(x, "f32::const(1)")], targets=[op], items=1000, opts=BOTH)
    out = tf.stack(adds, name="pack")
    emit("A", "indep1000_add", "pack", feeds=[(x, "f32::const(1)")], fetches=[out], items=1000, opts=BOTH)

    fresh(); lim = tf.placeholder(tf.int32, [], "limit")
    r = tf.while_loop(lambda i: i < lim, lambda i: i + 1, [tf.constant(0)])
    r = tf.identity(r, "out")
    emit("A", "while10000", "counter", feeds=[(lim, "i32::const(10000)")], fetches=[r], items=10000, opts=BOTH)

    fresh(); q = tf.FIFOQueue(10, tf.float32, shapes=[[]]); x = tf.placeholder(tf.float32, [], "x")
    enq = q.enqueue(x)
    with tf.control_dependencies([enq]): d = q.dequeue()
    d = tf.identity(d, "out")
    emit("A", "fifo_pair", "one_per_run", feeds=[(x, "f32::const(1)")], fetches=[d], init="", opts=("",))
    fresh(); q = tf.FIFOQueue(10, tf.float32, shapes=[[]]); x = tf.placeholder(tf.float32, [], "x"); v = x
    for _ in range(500):
        with tf.control_dependencies([q.enqueue(v)]): v = q.dequeue()
    v = tf.identity(v, "out")
    emit("A", "fifo_pair", "chain500", feeds=[(x, "f32::const(1)")], fetches=[v], items=500, init="", opts=BOTH)

    for label, n, reps in (("1KB", 256, 100), ("1MB", 262144, 10)):
        fresh(); acc = tf.ConditionalAccumulator(tf.float32, shape=[n]); g = tf.placeholder(tf.float32, [n], "g")
        v = g
        big = tf.constant(1 << 40, tf.int64)
        for _ in range(reps):
            with tf.control_dependencies([acc.apply_grad(v, local_step=big)]): v = acc.take_grad(1)
        v = tf.identity(v, "out")
        emit("A", "accumulator_apply_take", label, feeds=[(g, f"f32:{n}:normal")], fetches=[v], items=reps, init="",
             nbytes=n * 4 * reps, opts=("",))
        # Two applies before a take: the first apply may keep the buffer, the second has to add.
        fresh(); acc = tf.ConditionalAccumulator(tf.float32, shape=[n]); g = tf.placeholder(tf.float32, [n], "g")
        v = g
        big = tf.constant(1 << 40, tf.int64)
        for _ in range(reps):
            with tf.control_dependencies([acc.apply_grad(v, local_step=big)]):
                a2 = acc.apply_grad(g, local_step=big)
            with tf.control_dependencies([a2]): v = acc.take_grad(2)
        v = tf.identity(v, "out")
        emit("A", "accumulator_2apply_take", label, feeds=[(g, f"f32:{n}:normal")], fetches=[v], items=reps, init="",
             nbytes=2 * n * 4 * reps, opts=("",))

    for kind in ("ref", "resource"):
        for label, n, reps in (("scalar", 0, 1000), ("1MB", 262144, 20)):
            fresh(); shape = [n] if n else []
            d = tf.placeholder(tf.float32, shape, "d")
            v = tf.get_variable("v", shape, tf.float32, tf.zeros_initializer(), use_resource=(kind == "resource"))
            last = None
            for _ in range(reps):
                with tf.control_dependencies([last] if last is not None else []):
                    if kind == "ref": last = tf.assign_add(v, d).op
                    else: last = tf.raw_ops.AssignAddVariableOp(resource=v.handle, value=d)
            op = tf.group(last, name="done")
            emit("A", f"assign_add_{kind}", label, feeds=[(d, f"f32:{n or ''}:const(0)")], targets=[op], items=reps,
                 nbytes=n * 4 * 3 * reps, opts=("",))


# ----------------------------------------------------------------------------- B: kernels
def var(name, shape, scale=1.0):
    return tf.get_variable(name, shape, tf.float32, tf.random_normal_initializer(0.0, scale, seed=7), use_resource=False)


def section_b():
    for n in (64, 256, 512, 1024, 2048):
        fresh(); a, b = var("a", [n, n]), var("b", [n, n])
        c = tf.matmul(a, b, name="out")
        emit("B", "matmul", f"{n}", fetches=[c], unit="us", flops=2 * n ** 3)
    for fmt in ("NHWC", "NCHW"):
        fresh()
        x = var("x", [32, 56, 56, 64] if fmt == "NHWC" else [32, 64, 56, 56]); w = var("w", [3, 3, 64, 64], 0.05)
        y = tf.nn.conv2d(x, w, strides=[1, 1, 1, 1], padding="SAME", data_format=fmt, name="out")
        emit("B", "conv2d_3x3_32x56x56x64", fmt, fetches=[y], unit="ms", flops=2 * 32 * 56 * 56 * 64 * 64 * 9)
        dy = tf.raw_ops.Conv2DBackpropInput(input_sizes=x.shape.as_list(), filter=w, out_backprop=x,
                                            strides=[1, 1, 1, 1], padding="SAME", data_format=fmt)
        dw = tf.raw_ops.Conv2DBackpropFilter(input=x, filter_sizes=[3, 3, 64, 64], out_backprop=x,
                                             strides=[1, 1, 1, 1], padding="SAME", data_format=fmt)
        emit("B", "conv2d_dx_32x56x56x64", fmt, fetches=[dy], unit="ms", flops=2 * 32 * 56 * 56 * 64 * 64 * 9)
        emit("B", "conv2d_dw_32x56x56x64", fmt, fetches=[dw], unit="ms", flops=2 * 32 * 56 * 56 * 64 * 64 * 9)
    fresh(); lg = var("logits", [1024, 1000]); lab = tf.placeholder(tf.int32, [1024], "labels")
    loss, bp = tf.raw_ops.SparseSoftmaxCrossEntropyWithLogits(features=lg, labels=lab)
    emit("B", "softmax_xent_1024x1000", "sparse", feeds=[(lab, "i32:1024:uniform(1000)")], fetches=[loss, bp], unit="us",
         nbytes=2 * 1024 * 1000 * 4)
    fresh(); lg = var("logits", [1024, 1000]); lab = tf.placeholder(tf.float32, [1024, 1000], "labels")
    loss, bp = tf.raw_ops.SoftmaxCrossEntropyWithLogits(features=lg, labels=lab)
    emit("B", "softmax_xent_1024x1000", "dense", feeds=[(lab, "f32:1024x1000:onehot(1000)")], fetches=[loss, bp],
         unit="us", nbytes=3 * 1024 * 1000 * 4)
    for label, n in (("16M", 1 << 24), ("256K", 1 << 18)):
        fresh(); a, b = var("a", [n]), var("b", [n])
        s = tf.reduce_sum(a)
        emit("B", "reduce_sum", label, fetches=[s], unit="us", nbytes=n * 4)
        for opname, t, mem in (("add", a + b, 3), ("mul", a * b, 3), ("tanh", tf.tanh(a), 2), ("exp", tf.exp(a), 2)):
            emit("B", f"ew_{opname}", label, fetches=[t], unit="us", nbytes=n * 4 * mem)
        y = a
        for i in range(4): y = tf.maximum(y * b, y + 0.5) if i % 2 else tf.sigmoid(y) - b
        emit("B", "ew_chain8", label, fetches=[y], unit="us", nbytes=n * 4 * 3)
    for label, rows_, columns in (("16M", 16384, 1024), ("256K", 256, 1024)):
        fresh(); a, row, column = var("a", [rows_, columns]), var("row", [columns]), var("column", [rows_, 1])
        for case, t in (("row", a + row), ("column", a + column)):
            emit("B", f"broadcast_{case}", label, fetches=[t], unit="us", nbytes=rows_ * columns * 8)
        emit("B", "softmax", label, fetches=[tf.nn.softmax(a)], unit="us", nbytes=rows_ * columns * 8)
        for case, axis in (("rows", 1), ("columns", 0)):
            emit("B", f"reduce_{case}", label, fetches=[tf.reduce_sum(a, axis)], unit="us", nbytes=rows_ * columns * 4)
    fresh(); x, dy = var("x", [8, 512, 768]), var("dy", [8, 512, 768])
    y = layer_norm(x, "n")
    emit("B", "layer_norm", "4096x768", fetches=[y], unit="us", nbytes=4096 * 768 * 8)
    emit("B", "layer_norm", "4096x768_gradients", fetches=tf.gradients(y, [x] + tf.trainable_variables("n/"), dy), unit="us", nbytes=4096 * 768 * 12)
    fresh(); x, dy = var("x", [8, 12, 256, 256]), var("dy", [8, 12, 256, 256])
    y = tf.nn.softmax(x * 0.125 + causal_mask(256))
    emit("B", "masked_softmax", "96x256x256", fetches=[y], unit="us", nbytes=96 * 65536 * 8)
    emit("B", "masked_softmax", "96x256x256_gradients", fetches=tf.gradients(y, [x], dy), unit="us", nbytes=96 * 65536 * 12)
    for T in (64, 512):
        fresh(); shape = [8, 8, T, 64]; fd = []
        for name in ("q", "k", "v", "dy"):
            fd.append((tf.placeholder(tf.float32, shape, name), f"f32:8x8x{T}x64:normal"))
        q, k, v, dy = (f[0] for f in fd)
        y = tf.matmul(tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * 0.125 + causal_mask(T)), v)
        emit("B", "causal_attention", f"64x{T}x64", feeds=fd[:3], fetches=[y], unit="us")
        emit("B", "causal_attention", f"64x{T}x64_gradients", feeds=fd, fetches=tf.gradients(y, [q, k, v], dy), unit="us")
    # adam_other_ids: every step draws new ids, so that rows return after different numbers of
    # steps.
    for optname in ("gather_only", "sgd", "adagrad", "adam", "adam_other_ids"):
        fresh(); tab = var("table", [1000000, 64]); ids = tf.placeholder(tf.int32, [4096], "ids")
        fd = [(ids, "i32:4096:zipf(1000000)")]
        if optname == "adam_other_ids":
            ids = tf.cast(tf.exp(tf.random_uniform([4096]) * float(np.log(1000000))) - 1, tf.int32); fd = []
        e = tf.nn.embedding_lookup(tab, ids)
        if optname == "gather_only":
            emit("B", "embedding_1Mx64_b4096", optname, feeds=fd, fetches=[e], unit="us", nbytes=2 * 4096 * 64 * 4)
            continue
        loss = 0.5 * tf.reduce_sum(e * e)
        opt = {"sgd": tf.train.GradientDescentOptimizer(0.01), "adagrad": tf.train.AdagradOptimizer(0.01),
               "adam": tf.train.AdamOptimizer(0.001)}[optname.split("_")[0]]
        train = opt.minimize(loss)
        emit("B", "embedding_1Mx64_b4096", optname, feeds=fd, targets=[train], unit="us")


# ----------------------------------------------------------------------------- C: training
def dense(x, n, name, act=None):
    m = int(x.shape[1])
    w = tf.get_variable(name + "/w", [m, n], tf.float32, tf.truncated_normal_initializer(stddev=1.0 / np.sqrt(m), seed=3),
                        use_resource=False)
    b = tf.get_variable(name + "/b", [n], tf.float32, tf.zeros_initializer(), use_resource=False)
    y = tf.nn.bias_add(tf.matmul(x, w), b)
    return act(y) if act else y


def xent(logits, y):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))


def io(batch, *shape, classes=10):
    x = tf.placeholder(tf.float32, [batch, *shape], "x"); y = tf.placeholder(tf.int32, [batch], "y")
    dims = "x".join(map(str, [batch, *shape]))
    return x, y, [(x, f"f32:{dims}:normal"), (y, f"i32:{batch}:uniform({classes})")]


def train_case(case, loss, opt, feeds, extra=(), flops=0):
    train = opt.minimize(loss)
    train = tf.group(train, *extra, name="train_step")
    emit("C", "train", case, feeds=feeds, fetches=[loss], targets=[train], unit="ms", flops=flops)


def logreg():
    x, y, fd = io(100, 784)
    return xent(dense(x, 10, "fc"), y), fd


def mlp_logits(x):
    h = dense(x, 512, "fc1", tf.nn.relu); h = dense(h, 512, "fc2", tf.nn.relu)
    return dense(h, 10, "fc3")


def mlp(batch=128):
    x, y, fd = io(batch, 784)
    return xent(mlp_logits(x), y), fd


def conv(x, n, k, stride, name):
    m = int(x.shape[3])
    w = tf.get_variable(name + "/w", [k, k, m, n], tf.float32,
                        tf.truncated_normal_initializer(stddev=np.sqrt(2.0 / (k * k * m)), seed=3), use_resource=False)
    return tf.nn.conv2d(x, w, strides=[1, stride, stride, 1], padding="SAME")


def bn(x, name, updates):
    c = int(x.shape[3])
    gv = lambda s, v: tf.get_variable(name + s, [c], tf.float32, tf.constant_initializer(v), use_resource=False,
                                      trainable=s in ("/gamma", "/beta"))
    gamma, beta, mm, mv = gv("/gamma", 1.0), gv("/beta", 0.0), gv("/mean", 0.0), gv("/var", 1.0)
    if updates is None:  # of a model with training
        return tf.nn.fused_batch_norm(x, gamma, beta, mean=mm, variance=mv, epsilon=1e-3, is_training=False)[0]
    y, m, v = tf.nn.fused_batch_norm(x, gamma, beta, epsilon=1e-3, is_training=True)
    updates += [tf.assign_sub(mm, (mm - m) * 0.1).op, tf.assign_sub(mv, (mv - v) * 0.1).op]
    return y


def resnet20(x, updates):
    h = tf.nn.relu(bn(conv(x, 16, 3, 1, "c0"), "c0/bn", updates))
    for s, ch in enumerate((16, 32, 64)):
        for b in range(3):
            st = 2 if s > 0 and b == 0 else 1
            n = f"s{s}b{b}"; sc = h
            r = tf.nn.relu(bn(conv(h, ch, 3, st, n + "/c1"), n + "/bn1", updates))
            r = bn(conv(r, ch, 3, 1, n + "/c2"), n + "/bn2", updates)
            if st == 2: sc = bn(conv(sc, ch, 1, 2, n + "/sc"), n + "/bnsc", updates)
            h = tf.nn.relu(r + sc)
    return dense(tf.reduce_mean(h, [1, 2]), 10, "fc")


def lstm(x):
    B, T, D = x.shape.as_list(); H = 128
    w = tf.get_variable("lstm/w", [D + H, 4 * H], tf.float32, tf.truncated_normal_initializer(stddev=0.06, seed=3), use_resource=False)
    b = tf.get_variable("lstm/b", [4 * H], tf.float32, tf.zeros_initializer(), use_resource=False)
    h = tf.zeros([B, H]); c = tf.zeros([B, H])
    for xt in tf.unstack(x, T, axis=1):
        z = tf.nn.bias_add(tf.matmul(tf.concat([xt, h], 1), w), b)
        i, j, f, o = tf.split(z, 4, axis=1)
        c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        h = tf.tanh(c) * tf.sigmoid(o)
    return dense(h, 10, "fc")


def section_c():
    fresh(); loss, fd = logreg()
    train_case("logreg_b100_sgd", loss, tf.train.GradientDescentOptimizer(0.5), fd, flops=6 * 100 * 784 * 10)
    mlp_flops = 6 * 128 * (784 * 512 + 512 * 512 + 512 * 10) - 2 * 128 * 784 * 512
    for nm in ("sgd", "adam"):
        fresh(); loss, fd = mlp()
        opt = tf.train.GradientDescentOptimizer(0.1) if nm == "sgd" else tf.train.AdamOptimizer(0.001)
        train_case(f"mlp_b128_{nm}", loss, opt, fd, flops=mlp_flops)

    fresh(); x, y, fd = io(64, 28, 28, 1)
    def cb(x, n, k, name):
        h = conv(x, n, k, 1, name)
        b = tf.get_variable(name + "/b", [n], tf.float32, tf.zeros_initializer(), use_resource=False)
        return tf.nn.max_pool2d(tf.nn.relu(tf.nn.bias_add(h, b)), 2, 2, "SAME")
    h = cb(cb(x, 32, 5, "c1"), 64, 5, "c2")
    h = dense(tf.reshape(h, [64, 7 * 7 * 64]), 512, "fc1", tf.nn.relu)
    train_case("lenet_b64_momentum", xent(dense(h, 10, "fc2"), y), tf.train.MomentumOptimizer(0.01, 0.9), fd)

    fresh(); x, y, fd = io(32, 32, 32, 3); upd = []
    train_case("resnet20_b32_momentum", xent(resnet20(x, upd), y), tf.train.MomentumOptimizer(0.1, 0.9), fd, extra=upd)

    fresh(); x, y, fd = io(32, 20, 128)
    train_case("lstm_t20_h128_b32_sgd", xent(lstm(x), y), tf.train.GradientDescentOptimizer(0.1), fd)

    fresh(); V, D, B, S = 50000, 128, 256, 64
    ids = tf.placeholder(tf.int32, [B], "center"); ctx = tf.placeholder(tf.int64, [B, 1], "context")
    emb = tf.get_variable("emb", [V, D], tf.float32, tf.random_uniform_initializer(-1, 1, seed=3), use_resource=False)
    nw = tf.get_variable("nce/w", [V, D], tf.float32, tf.truncated_normal_initializer(stddev=0.09, seed=3), use_resource=False)
    nb = tf.get_variable("nce/b", [V], tf.float32, tf.zeros_initializer(), use_resource=False)
    e = tf.nn.embedding_lookup(emb, ids)
    loss = tf.reduce_mean(tf.nn.nce_loss(weights=nw, biases=nb, labels=ctx, inputs=e, num_sampled=S, num_classes=V))
    train_case("word2vec_nce_v50k_d128_b256_sgd", loss, tf.train.GradientDescentOptimizer(1.0),
               [(ids, f"i32:{B}:zipf({V})"), (ctx, f"i64:{B}x1:zipf({V})")])

    fresh(); F, V, D, B = 26, 100000, 16, 512
    num = tf.placeholder(tf.float32, [B, 13], "dense"); lab = tf.placeholder(tf.float32, [B, 1], "label")
    cats = [tf.placeholder(tf.int32, [B], f"cat{i}") for i in range(F)]
    es = [tf.nn.embedding_lookup(tf.get_variable(f"emb{i}", [V, D], tf.float32, tf.random_uniform_initializer(-0.05, 0.05, seed=3),
                                                 use_resource=False), cats[i]) for i in range(F)]
    h = tf.concat(es + [num], 1)
    h = dense(h, 512, "fc1", tf.nn.relu); h = dense(h, 256, "fc2", tf.nn.relu)
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=lab, logits=dense(h, 1, "fc3")))
    train_case("widedeep_26x100kx16_b512_adagrad", loss, tf.train.AdagradOptimizer(0.01),
               [(num, f"f32:{B}x13:normal"), (lab, f"f32:{B}x1:uniform(2)")] + [(c, f"i32:{B}:zipf({V})") for c in cats])

    transformer()


def causal_mask(n):
    return tf.constant(np.triu(np.full([n, n], -1e9, np.float32), 1))


def layer_norm(x, name):
    gv = lambda s, v: tf.get_variable(name + s, [int(x.shape[-1])], tf.float32, tf.constant_initializer(v), use_resource=False)
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    return tf.nn.batch_normalization(x, mean, variance, gv("/beta", 0.0), gv("/gamma", 1.0), 1e-5)


def gelu(x):  # with tanh (Hendrycks and Gimpel, 2016)
    return 0.5 * x * (1.0 + tf.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))


def transformer(V=256, T=64, B=16, D=128, H=4, layers=2):
    """A decoder over characters: norms first, causal attention, tied embeddings (Vaswani et al., 2017; Radford et al., 2018)."""
    fresh(); ids = tf.placeholder(tf.int32, [B, T], "ids"); nxt = tf.placeholder(tf.int32, [B, T], "next")
    emb = tf.get_variable("emb", [V, D], tf.float32, tf.truncated_normal_initializer(stddev=0.02, seed=3), use_resource=False)
    pos = tf.get_variable("pos", [T, D], tf.float32, tf.truncated_normal_initializer(stddev=0.02, seed=4), use_resource=False)
    hidden = causal_mask(T)
    heads = lambda x: tf.transpose(tf.reshape(x, [B, T, H, D // H]), [0, 2, 1, 3])
    x = tf.nn.embedding_lookup(emb, ids) + pos
    for i in range(layers):
        qkv = dense(tf.reshape(layer_norm(x, f"l{i}/n1"), [B * T, D]), 3 * D, f"l{i}/qkv")
        q, k, v = (heads(part) for part in tf.split(qkv, 3, axis=1))
        scores = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * (D // H) ** -0.5 + hidden)
        mixed = tf.reshape(tf.transpose(tf.matmul(scores, v), [0, 2, 1, 3]), [B * T, D])
        x += tf.reshape(dense(mixed, D, f"l{i}/out"), [B, T, D])
        wide = dense(tf.reshape(layer_norm(x, f"l{i}/n2"), [B * T, D]), 4 * D, f"l{i}/wide", gelu)
        x += tf.reshape(dense(wide, D, f"l{i}/narrow"), [B, T, D])
    logits = tf.matmul(tf.reshape(layer_norm(x, "n"), [B * T, D]), emb, transpose_b=True)
    train_case("transformer_l2_d128_h4_t64_b16_adam", xent(logits, tf.reshape(nxt, [B * T])), tf.train.AdamOptimizer(0.001),
               [(ids, f"i32:{B}x{T}:uniform({V})"), (nxt, f"i32:{B}x{T}:uniform({V})")])


# ----------------------------------------------------------------------------- D: the first step
def section_d():
    for label, layers in (("1k", 200), ("10k", 2000), ("100k", 20000)):  # five nodes per layer
        fresh(); x = tf.placeholder(tf.float32, [4, 8], "x"); y = x
        for i in range(layers):
            w = tf.constant(np.eye(8, dtype=np.float32) * (1 + i % 7 / 64)); b = tf.constant(np.full(8, i % 5 / 64, np.float32))
            y = tf.nn.relu(tf.nn.bias_add(tf.matmul(y, w), b))
        emit("D", "first_step", label, feeds=[(x, "f32:4x8:normal")], fetches=[y], unit="ms", init="")


# ----------------------------------------------------------------------------- E: nets without variables
def frozen_case(case, dims, net):
    fresh(); x = tf.placeholder(tf.float32, dims, "x"); y = tf.identity(net(x), "y")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        frozen = tf.graph_util.convert_variables_to_constants(session, tf.get_default_graph().as_graph_def(), ["y"])
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(frozen, name="")
        emit("E", "infer", case, feeds=[("x:0", f"f32:{'x'.join(map(str, dims))}:normal")], fetches=["y:0"], unit="us", init="", graph=graph)


def section_e():
    for batch in (1, 32):
        frozen_case(f"mlp_b{batch}", [batch, 784], mlp_logits)
        frozen_case(f"resnet20_b{batch}", [batch, 32, 32, 3], lambda x: resnet20(x, None))
    frozen_case("lstm_t20_h128_b32", [32, 20, 128], lstm)


if __name__ == "__main__":
    section_a(); section_b(); section_c(); section_d(); section_e()
    with open(os.path.join(OUT, "manifest.tsv"), "w") as f:
        for r in rows: f.write("\t".join(r) + "\n")
    total = sum(os.path.getsize(os.path.join(OUT, p)) for p in os.listdir(OUT))
    print(f"{len(rows)} cases, {total / 1e6:.2f} MB in {OUT}", file=sys.stderr)
