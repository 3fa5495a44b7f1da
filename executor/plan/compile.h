// From a graph to a plan.
#ifndef SLUICE_EXECUTOR_PLAN_COMPILE_H_
#define SLUICE_EXECUTOR_PLAN_COMPILE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/kernel/kernel.h"
#include "executor/plan/plan.h"
#include "graph/ir/graph.h"

namespace sluice {

struct CompileOptions {
  // Makes the kernel of a node, or finds the one that earlier plans of the session use for it.
  std::function<absl::StatusOr<std::shared_ptr<Kernel>>(const Node&)> kernel;
  // Position of a node's device; absent: 0.
  std::function<int(const Node&)> device;
  // Nodes (ids) that are worth a thread of their own; empty: none.
  std::vector<bool> expensive;
  // Every loop is run by frames and iterations, also those that could be one node.
  bool dynamic_loops = false;
  // Elementwise nodes run tile by tile, several as one.
  bool fuse_elementwise = true;
  bool accumulate_sums = true;
  bool tile_updates = true;
};

// `graph` is pruned and placed: feeds are _Arg nodes and fetches _Retval nodes, numbered by
// attribute `index`. Errors name the node.
absl::StatusOr<std::shared_ptr<const Plan>> CompilePlan(std::shared_ptr<const Graph> graph,
                                                        const CompileOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_COMPILE_H_
