"""Runs Sluice and its peers on the same graphs in turn, and writes a table of ratios (speedup over
the best peer), JSON rows and a plot.

Started by ./versus, which builds the programs. In a pass all programs run at the same time and take
turns at each case of a section, with ours between the peers, so that noise of the machine affects
all of them. A result is the median of the passes' medians. Turns are short and passes many: noisy
periods of a virtual machine last seconds, and a long turn could be in one while the peer's is not.
"""

import argparse
import collections
import datetime
import json
import os
import statistics
import subprocess
import time

from turns import take_turns

# The required speedup over the best peer, by bench and case (the longest match applies).
BARS = {
    "run": 5, "chain1000": 10, "indep1000": 15, "while10000": 15, "fifo_pair": 12,
    "accumulator_apply_take/1KB": 10, "accumulator_2apply_take/1KB": 10, "accumulator_apply_take/1MB": 3, "accumulator_2apply_take/1MB": 3,
    "matmul": 0.97, "conv2d": 0.97, "softmax": 1, "reduce": 1, "ew_": 1,
    "ew_chain8/16M": 4, "broadcast": 1, "first_step": 3, "cold": 20, "cold_peak": 5, "embedding": 1.5, "train": 1.3, "recommenders": 1.5,
    "embedding_1Mx64_b4096/adam": 20, "train/transformer": None,
}
# TensorFlow's users start Python, so its C++ library has its own row. TensorFlow's Adam also
# updates rows without gradients. PyTorch's SparseAdam does not: it is another rule and has its own
# row.
OTHER_RULES = {
    "embedding_1Mx64_b4096/adam": ("torch", "embedding_1Mx64_b4096/adam, beside SparseAdam's rule", 1.5),
    "cold/mlp_first_step": ("tf-cc", "cold/mlp_first_step, beside its C++ library", None),
    "cold_peak/mlp_first_step": ("tf-cc", "cold_peak/mlp_first_step, beside its C++ library", None),
}


def arguments():
    p = argparse.ArgumentParser(description=__doc__)
    for name in ("ours", "tensorflow", "tensorflow-python", "torch-python", "manifest"):
        p.add_argument("--" + name, required=True)
    p.add_argument("--sections", default="A,B,C")
    p.add_argument("--filter", default="")
    p.add_argument("--passes", type=int, default=7)
    p.add_argument("--rep_s", type=float, default=0.1)
    p.add_argument("--reps", type=int, default=3)
    p.add_argument("--json")
    p.add_argument("--plot")
    p.add_argument("--history")
    p.add_argument("--ceilings", help="program that measures the machine's own")
    p.add_argument("--realtime", action="store_true", help="programs run at real-time priority, so that others on the machine disturb less (as root)")
    return p.parse_args()


def programs(a, section):
    """(command, environment) of each program of a pass. Ours is between the peers."""
    here = os.path.dirname(os.path.abspath(__file__))
    timing = ["--section", section, "--rep_s", str(a.rep_s), "--reps", str(a.reps)]
    if a.filter:
        timing += ["--filter", a.filter]
    cc = [a.tensorflow, a.manifest] + timing
    onednn = {"TF_ENABLE_ONEDNN_OPTS": "1"}
    plain = {"TF_ENABLE_ONEDNN_OPTS": "0"}
    one = ["--intra", "1", "--inter", "1"]
    torch = [a.torch_python, os.path.join(here, "torch_models.py")] + timing
    has_torch = os.path.exists(a.torch_python)
    ours = ([a.ours, a.manifest] + timing, {})
    yield cc, plain
    yield ours
    if section == "A":
        yield cc + one + ["--caller_thread"], plain
        yield ours
        yield cc + ["--api", "callable"], plain
    else:
        yield cc + ["--peer", "tf-cc-onednn"], onednn
        yield ours
        yield cc + one + ["--peer", "tf-cc-onednn"], onednn
    if has_torch and section not in ("D", "F"):
        for threads in ("1", "2") if section != "A" else ("1",):
            yield torch + ["--threads", threads], {}
        if section in ("B", "C", "E"):
            yield torch + ["--threads", "2", "--compile"], {}
    if section in ("A", "C"):
        yield [a.tensorflow_python, os.path.join(here, "tensorflow_python.py"), a.manifest] + timing, plain


def as_fast_as_can_be(command, realtime):
    return ["chrt", "-f", "5"] + command if realtime else command


def run(command, realtime=False):
    done = subprocess.run(as_fast_as_can_be(command, realtime), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def cases_of(manifest, section):
    with open(manifest) as lines:
        columns = [line.split("\t") for line in lines]
    return [f"{c[1]}/{c[2]}" for c in columns if len(c) > 2 and c[0] == section]


def bar_of(case):
    fitting = [key for key in BARS if case.startswith(key)]
    return BARS[max(fitting, key=len)] if fitting else None


def measure(a):
    """case -> {(peer, threads) -> [medians of the passes]}, case -> a line of ours, and what the machine could do at most before each
    pass, its cores' handover before each case."""
    times, sample = collections.defaultdict(lambda: collections.defaultdict(list)), {}
    ceilings = collections.defaultdict(list)

    def look_at_machine(*only):
        for line in run([a.ceilings, *only], a.realtime) if a.ceilings else ():
            ceilings[line["ceiling"]].append(line["value"])

    for section in a.sections.split(","):
        for _ in range(a.passes):
            look_at_machine()
            commands = [(as_fast_as_can_be(command, a.realtime), environment) for command, environment in programs(a, section)]
            lines = list(take_turns(commands, cases_of(a.manifest, section), lambda case: look_at_machine("handover")))
            if section == "D":
                lines = [first_step(line) for line in lines] + list(cold_lines(a))
            for line in lines:
                case = f"{line['bench']}/{line['case']}"
                times[case][line["peer"], line["threads"]].append(line["median"])
                sample.setdefault(case, line)
                if line["peer"] == "ours":
                    sample[case] = line
                elif line["unit"] != sample[case]["unit"]:
                    raise ValueError(f"{case}: {line['peer']} counts in {line['unit']}, others in {sample[case]['unit']}")
    return times, sample, ceilings


def first_step(line):
    """Making the session, and the first step with all that it compiles."""
    return {**line, "unit": "ms", "median": line["create_ms"] + line["first_run_ms"]}


COLD_PYTHON = """
import sys, os, runpy
sys.argv = ["x", sys.argv[1], "--section", "C", "--filter", "mlp_b128_sgd", "--reps", "1", "--rep_s", "0"]
sys.path.insert(0, os.path.dirname(sys.argv[1])); sys.path.insert(0, %r)
import tensorflow.compat.v1 as tf
from feed import make_feed
tf.disable_v2_behavior()
row = next(l.rstrip("\\n").split("\\t") for l in open(sys.argv[1]) if "mlp_b128_sgd" in l)
gd = tf.GraphDef.FromString(open(os.path.join(os.path.dirname(sys.argv[1]), row[3]), "rb").read())
tf.import_graph_def(gd, name="")
s = tf.Session(); g = tf.get_default_graph(); s.run(g.get_operation_by_name(row[4]))
feeds = [f.split("=", 1) for f in row[5].split(";")]
s.run([row[6], g.get_operation_by_name(row[7])], {n: make_feed(v, i) for i, (n, v) in enumerate(feeds)})
peak = next(int(l.split()[1]) / 1024 for l in open("/proc/self/status") if l.startswith("VmHWM"))
print('{"peak_rss_mb": %%f}' %% peak, flush=True); os._exit(0)
"""


def cold_lines(a):
    """A process that runs one step of the MLP: seconds from start to end, and peak memory."""
    here = os.path.dirname(os.path.abspath(__file__))
    step = [a.manifest, "--section", "C", "--filter", "mlp_b128_sgd", "--cold"]
    for peer, command in (("tf-py", [a.tensorflow_python, "-c", COLD_PYTHON % here, a.manifest]), ("tf-cc", [a.tensorflow] + step), ("ours", [a.ours] + step)):
        start = time.perf_counter()
        lines = run(command, a.realtime)
        seconds = time.perf_counter() - start
        for line in lines:
            yield {"bench": "cold", "case": f"mlp_first_step", "peer": peer, "threads": "default", "unit": "s", "median": seconds}
            yield {"bench": "cold_peak", "case": f"mlp_first_step", "peer": peer, "threads": "default", "unit": "MB",
                   "median": line["peak_rss_mb"]}


def rows_of(times, sample, ceilings):
    for case, by_peer in times.items():
        medians = {peer: statistics.median(values) for peer, values in by_peer.items()}
        ours = {peer: value for peer, value in medians.items() if peer[0] == "ours"}
        peers = {peer: value for peer, value in medians.items() if peer[0] != "ours"}
        other, other_case, other_bar = OTHER_RULES.get(case, ("no peer", "", None))
        apart = {peer: value for peer, value in peers.items() if peer[0].startswith(other)}
        # PyTorch has some cases of its own, for which we have no graph.
        for name, bar, compared in ((case, bar_of(case), {p: v for p, v in peers.items() if p not in apart}), (other_case, other_bar, apart)):
            if not ours or not compared:
                continue
            mine, best = min(ours, key=ours.get), min(compared, key=compared.get)
            yield {"case": name, "ours": ours[mine], "peer": "@".join(best), "peer_value": compared[best], "unit": sample[case]["unit"],
                   "ratio": round(compared[best] / ours[mine], 3), "bar": bar, "spread": round(max(by_peer[mine]) / min(by_peer[mine]), 2),
                   "peers": {"@".join(p): round(v, 6) for p, v in sorted(compared.items())}, **share_of_machine(sample[case], ours[mine], ceilings)}


def share_of_machine(line, ours, ceilings):
    """The used fraction of the machine's limit: of multiply-adds if the case has them, otherwise of
    bandwidth."""
    for rate in ("gflops", "gbps"):
        if rate in line and rate in ceilings:
            return {"of_machine": round(line[rate] * line["median"] / ours / ceilings[rate], 3), "limit": rate}
    return {}


def print_table(rows):
    print("| case | unit | ours | best peer | by | ratio | bar | of the machine |\n|---|---|---|---|---|---|---|---|")
    for r in rows:
        mark = "" if r["bar"] is None or r["ratio"] >= r["bar"] else " (short)"
        share = f"{100 * r['of_machine']:.0f} % of {r['limit']}" if "of_machine" in r else ""
        print(f"| {r['case']} | {r['unit']} | {r['ours']:.4g} | {r['peer_value']:.4g} | {r['peer']} | {r['ratio']:.3g} | {r['bar']}{mark} | {share} |")
    for bench in ("train/", "recommenders/"):
        trained = [r["ratio"] for r in rows if r["case"].startswith(bench) and r["bar"] is not None]
        if trained:
            print(f"\nGeometric mean over {len(trained)} graphs of {bench}: {statistics.geometric_mean(trained):.3g}")


def plot(rows, path):
    """Bars of the ratios on a logarithmic axis, as SVG."""
    import math
    width, line = 900, 18
    top = max(max(r["ratio"] for r in rows), 10)
    low = min(min(r["ratio"] for r in rows), 0.5)
    x = lambda ratio: 330 + (math.log(ratio) - math.log(low)) / (math.log(top) - math.log(low)) * (width - 400)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{line * len(rows) + 30}" font-family="sans-serif" font-size="12">']
    for i, r in enumerate(rows):
        y = 10 + i * line
        left, right = sorted((x(1), x(r["ratio"])))
        colour = "#2a7" if r["ratio"] >= 1 else "#c53"
        out.append(f'<text x="320" y="{y + 12}" text-anchor="end">{r["case"]}</text>'
                   f'<rect x="{left:.1f}" y="{y + 2}" width="{right - left:.1f}" height="{line - 5}" fill="{colour}"/>'
                   f'<text x="{right + 4:.1f}" y="{y + 12}">{r["ratio"]:.3g}</text>')
    out.append("</svg>")
    with open(path, "w") as f:
        f.write("\n".join(out))


def main():
    a = arguments()
    times, sample, ceilings = measure(a)
    rows = list(rows_of(times, sample, {name: max(values) for name, values in ceilings.items()}))
    print_table(rows)
    if len(ceilings["handover_ns"]) > 1:
        tenths = statistics.quantiles(ceilings["handover_ns"], n=10)
        print("A line of the cache from core to core and back, before each case, by tenths:", ", ".join(f"{ns:.0f}" for ns in tenths), "ns")
    if a.json:
        with open(a.json, "w") as f:
            json.dump(rows, f, indent=1)
    if a.plot and rows:
        plot(rows, a.plot)
    if a.history:
        with open(a.history, "a") as f:
            f.write(json.dumps({"date": datetime.date.today().isoformat(), "ours": {r["case"]: r["ours"] for r in rows},
                                "ratio": {r["case"]: r["ratio"] for r in rows}}) + "\n")


if __name__ == "__main__":
    main()
