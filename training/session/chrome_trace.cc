#include "training/session/chrome_trace.h"

#include <map>
#include <string_view>

#include "absl/strings/str_format.h"
#include "graph/json.h"
#include "graph/strings.h"

namespace sluice {
namespace {

// Returns the op in a label "<name> = <Op>(<inputs>)".
std::string_view OpOf(const NodeExecStats& node) {
  const std::string_view label = node.timeline_label;
  const size_t begin = label.find(" = ");
  if (begin == std::string_view::npos) return node.node_name;
  const size_t end = label.find('(', begin);
  return label.substr(begin + 3, end == std::string_view::npos ? end : end - begin - 3);
}

}  // namespace

std::string ChromeTrace(const StepStats& stats) {
  std::string events;
  const auto add = [&events](const std::string& event) {
    StrAppend(&events, events.empty() ? "" : ",\n", event);
  };
  int process = 0;
  for (const DeviceStepStats& device : stats.dev_stats) {
    add(StrCat("{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": ", process,
               ", \"args\": {\"name\": ", JsonQuoted(device.device), "}}"));
    std::map<uint32_t, int> lines;  // a small number for each thread, in order of appearance
    for (const NodeExecStats& node : device.node_stats) {
      const int line = lines.emplace(node.thread_id, static_cast<int>(lines.size())).first->second;
      const int64_t start = node.all_start_nanos + node.op_start_rel_nanos;
      const int64_t duration = node.op_end_rel_nanos - node.op_start_rel_nanos;
      add(StrCat("{\"name\": ", JsonQuoted(OpOf(node)),
                 ", \"cat\": \"Op\", \"ph\": \"X\", \"pid\": ", process, ", \"tid\": ", line,
                 ", \"ts\": ", absl::StrFormat("%d.%03d", start / 1000, start % 1000),
                 ", \"dur\": ", absl::StrFormat("%d.%03d", duration / 1000, duration % 1000),
                 ", \"args\": {\"name\": ", JsonQuoted(node.node_name),
                 ", \"op\": ", JsonQuoted(OpOf(node)), "}}"));
    }
    ++process;
  }
  return StrCat("{\"traceEvents\": [\n", events, "\n]}\n");
}

}  // namespace sluice
