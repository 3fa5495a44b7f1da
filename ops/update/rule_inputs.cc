#include "ops/update/rule_inputs.h"

#include <string>

#include "graph/op/op_def.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Converts a scalar to double. Supports only real types and int64, because no other scalars have a
// restricted domain.
double ScalarAsDouble(const Tensor& t) {
  switch (t.dtype()) {
    case DT_HALF:
      return static_cast<float>(t.scalar<half>());
    case DT_BFLOAT16:
      return static_cast<float>(t.scalar<bfloat16>());
    case DT_FLOAT:
      return t.scalar<float>();
    case DT_DOUBLE:
      return t.scalar<double>();
    case DT_INT64:
      return static_cast<double>(t.scalar<int64_t>());
    default:
      return 0;
  }
}

bool InDomain(ScalarCheck::Domain domain, const Tensor& t) {
  switch (domain) {
    case ScalarCheck::kAny:
      return true;
    case ScalarCheck::kPositive:
      return ScalarAsDouble(t) > 0;
    case ScalarCheck::kNonNegative:
      return ScalarAsDouble(t) >= 0;
    case ScalarCheck::kNonPositive:
      return ScalarAsDouble(t) <= 0;
  }
  return true;
}

// Returns the beginning of an error message, such as "l2 shrinkage regularization strength is not a
// non-negative scalar: ".
std::string MessageOf(const ScalarCheck& check, std::string_view input) {
  if (!check.message.empty()) return std::string(check.message);
  constexpr const char* kDomains[] = {"", "positive ", "non-negative ", "non-positive "};
  std::string noun(input);
  if (input == "l2_shrinkage") noun = "l2 shrinkage";
  if (input.starts_with("l1") || input.starts_with("l2")) noun += " regularization strength";
  return StrCat(noun, " is not a ", kDomains[check.domain], "scalar: ");
}

}  // namespace

RuleInputs::RuleInputs(const UpdateRule& rule, const OpDef& def, std::string_view rows)
    : rule_(rule), rows_(def.InputIndex(rows)) {
  for (int i = 0; i < rule.num_inputs(); ++i) {
    const UpdateInput& input = rule.inputs[i];
    positions_[i] = def.InputIndex(input.is_gradient() && rows_ >= 0 ? "grad" : input.name);
    if (input.is_gradient()) gradient_ = positions_[i];
  }
}

absl::Status RuleInputs::ReadScalars(const KernelContext& c, UpdateData* data) const {
  for (int i = 0; i < rule_.num_inputs(); ++i) {
    const UpdateInput& input = rule_.inputs[i];
    if (input.is_gradient()) continue;
    const ScalarCheck& check = rows_ >= 0 ? input.sparse : input.dense;
    const Tensor& t = c.input(positions_[i]);
    SLUICE_INVALID_IF(!t.shape().IsScalar() || !InDomain(check.domain, t),
                      MessageOf(check, input.name), t.shape().ToString());
    data->scalars[i] = t.raw();
  }
  return absl::OkStatus();
}

}  // namespace sluice
