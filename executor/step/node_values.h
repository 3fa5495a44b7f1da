// What happens to a node's values once it has run.
#ifndef SLUICE_EXECUTOR_STEP_NODE_VALUES_H_
#define SLUICE_EXECUTOR_STEP_NODE_VALUES_H_

#include "executor/step/iteration.h"
#include "graph/status.h"

namespace sluice {

// Drops what nobody reads after the node. Small buffers stay for the next values in the same slots.
inline void Release(Iteration& it, const PlanNode& node) {
  const uint32_t* slot = it.body->releases.data() + node.first_release;
  for (int i = 0; i < node.num_releases; ++i) it.slots[slot[i]].tensor.Retire();
}

// INTERNAL where a kernel did not set an output, or set one of another type.
inline absl::Status CheckOutputs(const PlanNode& node, const Value* outputs) {
  for (int i = 0; i < node.num_outputs; ++i) {
    const Value& out = outputs[i];
    if (out.tensor.dtype() == node.output_types[i]) [[likely]] {
      continue;
    }
    if (out.ref != nullptr || out.is_dead) continue;
    if (out.tensor.dtype() == DT_INVALID) {
      return absl::InternalError(
          StrCat("Missing ", i, "-th output from {{node ", node.node->name(), "}}"));
    }
    return absl::InternalError(StrCat(node.node->Describe(), ": output ", i, " declared as ",
                                      DataTypeName(node.output_types[i]), ", got ",
                                      DataTypeName(out.tensor.dtype())));
  }
  return absl::OkStatus();
}

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_STEP_NODE_VALUES_H_
