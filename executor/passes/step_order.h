// When a plan runs the nodes of its graph, for passes that look at a plan and change the graph.
#ifndef SLUICE_EXECUTOR_PASSES_STEP_ORDER_H_
#define SLUICE_EXECUTOR_PASSES_STEP_ORDER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/plan/plan.h"
#include "graph/ir/graph.h"

namespace sluice {

// Numbers are those of MemoryPlan. Thread safety: immutable. Lifetime: the plan outlives it.
class StepOrder {
 public:
  static absl::StatusOr<StepOrder> Of(const Plan& plan);

  // -1: it has none, as constants, feeds, and what is in loops.
  int NumberOf(const Node& node) const { return numbers_[node.id()]; }
  // What runs as one; the last one's result is the result.
  absl::Span<const Node* const> At(int number) const { return at_[number]; }
  int UnitOf(int number) const { return units_[number]; }
  // It runs in every step: what lies behind a branch or a loop may not.
  bool IsCertain(const Node& node) const { return is_certain_[node.id()]; }
  // The sums of which the terms are added one to the other as they are computed, each with its
  // terms in that order, as ids of nodes: another order gives other bits.
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

#endif  // SLUICE_EXECUTOR_PASSES_STEP_ORDER_H_
