// Finds the order in which a plan runs the nodes of its graph, for passes that first make a plan
// and then change the graph.
#ifndef SLUICE_EXECUTOR_MEMORY_STEP_ORDER_H_
#define SLUICE_EXECUTOR_MEMORY_STEP_ORDER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/plan/plan.h"
#include "graph/ir/graph.h"

namespace sluice {

// Numbers the nodes of a graph in the order in which its plan runs them. MemoryPlan uses the same
// numbers.
//
// Thread safety: immutable. Lifetime: the plan outlives it.
class StepOrder {
 public:
  static absl::StatusOr<StepOrder> Of(const Plan& plan);

  // Returns the number of a node. -1 for nodes without a number: constants, feeds and nodes in
  // loops.
  int NumberOf(const Node& node) const { return numbers_[node.id()]; }
  // The nodes with this number: one node, or the members of a fusion group, of which the last one
  // computes the result.
  absl::Span<const Node* const> At(int number) const { return at_[number]; }
  // The index of the unit (executor/plan/plan.h) that runs the nodes with this number.
  int UnitOf(int number) const { return units_[number]; }
  // Whether the node runs in every step. Nodes behind a branch or a loop may not.
  bool IsCertain(const Node& node) const { return is_certain_[node.id()]; }
  // Lists the sums that add each term when it is computed (executor/kernel/running_sum.h). Each sum
  // is the id of its node, followed by the ids of its terms in the order of the additions. A pass
  // must undo a change that changes this list, because another order of the terms would change the
  // bits of the sum.
  const std::vector<int>& sums() const { return sums_; }

 private:
  explicit StepOrder(const Plan& plan);
  void AddSum(const Node& sum);

  std::vector<int> numbers_;                  // by node id
  std::vector<std::vector<const Node*>> at_;  // by number
  std::vector<int> units_;                    // by number
  std::vector<bool> is_certain_;              // by node id
  std::vector<int> sums_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_MEMORY_STEP_ORDER_H_
