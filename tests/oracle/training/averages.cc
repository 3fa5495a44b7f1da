// Exponential moving averages.
#include "graph/status.h"
#include "tests/oracle/training/examples.h"
#include "training/average/exponential_moving_average.h"

namespace sluice {
namespace {

Operation Apply(Graph& g, absl::StatusOr<Operation> op) {
  if (op.ok()) return *op;
  g.SetError(op.status());
  return {};
}

void OfVariables(Graph& g, Spec& spec, bool use_resource, bool count) {
  const VariableOptions how = {.trainable = true, .use_resource = use_resource};
  Variable w(g, "w", Tensor::Vector<float>({1, 2}), how);
  Variable d(g, "deep/d", Tensor::Scalar(3.0), how);
  Variable step(g, "step", Tensor::Scalar<int64_t>(0),
                {.trainable = false, .use_resource = use_resource});
  ExponentialMovingAverageOptions options;
  if (count) options.num_updates = step;
  ExponentialMovingAverage average(0.9, options);
  spec.facts = {"before " + average.AverageName(w)};
  const Operation follow = Apply(g, average.Apply({w, d}));
  spec.facts.push_back("after " + average.AverageName(w) + " " + average.AverageName(step));
  for (const auto& [name, v] : average.VariablesToRestore(g)) {
    spec.facts.push_back(StrCat("restore ", name, " ", v.name()));
  }
  const Operation more = w.AssignAdd(Constant(g, {0.5f, -0.25f}), {.name = "more_w"});
  const Operation deeper = d.AssignAdd(Constant(g, 0.125), {.name = "more_d"});
  const Operation count_op = step.AssignAdd(Constant(g, int64_t{1}), {.name = "count"});
  spec.WatchVariables(g);
  spec.targets = {more, deeper, count_op};
  spec.after = {follow};
}

void OfTensors(Graph& g, Spec& spec, bool use_resource, bool zero_debias) {
  Variable w(g, "w", Tensor::Vector<float>({1, 2}), {.use_resource = use_resource});
  const Output x = Identity(w.snapshot() * 2, {.name = "x"});
  const Output y = Cast(w.snapshot(), DT_DOUBLE, {.name = "y"});
  ExponentialMovingAverage average(
      0.75, {.zero_debias = zero_debias, .use_resource = use_resource, .name = "Mean"});
  const Operation follow = Apply(g, average.ApplyToTensors({x, y}));
  const Operation more = w.AssignAdd(Constant(g, {0.5f, -0.25f}), {.name = "more_w"});
  spec.WatchVariables(g);
  spec.targets = {more};
  spec.after = {follow};
}

}  // namespace

std::vector<Example> AverageExamples() {
  std::vector<Example> examples;
  for (const bool resource : {false, true}) {
    for (const bool flag : {false, true}) {
      const std::string kind = StrCat(resource ? "_resource" : "_ref", flag ? "_on" : "_off");
      examples.push_back({"variables" + kind,
                          [=](Graph& g, Spec& spec) { OfVariables(g, spec, resource, flag); }});
      examples.push_back(
          {"tensors" + kind, [=](Graph& g, Spec& spec) { OfTensors(g, spec, resource, flag); }});
    }
  }
  return examples;
}

}  // namespace sluice
