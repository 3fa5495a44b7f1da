// What a step needs of memory, known before it runs.
//
// From the plan: the order of its nodes, who reads a result last, and shapes, inferred from those
// of the feeds. What kernels need besides, and shapes that follow from values, are not in it.
#ifndef SLUICE_EXECUTOR_PLAN_MEMORY_PLAN_H_
#define SLUICE_EXECUTOR_PLAN_MEMORY_PLAN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "executor/plan/plan.h"
#include "graph/ir/graph.h"
#include "graph/tensor/shape.h"

namespace sluice {

// A result that takes memory of its own: those that take over an input's buffer, and values of
// variables, do not.
struct PlannedTensor {
  const Node* node = nullptr;
  int output = 0;
  int64_t bytes = -1;  // -1: not known before the step
  int made = 0;        // number of the node in the step
  int released = 0;    // of the node that reads it last; the number of nodes: it is fetched
  OutputList results;  // what lies in it: this one, and those that take it over or share it
};

struct MemoryPlan {
  std::vector<PlannedTensor> tensors;  // the largest first, those of unknown size last
  int num_nodes = 0;
  int num_unknown = 0;
  int64_t peak_bytes = 0;  // of all that are alive at a time
  int peak_at = 0;         // number of the node
  std::string peak_node;
  std::shared_ptr<const Graph> graph;  // the nodes

  // A table of the largest `rows` tensors, what is alive at the peak marked: node, op, shape as
  // bytes, from which node of the step to which.
  std::string ToString(int rows = 20) const;
};

// Of the steps that `plan` is for, with feeds of these shapes.
MemoryPlan MemoryOf(const Plan& plan, absl::Span<const TensorShape> feeds);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_MEMORY_PLAN_H_
