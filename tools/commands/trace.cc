#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>

#include "absl/flags/flag.h"
#include "distributed/client/remote_session.h"
#include "executor/session/session.h"
#include "executor/trace/step_stats.h"
#include "graph/status.h"
#include "tools/commands/command.h"
#include "tools/commands/model.h"
#include "tools/commands/security_flags.h"
#include "tools/commands/steps.h"
#include "tools/commands/trace_summary.h"
#include "training/session/chrome_trace.h"

ABSL_FLAG(std::string, chrome, "", "trace: .json file for chrome://tracing and Perfetto");
ABSL_FLAG(std::string, master, "", "trace: \"grpc://host:port\" of a server whose cluster runs it");

namespace sluice {
namespace {

constexpr int64_t kStepsBefore = 9;  // to warm up memory and threads

absl::Status WriteText(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file) return absl::OkStatus();
  return absl::UnavailableError(StrCat("cannot write '", path, "'"));
}

absl::StatusOr<std::unique_ptr<Session>> MakeSession(Graph& graph) {
  const std::string master = absl::GetFlag(FLAGS_master);
  if (master.empty()) return std::make_unique<Session>(graph);
  RemoteSessionOptions options;
  SLUICE_ASSIGN_OR_RETURN(options.security, SecurityFromFlags());
  return RemoteSession::Connect(graph, master, std::move(options));
}

// Appends the nodes of a step to those of earlier steps, by device.
void Merge(const StepStats& step, StepStats* all) {
  for (const DeviceStepStats& device : step.dev_stats) {
    const auto same = [&](const DeviceStepStats& d) { return d.device == device.device; };
    auto it = std::find_if(all->dev_stats.begin(), all->dev_stats.end(), same);
    if (it == all->dev_stats.end()) {
      all->dev_stats.push_back(device);
    } else {
      it->node_stats.insert(it->node_stats.end(), device.node_stats.begin(),
                            device.node_stats.end());
    }
  }
}

void PrintDevices(const StepStats& traced, int64_t steps) {
  std::printf("%-50s %8s %10s   of %lld steps\n", "device", "nodes", "ms",
              static_cast<long long>(steps));
  for (const DeviceStepStats& device : traced.dev_stats) {
    int64_t nanos = 0;
    for (const NodeExecStats& node : device.node_stats) {
      nanos += node.op_end_rel_nanos - node.op_start_rel_nanos;
    }
    std::printf("%-50s %8zu %10.3f\n", device.device.c_str(), device.node_stats.size(),
                static_cast<double>(nanos) / 1e6);
  }
}

}  // namespace

absl::Status TraceCommand(const Arguments& arguments) {
  if (arguments.size() != 1) {
    return UsageError(
        StrCat("'trace' takes one graph or model, got ", arguments.size(), " arguments"));
  }
  Graph graph;
  SLUICE_ASSIGN_OR_RETURN(const Model model, Model::Load(arguments[0], graph));
  SLUICE_ASSIGN_OR_RETURN(const SignatureNames signature, model.Signature());
  SLUICE_ASSIGN_OR_RETURN(const Feeds feeds, ReadFeeds(graph, signature.inputs));
  SLUICE_ASSIGN_OR_RETURN(int64_t steps, NumberOfSteps(feeds));
  const StepRange range = absl::GetFlag(FLAGS_steps);
  if (range.count == 0 && feeds.per_step.empty()) steps = kStepsBefore + 1;
  const int64_t first = range.first >= 0 ? range.first : steps - 1;

  SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, MakeSession(graph));
  SLUICE_RETURN_IF_ERROR(model.Restore(*session));
  SLUICE_RETURN_IF_ERROR(RunInit(*session, feeds));
  const std::vector<std::string> fetches =
      NamesOfKeys(FetchedKeys(signature.outputs), signature.outputs);
  const std::vector<std::string> targets = absl::GetFlag(FLAGS_targets);
  RunMetadata metadata;
  StepStats traced;
  for (int64_t step = 0; step < steps; ++step) {
    SLUICE_ASSIGN_OR_RETURN(const std::vector<NamedFeed> fed, FeedsOf(feeds, step));
    const RunOptions options{.trace = step >= first, .output_partition_graphs = step + 1 == steps};
    const absl::Status ran = session->Run(fed, fetches, targets, options, &metadata).status();
    if (!ran.ok()) return Annotate(ran, StrCat("step ", step, ": "));
    if (step < first) continue;
    if (metadata.step_stats == nullptr) return absl::InternalError("the step was not traced");
    Merge(*metadata.step_stats, &traced);
  }
  if (metadata.partition_graphs.size() == 1) {
    std::fputs(TraceSummary(*metadata.step_stats, *metadata.partition_graphs[0]).c_str(), stdout);
  } else {
    PrintDevices(traced, steps - first);
  }
  const std::string chrome = absl::GetFlag(FLAGS_chrome);
  return chrome.empty() ? absl::OkStatus() : WriteText(chrome, ChromeTrace(traced));
}

}  // namespace sluice
