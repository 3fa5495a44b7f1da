// Compiles a graph, whose nodes are placed on devices, to the plan that steps run
// (executor/plan/plan.h).
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
  // The index of a node's device. If not set, all nodes have index 0.
  std::function<int(const Node&)> device;
  PassOptions passes;
  // Runs every loop by frames and iterations, even if the plan could run it as a single node.
  bool dynamic_loops = false;
};

// Compiles a pruned and placed graph. Its feeds are _Arg nodes and its fetches are _Retval nodes,
// both numbered by attribute `index`. Errors name the node.
absl::StatusOr<std::shared_ptr<const Plan>> CompilePlan(std::shared_ptr<const Graph> graph,
                                                        const CompileOptions& options);

// Compiles the graph. If its steps, with feeds of these shapes, need more memory than
// PassOptions::memory_limit_bytes, first changes the graph so that they need less. They may still
// need more than the limit.
absl::StatusOr<PlannedStep> CompileWithinLimit(const std::shared_ptr<Graph>& graph,
                                               const std::vector<TensorShape>& feeds,
                                               const CompileOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_COMPILER_COMPILE_H_
