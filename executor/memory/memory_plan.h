// Calculates, before a step runs, how much memory the step's tensors will need.
//
// The calculation uses the plan (the order of the nodes, and the last reader of each result) and
// the shapes of results, which are inferred from the shapes of the feeds. It does not include the
// scratch memory of kernels, strings and variants, results of loops and of asynchronous kernels,
// and results whose shapes depend on values.
#ifndef SLUICE_EXECUTOR_MEMORY_MEMORY_PLAN_H_
#define SLUICE_EXECUTOR_MEMORY_MEMORY_PLAN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "executor/plan/plan.h"
#include "graph/ir/graph.h"
#include "graph/tensor/shape.h"

namespace sluice {

// A result that has a buffer of its own. There is no PlannedTensor for the values of variables, or
// for results that take over or share the buffer of an input.
struct PlannedTensor {
  const Node* node = nullptr;
  int output = 0;
  int64_t bytes = -1;   // -1: unknown before the step
  int computed_at = 0;  // the number of its node in the StepOrder (step_order.h)
  // The number of its last reader. MemoryPlan::num_nodes for results that are fetched.
  int released_at = 0;
  // All results in this buffer: this one, and results that take over or share the buffer.
  OutputList results;
};

// The tensors of a step, and the peak of their memory.
struct MemoryPlan {
  std::vector<PlannedTensor> tensors;  // the largest first, those of unknown size last
  int num_nodes = 0;                   // the numbers in the StepOrder are below it
  int num_unknown = 0;     // the tensors of unknown size, which the peak does not include
  int64_t peak_bytes = 0;  // the most bytes of tensors that are alive at the same time
  int peak_at = 0;         // the number of the node that runs at the peak
  std::string peak_node;   // its name
  std::shared_ptr<const Graph> graph;  // owns the nodes

  // Returns a text with the peak, and a table of the `rows` largest tensors: node, op, bytes,
  // lifetime, and whether the tensor is alive at the peak.
  std::string ToString(int rows = 20) const;
};

// Calculates the memory of a step that runs `plan` with feeds of these shapes.
MemoryPlan MemoryOf(const Plan& plan, absl::Span<const TensorShape> feeds);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_MEMORY_MEMORY_PLAN_H_
