// Runs the cases of manifest.tsv with the C++ library of TensorFlow's wheel on PyPI, without
// Python:
//
//   tensorflow_graphs MANIFEST --section A --intra N --inter N [--api run|callable]
//              [--filter SUBSTR] [--peer NAME] [--target grpc://host:port] [--rep_s 0.2]
//              [--reps 9] [--caller_thread] [--cold] [--turns]
//
// Prints one line of JSON per case. Values are times per item (lower is better); "rate" is derived
// from the median.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "benchmarks/graphs/turn.h"
#include "benchmarks/versus/tensorflow_feed.h"
#include "tensorflow/core/framework/graph.pb.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/protobuf/rewriter_config.pb.h"
#include "tensorflow/core/public/session.h"

using Clock = std::chrono::steady_clock;

static double Now() {
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}
static void Die(const std::string& what) { fprintf(stderr, "FAILED: %s\n", what.c_str()); }

static double SelfCpu() {
  rusage r;
  getrusage(RUSAGE_SELF, &r);
  return r.ru_utime.tv_sec + r.ru_stime.tv_sec + 1e-6 * (r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}
static double MachineBusy() {  // Seconds of non-idle CPU time, steal included.
  std::ifstream f("/proc/stat");
  std::string cpu;
  double v[8] = {0};
  f >> cpu;
  for (double& x : v) f >> x;
  return (v[0] + v[1] + v[2] + v[5] + v[6] + v[7]) / 100.0;
}

int main(int argc, char** argv) {
  std::map<std::string, std::string> a = {{"section", ""},        {"intra", "0"},   {"inter", "0"},
                                          {"api", "run"},         {"filter", ""},   {"peer", ""},
                                          {"target", ""},         {"rep_s", "0.2"}, {"reps", "9"},
                                          {"caller_thread", "0"}, {"cold", "0"},    {"turns", "0"}};
  std::string manifest = argc > 1 ? argv[1] : "";
  for (int i = 2; i < argc; i++) {
    std::string k = std::string(argv[i]).substr(2);
    if (k == "caller_thread" || k == "cold" || k == "turns")
      a[k] = "1";
    else if (i + 1 < argc)
      a[k] = argv[++i];
  }
  std::string dir = manifest.substr(0, manifest.rfind('/') + 1);
  const bool callable = a["api"] == "callable", caller = a["caller_thread"] == "1";
  const double rep_s = std::stod(a["rep_s"]);
  const int reps = std::stoi(a["reps"]);
  std::string peer = a["peer"].empty() ? (callable ? "tf-cc-callable" : "tf-cc") : a["peer"];
  std::string threads =
      a["intra"] == "0" && a["inter"] == "0" ? "default" : a["intra"] + "/" + a["inter"];
  if (caller) threads += "+caller";
  std::ifstream in(manifest);
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string> col;
    std::stringstream ss(line);
    for (std::string t; std::getline(ss, t, '\t');) col.push_back(t);
    if (col.size() < 13) continue;
    if (!a["section"].empty() && col[0] != a["section"]) continue;
    std::string label = col[1] + "/" + col[2];
    if (label.find(a["filter"]) == std::string::npos) continue;
    if (a["turns"] == "1") sluice::AwaitTurn(label);
    const double create0 = Now();  // includes parsing the file, as ours does
    tf::GraphDef g;
    auto st = tf::ReadBinaryProto(tf::Env::Default(), dir + col[3], &g);
    if (!st.ok()) {
      Die(label + ": " + st.ToString());
      continue;
    }
    tf::SessionOptions o;
    o.target = a["target"];
    o.config.set_intra_op_parallelism_threads(std::stoi(a["intra"]));
    o.config.set_inter_op_parallelism_threads(std::stoi(a["inter"]));
    if (col[12] == "nograppler") {
      o.config.mutable_graph_options()->mutable_rewrite_options()->set_disable_meta_optimizer(true);
      o.config.mutable_graph_options()->mutable_optimizer_options()->set_opt_level(
          tf::OptimizerOptions::L0);
    }
    std::unique_ptr<tf::Session> s(tf::NewSession(o));
    if (!s || !(st = s->Create(g)).ok()) {
      Die(label + ": " + st.ToString());
      continue;
    }
    const double create_ms = (Now() - create0) * 1e3;
    auto init = Split(col[4], ',');
    if (!init.empty() && !(st = s->Run({}, {}, init, nullptr)).ok()) {
      Die(label + ": " + st.ToString());
      continue;
    }
    std::vector<std::pair<std::string, tf::Tensor>> feeds;
    std::vector<tf::Tensor> feed_tensors;
    for (auto& f : Split(col[5], ';')) {
      size_t eq = f.find('=');
      feeds.emplace_back(f.substr(0, eq), MakeFeed(f.substr(eq + 1), feeds.size()));
      feed_tensors.push_back(feeds.back().second);
    }
    auto fetches = Split(col[6], ','), targets = Split(col[7], ',');
    tf::RunOptions ro;
    if (caller) ro.set_inter_op_thread_pool(-1);
    tf::Session::CallableHandle h = 0;
    if (callable) {
      tf::CallableOptions co;
      for (auto& f : feeds) co.add_feed(f.first);
      for (auto& f : fetches) co.add_fetch(f);
      for (auto& t : targets) co.add_target(t);
      *co.mutable_run_options() = ro;
      if (!(st = s->MakeCallable(co, &h)).ok()) {
        Die(label + ": " + st.ToString());
        continue;
      }
    }
    auto once = [&]() {
      std::vector<tf::Tensor> out;
      if (callable)
        st = s->RunCallable(h, feed_tensors, &out, nullptr);
      else if (caller) {
        tf::RunMetadata md;
        st = s->Run(ro, feeds, fetches, targets, &out, &md);
      } else
        st = s->Run(feeds, fetches, targets, &out);
      return st.ok();
    };
    if (a["cold"] == "1") {  // one step only: the caller times the whole process
      once();
      std::ifstream status("/proc/self/status");
      double rss = 0, hwm = 0;
      for (std::string l; std::getline(status, l);) {
        if (l.rfind("VmHWM:", 0) == 0) hwm = std::stod(l.substr(6)) / 1024;
        if (l.rfind("VmRSS:", 0) == 0) rss = std::stod(l.substr(6)) / 1024;
      }
      printf("{\"ok\":%s,\"rss_mb\":%.1f,\"peak_rss_mb\":%.1f}\n", st.ok() ? "true" : "false", rss,
             hwm);
      fflush(stdout);
      _exit(0);
    }
    const double first0 = Now();
    if (!once()) {
      Die(label + " [" + threads + "]: " + st.ToString().substr(0, 300));
      continue;
    }
    const double first_run_ms =
        (Now() - first0) * 1e3;  // pruning, grappler, placement, kernels and one step
    double t0 = Now();
    int warm = 0;
    while (warm < 3 || (Now() - t0 < 0.3 && warm < 100000)) {
      if (!once()) break;
      warm++;
    }
    if (!st.ok()) {
      Die(label + " [" + threads + "]: " + st.ToString().substr(0, 300));
      continue;
    }
    double t1 = Now();
    once();
    double est = std::min((Now() - t0) / (warm + 1), Now() - t1);
    long n = std::max(1L, (long)std::ceil(rep_s / std::max(est, 1e-7)));
    double items = std::stod(col[8]), scale = col[9] == "ns" ? 1e9 : col[9] == "us" ? 1e6 : 1e3;
    std::vector<double> r;
    double cpu0 = SelfCpu(), busy0 = MachineBusy(), w0 = Now();
    for (int k = 0; k < reps; k++) {
      double b = Now();
      for (long i = 0; i < n; i++) once();
      r.push_back((Now() - b) / n / items * scale);
    }
    double wall = Now() - w0, own = SelfCpu() - cpu0,
           other = std::max(0.0, MachineBusy() - busy0 - own);
    std::sort(r.begin(), r.end());
    double med = r[r.size() / 2];
    printf(
        "{\"bench\":\"%s\",\"case\":\"%s\",\"peer\":\"%s\",\"threads\":\"%s\",\"unit\":\"%s\","
        "\"min\":%.6g,\"median\":%.6g,"
        "\"max\":%.6g,\"reps\":%d,\"runs_per_rep\":%ld,\"cores_used\":%.2f,\"other_cpu_pct\":%.0f",
        col[1].c_str(), col[2].c_str(), peer.c_str(), threads.c_str(), col[9].c_str(), r[0], med,
        r.back(), reps, n, own / wall, 100 * other / wall);
    double flops = std::stod(col[10]), bytes = std::stod(col[11]), sec = med * items / scale;
    if (flops > 0) printf(",\"gflops\":%.4g", flops / sec * 1e-9);
    if (bytes > 0) printf(",\"gbps\":%.4g", bytes / sec * 1e-9);
    if (col[0] == "C") printf(",\"steps_per_s\":%.5g", 1 / sec);
    printf(",\"create_ms\":%.3g,\"first_run_ms\":%.4g,\"nodes\":%d}\n", create_ms, first_run_ms,
           g.node_size());
    fflush(stdout);
    if (callable) (void)s->ReleaseCallable(h);
    (void)s->Close();
  }
}
