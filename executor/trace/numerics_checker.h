// Looks for the first node of a step that makes a NaN or an infinity.
//
// Sees every tensor that a node puts out, in loops and branches too, and the variable behind a
// reference that it passes on, so that what an optimizer writes into one is seen at once; what it
// writes into a resource variable is seen at the next read.
//
// Thread safety: told from all threads of a step.
#ifndef SLUICE_EXECUTOR_TRACE_NUMERICS_CHECKER_H_
#define SLUICE_EXECUTOR_TRACE_NUMERICS_CHECKER_H_

#include <cstdint>

#include "executor/step/step.h"

namespace sluice {

class NumericsChecker final : public NodeObserver {
 public:
  // `next` is told of what passed; may be null.
  NumericsChecker(int64_t step_id, NodeObserver* next) : step_id_(step_id), next_(next) {}
  // INVALID_ARGUMENT with the node, how many of its values are bad, the step, and the ranges of its
  // inputs.
  absl::Status OnNode(const NodeRun& run) override;
  bool NeedsInputs() const override { return true; }

 private:
  const int64_t step_id_;
  NodeObserver* const next_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_TRACE_NUMERICS_CHECKER_H_
