#include <algorithm>
#include <cstdio>
#include <fstream>

#include "absl/flags/flag.h"
#include "executor/session/session.h"
#include "executor/trace/step_stats.h"
#include "graph/format/graph_def.h"
#include "graph/status.h"
#include "tools/commands/command.h"
#include "tools/commands/graph_file.h"
#include "tools/commands/steps.h"
#include "tools/commands/trace_summary.h"
#include "training/session/chrome_trace.h"

ABSL_FLAG(std::string, chrome, "", "trace: .json file for chrome://tracing and Perfetto");

namespace sluice {
namespace {

constexpr int64_t kStepsBefore = 9;  // memory and threads are warm by then

absl::Status WriteText(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file) return absl::OkStatus();
  return absl::UnavailableError(StrCat("cannot write '", path, "'"));
}

}  // namespace

absl::Status TraceCommand(const Arguments& arguments) {
  if (arguments.size() != 1) {
    return InvalidArgument("'trace' takes one graph file, got ", arguments.size(), " arguments");
  }
  SLUICE_ASSIGN_OR_RETURN(const GraphFile file, ReadGraphFile(arguments[0]));
  Graph graph;
  SLUICE_RETURN_IF_ERROR(ImportGraphDef(file.meta.graph_def(), graph).status());
  SLUICE_ASSIGN_OR_RETURN(const Feeds feeds, ReadFeeds(graph));
  SLUICE_ASSIGN_OR_RETURN(int64_t steps, NumberOfSteps(feeds));
  if (absl::GetFlag(FLAGS_steps) == 0 && feeds.per_step.empty()) steps = kStepsBefore + 1;

  Session session(graph);
  SLUICE_RETURN_IF_ERROR(RunInit(session));
  const std::vector<std::string> fetches = absl::GetFlag(FLAGS_fetches);
  const std::vector<std::string> targets = absl::GetFlag(FLAGS_targets);
  RunMetadata metadata;
  for (int64_t step = 0; step < steps; ++step) {
    SLUICE_ASSIGN_OR_RETURN(const std::vector<NamedFeed> fed, FeedsOf(feeds, step));
    const bool is_last = step + 1 == steps;
    const RunOptions options{.trace = is_last, .output_partition_graphs = is_last};
    const absl::Status ran = session.Run(fed, fetches, targets, options, &metadata).status();
    if (!ran.ok()) return Annotate(ran, StrCat("step ", step, ": "));
  }
  if (metadata.step_stats == nullptr || metadata.partition_graphs.empty()) {
    return absl::InternalError("the step was not traced");
  }
  std::fputs(TraceSummary(*metadata.step_stats, *metadata.partition_graphs[0]).c_str(), stdout);
  const std::string chrome = absl::GetFlag(FLAGS_chrome);
  return chrome.empty() ? absl::OkStatus() : WriteText(chrome, ChromeTrace(*metadata.step_stats));
}

}  // namespace sluice
