// Summarizes the times of a traced step as text: by op, by node, and along the critical path.
#ifndef SLUICE_TOOLS_COMMANDS_TRACE_SUMMARY_H_
#define SLUICE_TOOLS_COMMANDS_TRACE_SUMMARY_H_

#include <string>

#include "executor/trace/step_stats.h"
#include "graph/ir/graph.h"

namespace sluice {

// `graph` is the graph that ran. GFLOP/s are shown for matmuls, attention and convolutions, and
// count the operations of their definition. GB/s count each input and output of a node once. Times
// of nodes that ran in several iterations are added.
std::string TraceSummary(const StepStats& stats, const Graph& graph);

}  // namespace sluice

#endif  // SLUICE_TOOLS_COMMANDS_TRACE_SUMMARY_H_
