// Runs the graphs of fuzzers. Limits the memory of the process as soon as it is linked.
#ifndef SLUICE_TESTS_FUZZ_RUN_GRAPH_H_
#define SLUICE_TESTS_FUZZ_RUN_GRAPH_H_

#include <string>

#include "absl/types/span.h"
#include "executor/session/session.h"
#include "graph/format/graph_def.h"
#include "tests/fuzz/made_graph.h"

namespace sluice {

// For ImportGraphDef: small tensors and few nodes.
ImportOptions SmallLimits();

// Runs one step with all fetches and targets, then one step per fetch, and all of them a second
// time. Reports the results to libFuzzer, which recognizes new inputs by them.
void RunSteps(Graph& graph, absl::Span<const NamedFeed> feeds,
              absl::Span<const std::string> fetches, absl::Span<const std::string> targets);

// Imports the graph and runs it, unless it is rejected.
void RunMade(const MadeGraph& made);

}  // namespace sluice

#endif  // SLUICE_TESTS_FUZZ_RUN_GRAPH_H_
