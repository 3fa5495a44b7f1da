"""PyTorch on the same workloads: A (eager op overhead), B (kernels), C (training, eager and torch.compile), E (inference, likewise).

Usage: python torch_models.py --section C --threads 1 [--compile] [--filter SUBSTR]
Models, batch sizes and optimizers are those of make_graphs.py; layout is torch's default (NCHW) unless the case says channels_last.
"""
import argparse, math, os, sys
import numpy as np, torch, torch.nn as nn, torch.nn.functional as F
from feed import await_turn, make_feed, measure

p = argparse.ArgumentParser(); p.add_argument("--section", default="C"); p.add_argument("--threads", type=int, default=2)
p.add_argument("--compile", action="store_true"); p.add_argument("--filter", default=""); p.add_argument("--reps", type=int, default=9)
p.add_argument("--rep_s", type=float, default=0.2); p.add_argument("--turns", action="store_true", help="wait for a line before each case")
a = p.parse_args()
torch.set_num_threads(a.threads); torch.manual_seed(1)
peer = "torch-compile" if a.compile else "torch-eager"
feed = lambda spec, i=0: torch.from_numpy(make_feed(spec, i))


def m(once, bench, case, unit="ms", items=1, flops=0, nbytes=0, warm_s=0.3):
    if a.filter not in f"{bench}/{case}": return
    if a.section == "B" and a.compile:
        if bench not in ("ew_chain8", "softmax", "layer_norm", "masked_softmax"): return  # The others are one op each: nothing to fuse.
        once = torch.compile(once)
    if a.turns: await_turn(f"{bench}/{case}")
    try: measure(once, bench, case, peer, str(a.threads), unit, items, a.reps, a.rep_s, flops, nbytes, a.section, warm_s)
    except Exception as e: print(f"FAILED: {bench}/{case}: {type(e).__name__}: {str(e)[:300]}", file=sys.stderr)


def section_a():
    x = torch.ones([])
    def chain():
        with torch.inference_mode():
            y = x
            for _ in range(1000): y = y + x
    m(chain, "chain1000_add", "scalar", "ns", 1000)
    v = torch.zeros([]); d = torch.zeros([])
    def assign():
        for _ in range(1000): v.add_(d)
    m(assign, "assign_add", "scalar", "ns", 1000)
    v1 = torch.zeros(262144); d1 = torch.zeros(262144)
    m(lambda: v1.add_(d1), "assign_add", "1MB", "ns", 1, nbytes=3 * 262144 * 4)


def section_b():
    with torch.inference_mode():
        for n in (64, 256, 512, 1024, 2048):
            x, y = torch.randn(n, n), torch.randn(n, n)
            m(lambda: x @ y, "matmul", f"{n}", "us", flops=2 * n ** 3)
        x = torch.randn(32, 64, 56, 56); w = torch.randn(64, 64, 3, 3) * 0.05; fl = 2 * 32 * 56 * 56 * 64 * 64 * 9
        for fmt, mf in (("NHWC", torch.channels_last), ("NCHW", torch.contiguous_format)):
            xx, ww = x.to(memory_format=mf), w.to(memory_format=mf)
            m(lambda: F.conv2d(xx, ww, padding=1), "conv2d_3x3_32x56x56x64", fmt, "ms", flops=fl)
            bw = lambda mask: torch.ops.aten.convolution_backward(xx, xx, ww, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1, mask)
            m(lambda: bw([True, False, False]), "conv2d_dx_32x56x56x64", fmt, "ms", flops=fl)
            m(lambda: bw([False, True, False]), "conv2d_dw_32x56x56x64", fmt, "ms", flops=fl)
    lg = torch.randn(1024, 1000, requires_grad=True); lab = feed("i32:1024:uniform(1000)").long()
    def xe():
        lg.grad = None; F.cross_entropy(lg, lab, reduction="sum").backward()
    m(xe, "softmax_xent_1024x1000", "sparse", "us", nbytes=2 * 1024 * 1000 * 4)
    with torch.inference_mode():
        for label, n in (("16M", 1 << 24), ("256K", 1 << 18)):
            x, y = torch.randn(n), torch.randn(n)
            m(lambda: x.sum(), "reduce_sum", label, "us", nbytes=n * 4)
            m(lambda: x + y, "ew_add", label, "us", nbytes=n * 12); m(lambda: x * y, "ew_mul", label, "us", nbytes=n * 12)
            m(lambda: torch.tanh(x), "ew_tanh", label, "us", nbytes=n * 8); m(lambda: torch.exp(x), "ew_exp", label, "us", nbytes=n * 8)
            def chain():
                z = x
                for i in range(4): z = torch.maximum(z * y, z + 0.5) if i % 2 else torch.sigmoid(z) - y
                return z
            m(chain, "ew_chain8", label, "us", nbytes=n * 12)
        for label, rows in (("16M", 16384), ("256K", 256)):
            x, row, column = torch.randn(rows, 1024), torch.randn(1024), torch.randn(rows, 1)
            m(lambda: x + row, "broadcast_row", label, "us", nbytes=rows * 8192); m(lambda: x + column, "broadcast_column", label, "us", nbytes=rows * 8192)
            m(lambda: torch.softmax(x, 1), "softmax", label, "us", nbytes=rows * 8192)
            m(lambda: x.sum(1), "reduce_rows", label, "us", nbytes=rows * 4096); m(lambda: x.sum(0), "reduce_columns", label, "us", nbytes=rows * 4096)
    rows, scores = torch.randn(8, 512, 768), torch.randn(8, 12, 256, 256)
    n = nn.LayerNorm(768); mask = torch.triu(torch.full([256, 256], -1e9), 1)
    masked = lambda x: torch.softmax(x * 0.125 + mask, -1)
    for bench, case, f, x, more in (("layer_norm", "4096x768", n, rows, tuple(n.parameters())), ("masked_softmax", "96x256x256", masked, scores, ())):
        def forward():
            with torch.inference_mode(): return f(x)
        m(forward, bench, case, "us", nbytes=x.numel() * 8)
        y, dy = x.clone().requires_grad_(), torch.randn_like(x)
        m(lambda: torch.autograd.grad(f(y), (y,) + more, dy), bench, case + "_gradients", "us", nbytes=x.numel() * 12)
    for t in (64, 512):
        q, k, v, dy = (torch.randn(8, 8, t, 64) for _ in range(4))
        attention = lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True)
        def forward():
            with torch.inference_mode(): return attention(q, k, v)
        m(forward, "causal_attention", f"64x{t}x64", "us")
        with_gradients = [x.requires_grad_() for x in (q.clone(), k.clone(), v.clone())]
        m(lambda: torch.autograd.grad(attention(*with_gradients), with_gradients, dy), "causal_attention", f"64x{t}x64_gradients", "us")
    ids = feed("i32:4096:zipf(1000000)").long()
    e = nn.Embedding(1000000, 64, sparse=True)
    with torch.inference_mode():
        m(lambda: e(ids), "embedding_1Mx64_b4096", "gather_only", "us", nbytes=2 * 4096 * 64 * 4)
    for nm, mk in (("sgd", lambda ps: torch.optim.SGD(ps, 0.01)), ("adagrad", lambda ps: torch.optim.Adagrad(ps, 0.01, initial_accumulator_value=0.1)),
                   ("adam", lambda ps: torch.optim.SparseAdam(list(ps), 0.001))):
        if a.filter not in f"embedding_1Mx64_b4096/{nm}": continue
        e = nn.Embedding(1000000, 64, sparse=True); opt = mk(e.parameters())
        def step():
            opt.zero_grad(set_to_none=True); (0.5 * (e(ids) ** 2).sum()).backward(); opt.step()
        m(step, "embedding_1Mx64_b4096", nm, "us")


class MLP(nn.Module):
    def __init__(s, *d):
        super().__init__(); L = []
        for i in range(len(d) - 1): L += [nn.Linear(d[i], d[i + 1])] + ([nn.ReLU()] if i < len(d) - 2 else [])
        s.f = nn.Sequential(*L)
    def forward(s, x): return s.f(x)


class Block(nn.Module):
    def __init__(s, i, o, st):
        super().__init__()
        s.c1 = nn.Conv2d(i, o, 3, st, 1, bias=False); s.b1 = nn.BatchNorm2d(o); s.c2 = nn.Conv2d(o, o, 3, 1, 1, bias=False); s.b2 = nn.BatchNorm2d(o)
        s.sc = nn.Sequential(nn.Conv2d(i, o, 1, st, bias=False), nn.BatchNorm2d(o)) if st == 2 else nn.Identity()
    def forward(s, x): return F.relu(s.b2(s.c2(F.relu(s.b1(s.c1(x))))) + s.sc(x))


def resnet20():
    L = [nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU()]; i = 16
    for s_, ch in enumerate((16, 32, 64)):
        for b in range(3): L.append(Block(i, ch, 2 if s_ and b == 0 else 1)); i = ch
    return nn.Sequential(*L, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


def lenet():
    return nn.Sequential(nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(3136, 512), nn.ReLU(), nn.Linear(512, 10))


class LSTM(nn.Module):
    def __init__(s):
        super().__init__(); s.l = nn.LSTM(128, 128, batch_first=True); s.o = nn.Linear(128, 10)
    def forward(s, x): return s.o(s.l(x)[0][:, -1])


class UnrolledLSTM(nn.Module):  # the same graph per cell as in make_graphs.py
    def __init__(s):
        super().__init__(); s.z = nn.Linear(256, 512); s.o = nn.Linear(128, 10)
    def forward(s, x):
        h = x.new_zeros(x.shape[0], 128); c = h
        for xt in x.unbind(1):
            i, j, f, o = s.z(torch.cat([xt, h], 1)).chunk(4, 1)
            c = c * torch.sigmoid(f + 1.0) + torch.sigmoid(i) * torch.tanh(j); h = torch.tanh(c) * torch.sigmoid(o)
        return s.o(h)


class W2V(nn.Module):
    def __init__(s):
        super().__init__(); s.V = 50000
        s.e = nn.Embedding(s.V, 128, sparse=True); s.w = nn.Embedding(s.V, 128, sparse=True); s.b = nn.Embedding(s.V, 1, sparse=True)
    def forward(s, ids, ctx):
        e = s.e(ids); neg = (torch.exp(torch.rand(64) * math.log(s.V + 1)) - 1).long().clamp_(max=s.V - 1)
        lp = lambda k: torch.log(torch.log((k + 2.0) / (k + 1.0)) / math.log(s.V + 1) * 64)
        pos = (e * s.w(ctx)).sum(1) + s.b(ctx)[:, 0] - lp(ctx)
        ngl = e @ s.w(neg).T + s.b(neg)[:, 0] - lp(neg)
        return (F.softplus(-pos) + F.softplus(ngl).sum(1)).mean()


class Rec(nn.Module):
    def __init__(s):
        super().__init__(); s.e = nn.ModuleList([nn.Embedding(100000, 16, sparse=True) for _ in range(26)]); s.m = MLP(26 * 16 + 13, 512, 256, 1)
    def forward(s, num, cats): return s.m(torch.cat([e(c) for e, c in zip(s.e, cats)] + [num], 1))


class Layer(nn.Module):
    def __init__(s, d, heads):
        super().__init__(); s.heads = heads
        s.n1, s.n2, s.qkv, s.out = nn.LayerNorm(d), nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)
        s.wide, s.narrow = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
    def forward(s, x):
        b, t, d = x.shape
        q, k, v = (part.reshape(b, t, s.heads, d // s.heads).transpose(1, 2) for part in s.qkv(s.n1(x)).chunk(3, 2))
        x = x + s.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, d))
        return x + s.narrow(F.gelu(s.wide(s.n2(x)), approximate="tanh"))


class Transformer(nn.Module):
    def __init__(s, v=256, t=64, d=128, heads=4, layers=2):
        super().__init__(); s.e = nn.Parameter(torch.randn(v, d) * 0.02); s.p = nn.Parameter(torch.randn(t, d) * 0.02)
        s.l = nn.Sequential(*[Layer(d, heads) for _ in range(layers)]); s.n = nn.LayerNorm(d)
    def forward(s, ids): return s.n(s.l(F.embedding(ids, s.e) + s.p)) @ s.e.T


def section_c():
    SGD, Mom = (lambda lr: lambda ps: torch.optim.SGD(ps, lr)), (lambda lr: lambda ps: torch.optim.SGD(ps, lr, momentum=0.9))
    cases = [("logreg_b100_sgd", lambda: nn.Linear(784, 10), SGD(0.5), "100x784"), ("mlp_b128_sgd", lambda: MLP(784, 512, 512, 10), SGD(0.1), "128x784"),
             ("mlp_b128_adam", lambda: MLP(784, 512, 512, 10), lambda ps: torch.optim.Adam(ps, 0.001), "128x784"),
             ("lenet_b64_momentum", lenet, Mom(0.01), "64x1x28x28"), ("resnet20_b32_momentum", resnet20, Mom(0.1), "32x3x32x32"),
             ("lstm_t20_h128_b32_sgd", UnrolledLSTM, SGD(0.1), "32x20x128"), ("lstm_t20_h128_b32_sgd.nnLSTM", LSTM, SGD(0.1), "32x20x128")]
    for nm, mk, mo, dims in cases:
        if a.filter not in f"train/{nm}": continue
        net = mk(); opt = mo(net.parameters()); x = feed(f"f32:{dims}:normal"); y = feed(f"i32:{dims.split('x')[0]}:uniform(10)", 1).long()
        fwd = torch.compile(net) if a.compile else net
        def step():
            opt.zero_grad(set_to_none=True); F.cross_entropy(fwd(x), y).backward(); opt.step()
        m(step, "train", nm, warm_s=1.0 if a.compile else 0.3)
    if a.filter in "train/word2vec_nce_v50k_d128_b256_sgd":
        net = W2V(); opt = torch.optim.SGD(net.parameters(), 1.0); ids = feed("i32:256:zipf(50000)").long(); ctx = feed("i64:256:zipf(50000)", 1)
        fwd = torch.compile(net) if a.compile else net
        def step():
            opt.zero_grad(set_to_none=True); fwd(ids, ctx).backward(); opt.step()
        m(step, "train", "word2vec_nce_v50k_d128_b256_sgd")
    if a.filter in "train/widedeep_26x100kx16_b512_adagrad":
        net = Rec(); opt = torch.optim.Adagrad(net.parameters(), 0.01, initial_accumulator_value=0.1)
        num = feed("f32:512x13:normal"); lab = feed("f32:512x1:uniform(2)", 1); cats = [feed("i32:512:zipf(100000)", 2 + i).long() for i in range(26)]
        fwd = torch.compile(net) if a.compile else net
        def step():
            opt.zero_grad(set_to_none=True); F.binary_cross_entropy_with_logits(fwd(num, cats), lab).backward(); opt.step()
        m(step, "train", "widedeep_26x100kx16_b512_adagrad")
    if a.filter in "train/transformer_l2_d128_h4_t64_b16_adam":
        net = Transformer(); opt = torch.optim.Adam(net.parameters(), 0.001)
        ids = feed("i32:16x64:uniform(256)").long(); nxt = feed("i32:16x64:uniform(256)", 1).long()
        fwd = torch.compile(net) if a.compile else net
        def step():
            opt.zero_grad(set_to_none=True); F.cross_entropy(fwd(ids).flatten(0, 1), nxt.flatten()).backward(); opt.step()
        m(step, "train", "transformer_l2_d128_h4_t64_b16_adam", warm_s=1.0 if a.compile else 0.3)


def section_e():
    cases = [(f"{nm}_b{batch}", mk, f"{batch}x{dims}") for batch in (1, 32) for nm, mk, dims in
             (("mlp", lambda: MLP(784, 512, 512, 10), "784"), ("resnet20", resnet20, "3x32x32"))]
    cases += [("lstm_t20_h128_b32", UnrolledLSTM, "32x20x128"), ("lstm_t20_h128_b32.nnLSTM", LSTM, "32x20x128")]
    for nm, mk, dims in cases:
        if a.filter not in f"infer/{nm}": continue
        net = mk().eval(); x = feed(f"f32:{dims}:normal")
        with torch.inference_mode():
            fwd = torch.compile(net) if a.compile else net
            m(lambda: fwd(x), "infer", nm, "us", warm_s=1.0 if a.compile else 0.3)


{"A": section_a, "B": section_b, "C": section_c, "E": section_e}[a.section]()
