// Times the graphs of a manifest, and prints one line of JSON per graph:
//
//   graphs MANIFEST --section A [--filter TEXT] [--intra N] [--inter N] [--rep_s 0.2] [--reps 9]
//   [--cold] [--turns]
//
// Graphs, feeds, arguments and output lines are the same as for programs of other frameworks, so
// that they can run in turn. Values are times per item: lower is better. --cold: runs one step of
// the first case and exits, so that the caller can time the whole process. --turns: waits for a
// line of input before each case.
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/match.h"
#include "benchmarks/graphs/feed.h"
#include "benchmarks/graphs/manifest.h"
#include "benchmarks/graphs/timing.h"
#include "benchmarks/graphs/turn.h"
#include "executor/session/session.h"
#include "graph/format/graph_def.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "graph/strings.h"

ABSL_FLAG(std::string, section, "", "only cases of this section");
ABSL_FLAG(std::string, filter, "", "only cases whose bench/case contains this");
ABSL_FLAG(int, intra, 0, "threads inside an op; 0: as many as cores");
ABSL_FLAG(int, inter, 0, "threads for ops; 0: as many as cores");
ABSL_FLAG(double, rep_s, 0.2, "seconds per repetition");
ABSL_FLAG(int, reps, 9, "repetitions");
ABSL_FLAG(bool, caller_thread, false, "accepted: steps always start in the caller");
ABSL_FLAG(bool, cold, false, "run one step and exit");
ABSL_FLAG(bool, turns, false, "announce each case, and wait for a line before it");
ABSL_FLAG(std::string, peer, "ours", "the name in the lines");

namespace sluice {
namespace {

// A case, loaded and initialized.
struct Loaded {
  Graph graph;
  std::unique_ptr<Session> session;
  Callable step;
  Tensors feeds;
  double create_ms = 0;
};

absl::StatusOr<std::vector<Output>> OutputsOf(const Graph& graph,
                                              const std::vector<std::string>& names) {
  std::vector<Output> outputs;
  for (const std::string& name : names) {
    SLUICE_ASSIGN_OR_RETURN(Output output, graph.FindOutput(name));
    outputs.push_back(output);
  }
  return outputs;
}

absl::StatusOr<std::vector<Operation>> OperationsOf(const Graph& graph,
                                                    const std::vector<std::string>& names) {
  std::vector<Operation> operations;
  for (const std::string& name : names) {
    Node* node = graph.Find(name);
    if (node == nullptr) return absl::NotFoundError(StrCat("no node '", name, "'"));
    operations.push_back(Operation(node));
  }
  return operations;
}

SessionOptions OptionsOf(const GraphCase& c) {
  SessionOptions options;
  options.intra_op_threads = absl::GetFlag(FLAGS_intra);
  options.inter_op_threads = absl::GetFlag(FLAGS_inter);
  options.allow_soft_placement = true;
  if (c.options == "nograppler") options.disabled_passes = {"all"};
  return options;
}

absl::Status Load(const GraphCase& c, Loaded& loaded) {
  std::ifstream file(c.graph, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) return absl::NotFoundError(StrCat("no graph at '", c.graph, "'"));
  const double start = SecondsNow();
  SLUICE_RETURN_IF_ERROR(ImportGraphDef(bytes, loaded.graph).status());
  loaded.session = std::make_unique<Session>(loaded.graph, OptionsOf(c));
  SLUICE_ASSIGN_OR_RETURN(const std::vector<Operation> init, OperationsOf(loaded.graph, c.init));
  if (!init.empty()) SLUICE_RETURN_IF_ERROR(loaded.session->Run(init));
  std::vector<std::string> fed;
  for (const auto& [tensor, description] : c.feeds) {
    SLUICE_ASSIGN_OR_RETURN(Tensor value, MakeFeed(description, loaded.feeds.size()));
    loaded.feeds.push_back(std::move(value));
    fed.push_back(tensor);
  }
  SLUICE_ASSIGN_OR_RETURN(const std::vector<Output> feeds, OutputsOf(loaded.graph, fed));
  SLUICE_ASSIGN_OR_RETURN(const std::vector<Output> fetches, OutputsOf(loaded.graph, c.fetches));
  SLUICE_ASSIGN_OR_RETURN(const std::vector<Operation> targets,
                          OperationsOf(loaded.graph, c.targets));
  SLUICE_ASSIGN_OR_RETURN(loaded.step, loaded.session->MakeCallable(feeds, fetches, targets));
  loaded.create_ms = (SecondsNow() - start) * 1e3;
  return absl::OkStatus();
}

double MegabytesOf(const char* field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field)) return std::stod(line.substr(line.find(':') + 1)) / 1024;
  }
  return 0;
}

[[noreturn]] void EndCold(const absl::Status& status) {
  std::printf("{\"ok\":%s,\"rss_mb\":%.1f,\"peak_rss_mb\":%.1f}\n", status.ok() ? "true" : "false",
              MegabytesOf("VmRSS"), MegabytesOf("VmHWM"));
  std::fflush(stdout);
  _exit(status.ok() ? 0 : 1);
}

void PrintLine(const GraphCase& c, const Loaded& loaded, const Timing& t, double first_run_ms) {
  const double scale = (c.unit == "ns" ? 1e9 : c.unit == "us" ? 1e6 : 1e3) / c.items;
  std::string threads = "default";
  if (absl::GetFlag(FLAGS_intra) != 0 || absl::GetFlag(FLAGS_inter) != 0) {
    threads = StrCat(absl::GetFlag(FLAGS_intra), "/", absl::GetFlag(FLAGS_inter));
  }
  std::printf(
      "{\"bench\":\"%s\",\"case\":\"%s\",\"peer\":\"%s\",\"threads\":\"%s\",\"unit\":\"%s\","
      "\"min\":%.6g,\"median\":%.6g,\"max\":%.6g,\"reps\":%d,\"runs_per_rep\":%ld,"
      "\"cores_used\":%.2f,\"other_cpu_pct\":%.0f",
      c.bench.c_str(), c.name.c_str(), absl::GetFlag(FLAGS_peer).c_str(), threads.c_str(),
      c.unit.c_str(), t.min * scale, t.median * scale, t.max * scale, absl::GetFlag(FLAGS_reps),
      t.calls_a_repetition, t.cores_used, t.other_cpu_pct);
  if (c.flops > 0) std::printf(",\"gflops\":%.4g", c.flops / t.median * 1e-9);
  if (c.bytes > 0) std::printf(",\"gbps\":%.4g", c.bytes / t.median * 1e-9);
  if (c.section == "C") std::printf(",\"steps_per_s\":%.5g", 1 / t.median);
  std::printf(",\"create_ms\":%.3g,\"first_run_ms\":%.4g,\"nodes\":%d}\n", loaded.create_ms,
              first_run_ms, loaded.graph.num_nodes());
  std::fflush(stdout);
}

absl::Status TimeCase(const GraphCase& c) {
  Loaded loaded;
  const absl::Status ready = Load(c, loaded);
  absl::Status status = ready;
  Tensors out;
  const auto once = [&] {
    status = loaded.step.RunInto(loaded.feeds, &out);
    return status.ok();
  };
  if (absl::GetFlag(FLAGS_cold)) {
    if (ready.ok()) once();
    EndCold(status);
  }
  SLUICE_RETURN_IF_ERROR(ready);
  const double start = SecondsNow();
  if (!once()) return status;
  const double first_run_ms = (SecondsNow() - start) * 1e3;
  const Timing timing = TimeCalls(once, absl::GetFlag(FLAGS_rep_s), absl::GetFlag(FLAGS_reps));
  SLUICE_RETURN_IF_ERROR(status);
  PrintLine(c, loaded, timing, first_run_ms);
  return absl::OkStatus();
}

int Main(const std::vector<char*>& words) {
  if (words.size() != 2) {
    std::fprintf(stderr, "usage: graphs MANIFEST [--section S] [--filter TEXT] …\n");
    return 2;
  }
  const absl::StatusOr<std::vector<GraphCase>> cases = ReadManifest(words[1]);
  if (!cases.ok()) {
    std::fprintf(stderr, "graphs: %s\n", cases.status().ToString().c_str());
    return 1;
  }
  int failures = 0;
  for (const GraphCase& c : *cases) {
    const std::string section = absl::GetFlag(FLAGS_section);
    const std::string label = StrCat(c.bench, "/", c.name);
    if (!section.empty() && c.section != section) continue;
    if (!absl::StrContains(label, absl::GetFlag(FLAGS_filter))) continue;
    if (absl::GetFlag(FLAGS_turns)) AwaitTurn(label);
    const absl::Status status = TimeCase(c);
    if (status.ok()) continue;
    ++failures;
    std::fprintf(stderr, "FAILED: %s: %s\n", label.c_str(), status.ToString().c_str());
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) { return sluice::Main(absl::ParseCommandLine(argc, argv)); }
