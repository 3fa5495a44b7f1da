// Finds the first node of a step that produces a NaN or an infinity.
//
// It checks every output of every node, including those in loops and branches, and the variable
// behind every reference output. So it reports the optimizer's node that writes a NaN to a
// reference variable. If the variable is a resource variable, it reports the next node that reads
// the variable.
//
// Thread safety: all threads of a step may call OnNode.
#ifndef SLUICE_EXECUTOR_TRACE_NUMERICS_CHECKER_H_
#define SLUICE_EXECUTOR_TRACE_NUMERICS_CHECKER_H_

#include <cstdint>

#include "executor/step/step.h"

namespace sluice {

class NumericsChecker final : public NodeObserver {
 public:
  // `next` observes the nodes that pass the check. It may be null.
  NumericsChecker(int64_t step_id, NodeObserver* next) : step_id_(step_id), next_(next) {}
  // Returns INVALID_ARGUMENT if an output of the node has a NaN or an infinity. The text has the
  // node, the number of bad values, the step, and the ranges of the node's inputs.
  absl::Status OnNode(const NodeRun& run) override;
  bool NeedsInputs() const override { return true; }

 private:
  const int64_t step_id_;
  NodeObserver* const next_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_TRACE_NUMERICS_CHECKER_H_
