#include "training/optimizer/ftrl.h"

#include <fmt/format.h>

#include "graph/build/scopes.h"
#include "graph/status.h"
#include "ops/math/arithmetic_builders.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

// Formats a number like Python's %f.
std::string Text(double value) { return fmt::format("{:f}", value); }

absl::Status CheckAtLeastZero(std::string_view what, double value) {
  if (value >= 0) return absl::OkStatus();
  return InvalidArgument(what, " ", Text(value), " needs to be positive or zero");
}

absl::Status CheckFtrlOptions(const FtrlOptions& o) {
  SLUICE_RETURN_IF_ERROR(
      CheckAtLeastZero("initial_accumulator_value", o.initial_accumulator_value));
  SLUICE_INVALID_IF(o.learning_rate_power > 0, "learning_rate_power ", Text(o.learning_rate_power),
                    " needs to be negative or zero");
  SLUICE_RETURN_IF_ERROR(
      CheckAtLeastZero("l1_regularization_strength", o.l1_regularization_strength));
  SLUICE_RETURN_IF_ERROR(
      CheckAtLeastZero("l2_regularization_strength", o.l2_regularization_strength));
  return CheckAtLeastZero("l2_shrinkage_regularization_strength",
                          o.l2_shrinkage_regularization_strength);
}

Initializer ScaledOnes(double value) {
  return [value](Graph& graph, const TensorShape& shape, DataType dtype) {
    return Ones(graph, shape, dtype) * value;
  };
}

}  // namespace

Ftrl::Ftrl(FtrlOptions options)
    : RuleOptimizer(options.l2_shrinkage_regularization_strength > 0 ? kFtrlV2 : kFtrl, options,
                    {{.slot = "accum",
                      .initializer = ScaledOnes(options.initial_accumulator_value),
                      .variable_name = options.accum_name,
                      .table_value = options.initial_accumulator_value},
                     {.slot = "linear", .variable_name = options.linear_name}},
                    {{"lr", options.learning_rate, "learning_rate"},
                     {"l1", options.l1_regularization_strength, "l1_regularization_strength"}}),
      options_(std::move(options)) {
  SetInvalid(CheckFtrlOptions(options_));
}

void Ftrl::Prepare(Graph& graph) {
  RuleOptimizer::Prepare(graph);
  // The op has no input beta, so beta becomes a part of the penalty: l2 + beta / (2 * rate).
  Output rate;
  {
    NameScope scope(graph, "Maximum");
    const bool is_number = options_.learning_rate.constant().has_value();
    const Output x = is_number ? options_.learning_rate.In(graph, "x") : scalar("lr").tensor;
    const Output y = Constant(graph, 1e-36, x.dtype(), "y");
    rate = Maximum(x, y, {.name = scope.prefix()});
  }
  const Output doubled = 2 * rate;
  const Output beta = options_.beta / doubled;
  SetScalar("l2", options_.l2_regularization_strength + beta);
  Constant(graph, options_.beta, "beta");  // unused, but a node of TensorFlow's graph
  SetScalar("l2_shrinkage", Constant(graph, options_.l2_shrinkage_regularization_strength,
                                     "l2_shrinkage_regularization_strength"));
  SetScalar("lr_power", Constant(graph, options_.learning_rate_power, "learning_rate_power"));
}

}  // namespace sluice
