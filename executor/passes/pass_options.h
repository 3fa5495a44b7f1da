// The options of graph passes, which change a graph before its steps run. A pass is a function
//
//   absl::StatusOr<int> Pass(Graph& graph, const PassOptions& options);
//
// that changes the graph of one set of feeds, fetches and targets, and returns how many changes it
// made. An error is a defect of the pass, not of the graph. No pass runs a stateful node. Only
// defer_adam removes some: the updates that its own node makes instead. Every pass takes time
// linear in the graph, except rematerialize. The table of passes with their order and exactness is
// in executor/compiler/pass_table.cc.
#ifndef SLUICE_EXECUTOR_PASSES_PASS_OPTIONS_H_
#define SLUICE_EXECUTOR_PASSES_PASS_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "graph/ir/graph.h"
#include "graph/tensor/limited_heap.h"

namespace sluice {

class StepPlanner;  // executor/memory/rematerialize.h

struct PassOptions {
  // Names of the nodes that steps run for their effect (targets). Passes keep these nodes, with
  // their names. Feeds and fetches need no names here: pruning gives them _Args and _Retvals.
  std::set<std::string> keep;
  // Names of passes that do not run. "all" stands for every pass that can be disabled.
  std::set<std::string> disabled;
  // Allocates the constants that passes and expanded function calls add. It outlives the graph.
  Allocator* memory = &LimitedHeap();
  // The size of the largest constant that fold_constants makes.
  int64_t max_constant_bytes = 10 << 20;
  // Used only by rematerialize: the number of bytes that a step's tensors may take, and the object
  // that makes plans. CompileWithinLimit (executor/compiler/compile.h) sets `planner`.
  int64_t memory_limit_bytes = 0;
  StepPlanner* planner = nullptr;
  // Called before each pass, and before each call of a graph function is replaced by the nodes of
  // the function. If it returns false, the compilation ends with CANCELLED. If it is not set,
  // nothing ends the compilation.
  std::function<bool()> is_wanted;

  bool IsDisabled(const std::string& pass) const {
    return disabled.contains("all") || disabled.contains(pass);
  }
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_PASS_OPTIONS_H_
