// Runs the graphs of fuzzers. The memory of a program that links this library is limited.
#ifndef SLUICE_TESTS_FUZZ_RUN_GRAPH_H_
#define SLUICE_TESTS_FUZZ_RUN_GRAPH_H_

#include <string>

#include "absl/types/span.h"
#include "executor/session/session.h"
#include "graph/format/graph_def.h"
#include "tests/fuzz/made_graph.h"

namespace sluice {

// Options for ImportGraphDef that allow only small tensors and few nodes.
ImportOptions SmallLimits();

// Runs one step with all fetches and targets, then one step per fetch, and then all these steps
// again. Reports types, ranks and errors of the results to libFuzzer, which keeps an input if they
// are new.
void RunSteps(Graph& graph, absl::Span<const NamedFeed> feeds,
              absl::Span<const std::string> fetches, absl::Span<const std::string> targets);

// Imports the graph and runs it, unless it is rejected.
void RunMade(const MadeGraph& made);

}  // namespace sluice

#endif  // SLUICE_TESTS_FUZZ_RUN_GRAPH_H_
