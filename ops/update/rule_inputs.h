// Finds the inputs of an op that applies an update rule: the gradient, the numbers of the rows to
// update (for ops that update rows), and scalars.
//
// Thread safety: constant after construction.
#ifndef SLUICE_OPS_UPDATE_RULE_INPUTS_H_
#define SLUICE_OPS_UPDATE_RULE_INPUTS_H_

#include <array>
#include <string_view>

#include "absl/status/status.h"
#include "executor/kernel/context.h"
#include "graph/op/op_def.h"
#include "ops/update/update_kernel.h"

namespace sluice {

class RuleInputs {
 public:
  // `rows` is the name of the input that lists the rows to update ("indices"). It is empty for ops
  // that update all rows.
  RuleInputs(const UpdateRule& rule, const OpDef& def, std::string_view rows);

  // Positions in the op's inputs. rows() is -1 if the op updates all rows.
  int gradient() const { return gradient_; }
  int rows() const { return rows_; }

  // Points data->scalars to the scalars. INVALID_ARGUMENT with TensorFlow's texts if one has the
  // wrong shape or is out of its domain.
  absl::Status ReadScalars(const KernelContext& c, UpdateData* data) const;

 private:
  const UpdateRule& rule_;
  const int rows_;
  int gradient_ = -1;
  std::array<int, UpdateRule::kInputsMax> positions_ = {};  // of the rule's inputs in the op's
};

}  // namespace sluice

#endif  // SLUICE_OPS_UPDATE_RULE_INPUTS_H_
