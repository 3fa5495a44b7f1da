// Where the time of a traced step went, as text: by op, node by node, and along the path that
// nothing could have made shorter but a faster kernel.
#ifndef SLUICE_TOOLS_COMMANDS_TRACE_SUMMARY_H_
#define SLUICE_TOOLS_COMMANDS_TRACE_SUMMARY_H_

#include <string>

#include "executor/trace/step_stats.h"
#include "graph/ir/graph.h"

namespace sluice {

// `graph` is what ran. GFLOP/s are of products and convolutions, by their definition; GB/s count
// what a node reads and writes once. Times of nodes that ran in several iterations are added.
std::string TraceSummary(const StepStats& stats, const Graph& graph);

}  // namespace sluice

#endif  // SLUICE_TOOLS_COMMANDS_TRACE_SUMMARY_H_
