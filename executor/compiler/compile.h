// Compiles a graph, whose nodes are placed on devices, to the plan (executor/plan/plan.h): the form
// in which steps run the graph.
#ifndef SLUICE_EXECUTOR_COMPILER_COMPILE_H_
#define SLUICE_EXECUTOR_COMPILER_COMPILE_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/kernel/kernel.h"
#include "executor/memory/rematerialize.h"
#include "executor/passes/pass_options.h"
#include "executor/plan/plan.h"
#include "graph/ir/graph.h"
#include "graph/tensor/shape.h"

namespace sluice {

struct CompileOptions {
  // Makes the kernel of a node, or returns the one that earlier plans of the session use.
  std::function<absl::StatusOr<std::shared_ptr<Kernel>>(const Node&)> kernel;
  // Returns the index of a node's device among the session's devices. If not set, all nodes have
  // index 0.
  std::function<int(const Node&)> device;
  PassOptions passes;
  // Runs every while loop node by node, with overlapping iterations, even if the plan could run it
  // as a single node.
  bool dynamic_loops = false;
};

// Compiles a pruned and placed graph. Its feeds are _Arg nodes and its fetches are _Retval nodes,
// both numbered by attribute `index`. Errors name the node.
absl::StatusOr<std::shared_ptr<const Plan>> CompilePlan(std::shared_ptr<const Graph> graph,
                                                        const CompileOptions& options);

// Compiles the graph like CompilePlan, for steps whose feeds have these shapes. If such a step
// needs more memory than PassOptions::memory_limit_bytes, first changes the graph so that it needs
// less. It may still need more than the limit.
absl::StatusOr<PlannedStep> CompileWithinLimit(const std::shared_ptr<Graph>& graph,
                                               const std::vector<TensorShape>& feeds,
                                               const CompileOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_COMPILER_COMPILE_H_
