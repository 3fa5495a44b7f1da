#include "training/optimizer/group_lasso.h"

#include "graph/status.h"
#include "ops/embedding/embedding_table.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

template <typename Options>
absl::Status CheckStrengths(const Options& o) {
  for (const auto& [option, value] :
       {std::pair{"l1_regularization_strength", o.l1_regularization_strength},
        {"l2_regularization_strength", o.l2_regularization_strength},
        {"l21_regularization_strength", o.l21_regularization_strength}}) {
    SLUICE_INVALID_IF(!(value >= 0), option, " ", value, " needs to be positive or zero");
  }
  return absl::OkStatus();
}

absl::Status CheckGroupFtrl(const GroupFtrlOptions& o) {
  SLUICE_INVALID_IF(o.learning_rate_power > 0, "learning_rate_power ", o.learning_rate_power,
                    " needs to be negative or zero");
  SLUICE_INVALID_IF(!(o.initial_accumulator_value >= 0), "initial_accumulator_value ",
                    o.initial_accumulator_value, " needs to be positive or zero");
  return CheckStrengths(o);
}

}  // namespace

GroupFtrl::GroupFtrl(const GroupFtrlOptions& options)
    : RuleOptimizer(kGroupFtrl, options,
                    {{.slot = "accum", .constant = options.initial_accumulator_value}, {"linear"}},
                    {{"lr", options.learning_rate, "learning_rate"},
                     {"l1", options.l1_regularization_strength, "l1_regularization_strength"},
                     {"l2", options.l2_regularization_strength, "l2_regularization_strength"},
                     {"l21", options.l21_regularization_strength, "l21_regularization_strength"},
                     {"lr_power", options.learning_rate_power, "learning_rate_power"}}) {
  SetInvalid(CheckGroupFtrl(options));
}

GroupAdam::GroupAdam(const GroupAdamOptions& options) : MomentOptimizer(kGroupAdam, options) {
  AddScalar({"l1", options.l1_regularization_strength, "l1_regularization_strength"});
  AddScalar({"l2", options.l2_regularization_strength, "l2_regularization_strength"});
  AddScalar({"l21", options.l21_regularization_strength, "l21_regularization_strength"});
  SetInvalid(CheckStrengths(options));
}

void GroupAdam::CreateSlots(const std::vector<Variable>& vars) {
  MomentOptimizer::CreateSlots(vars);
  for (const Variable& var : vars) {
    if (!IsEmbeddingTable(var)) ZerosSlot(var, "linear", name());
  }
}

}  // namespace sluice
