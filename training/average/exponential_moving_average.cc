#include "training/average/exponential_moving_average.h"

#include <set>

#include "graph/build/scopes.h"
#include "graph/status.h"
#include "ops/math/arithmetic_builders.h"
#include "ops/math/cast_builders.h"
#include "ops/math/power_builders.h"
#include "ops/state/initialized_value.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

bool CanAverage(DataType dtype) {
  return dtype == DT_HALF || dtype == DT_BFLOAT16 || dtype == DT_FLOAT || dtype == DT_DOUBLE;
}

Variable MakeBeside(const Variable& average, std::string_view name, const PartialShape& shape) {
  Graph& graph = average.graph();
  InitScope init(graph);
  NameScope root(graph, "");
  ColocateWith with(graph, average.op());
  return Variable(
      graph, graph.UniqueName(StrCat(average.name(), "/", name), /*mark=*/false), shape, Zeros(),
      {.dtype = average.dtype(), .trainable = false, .use_resource = average.is_resource()});
}

// Returns average - value. As in Python, a variable on the right is read inside the name scope of
// the difference.
Output Difference(const Variable& average, const Operand& value) {
  Graph& graph = average.graph();
  const Output left = average.Read();
  NameScope scope(graph, "sub");
  const Output right = value.In(graph, average.dtype(), "y");
  return Sub(left, right, {.name = scope.prefix()});
}

// Applies the update to `biased`, and sets average = biased / (1 - decay ^ steps).
Operation AssignDebiased(const Variable& average, const Operand& value, Output one_minus_decay,
                         std::string_view name) {
  const Variable biased = MakeBeside(average, "biased", average.shape());
  const Variable local_step = MakeBeside(average, "local_step", PartialShape::Scalar());
  if (!local_step) return {};
  const Operation moved =
      WithValueRead(biased, biased.AssignSub(Difference(biased, value) * one_minus_decay));
  const Operation counted = WithValueRead(local_step, local_step.AssignAdd(1));
  const Output decay = 1 - one_minus_decay;
  Output weight;
  {
    NameScope scope(average.graph(), "Pow");
    weight = Pow(decay, ValueAfter(local_step, counted), {.name = scope.prefix()});
  }
  const Output bias_factor = 1 - weight;
  return WithValueRead(average,
                       average.Assign(ValueAfter(biased, moved) / bias_factor, {.name = name}));
}

}  // namespace

Operation AssignMovingAverage(const Variable& average, Operand value, Output decay,
                              bool zero_debias) {
  if (!average || !decay) return {};
  NameScope scope(average.graph(), "AssignMovingAvg");
  Output one_minus_decay = 1 - decay;
  if (one_minus_decay.dtype() != average.dtype()) {
    one_minus_decay = Cast(one_minus_decay, average.dtype());
  }
  if (zero_debias) return AssignDebiased(average, value, one_minus_decay, scope.prefix());
  const Output change = Difference(average, value) * one_minus_decay;
  // For a resource variable, TensorFlow names the op after its type instead of the scope.
  if (average.is_resource()) return WithValueRead(average, average.AssignSub(change));
  return average.AssignSub(change, {.name = scope.prefix()});
}

struct ExponentialMovingAverage::Subject {
  Variable variable;  // invalid if the subject is a tensor
  Output tensor;      // the variable's handle

  std::pair<const Graph*, std::string> key() const { return {tensor.graph(), tensor.name()}; }
  DataType dtype() const { return variable ? variable.dtype() : BaseType(tensor.dtype()); }
};

ExponentialMovingAverage::ExponentialMovingAverage(HyperParameter decay,
                                                   ExponentialMovingAverageOptions options)
    : decay_(std::move(decay)), options_(std::move(options)) {}

absl::StatusOr<Operation> ExponentialMovingAverage::Apply(const std::vector<Variable>& variables) {
  std::vector<Subject> subjects;
  for (const Variable& v : variables) subjects.push_back({v, v.handle()});
  return Apply(subjects);
}

absl::StatusOr<Operation> ExponentialMovingAverage::Apply(Graph& graph) {
  return Apply(TrainableVariables(graph));
}

absl::StatusOr<Operation> ExponentialMovingAverage::ApplyToTensors(const OutputList& tensors) {
  std::vector<Subject> subjects;
  for (const Output& t : tensors) subjects.push_back({Variable(), t});
  return Apply(subjects);
}

absl::StatusOr<Operation> ExponentialMovingAverage::Apply(const std::vector<Subject>& subjects) {
  SLUICE_INVALID_IF(subjects.empty(), "no variables to average");
  for (const Subject& s : subjects) {
    SLUICE_INVALID_IF(!s.tensor, "a variable to average is not valid");
    SLUICE_RETURN_IF_ERROR(s.tensor.graph()->status());
    if (CanAverage(s.dtype())) continue;
    return InvalidArgument("The variables must be half, float, or double: ", s.tensor.name());
  }
  Graph& graph = *subjects[0].tensor.graph();
  std::set<const Subject*> fresh;
  for (const Subject& s : subjects) {
    if (averages_.contains(s.key())) continue;
    MakeAverage(s);
    fresh.insert(&s);
  }
  NameScope scope(graph, options_.name);
  const Output decay = Decay(graph);
  std::vector<Operation> updates;
  for (const Subject& s : subjects) {
    const Variable& average = averages_[s.key()];
    const bool debias = options_.zero_debias && !s.variable && fresh.contains(&s);
    const Operand value = s.variable ? Operand(s.variable) : Operand(s.tensor);
    updates.push_back(AssignMovingAverage(average, value, decay, debias));
  }
  const Operation all = Group(graph, updates, scope.prefix());
  SLUICE_RETURN_IF_ERROR(graph.status());
  return all;
}

void ExponentialMovingAverage::MakeAverage(const Subject& subject) {
  Graph& graph = *subject.tensor.graph();
  InitScope init(graph);
  if (!subject.variable) {
    const SlotOwner owner(subject.tensor, options_.use_resource);
    averages_[subject.key()] = CreateZerosSlot(owner, options_.name);
    return;
  }
  Output value;
  {
    DeviceScope beside(graph, subject.variable.device());
    value = InitializedValue(subject.variable);
  }
  averages_[subject.key()] = CreateSlot(subject.variable, value, options_.name);
  graph.AddToCollection(kMovingAverageVariables, subject.tensor.name());
}

Output ExponentialMovingAverage::Decay(Graph& graph) const {
  const Output decay = decay_.In(graph, "decay");
  if (!options_.num_updates) return decay;
  Output n;
  {
    NameScope scope(graph, "num_updates");
    n = options_.num_updates->In(graph, "x");
    if (BaseType(n.dtype()) != DT_FLOAT) n = Cast(n, DT_FLOAT, {.name = scope.prefix()});
  }
  const Output one_more = 1 + n;
  return Minimum(decay, one_more / (10 + n));
}

std::optional<Variable> ExponentialMovingAverage::Average(const Variable& variable) const {
  return Average(variable.handle());
}

std::optional<Variable> ExponentialMovingAverage::Average(Output tensor) const {
  auto it = averages_.find({tensor.graph(), tensor.name()});
  return it == averages_.end() ? std::nullopt : std::optional<Variable>(it->second);
}

std::string ExponentialMovingAverage::AverageName(const Variable& variable) const {
  if (std::optional<Variable> average = Average(variable)) return average->name();
  Graph& graph = variable.graph();
  return graph.UniqueName(StrCat(graph.scopes().name, variable.name(), "/", options_.name),
                          /*mark=*/false);
}

std::map<std::string, Variable> ExponentialMovingAverage::VariablesToRestore(
    Graph& graph, const std::optional<std::vector<Variable>>& averaged) const {
  std::vector<Variable> with_average = averaged.value_or(TrainableVariables(graph));
  if (!averaged) {
    for (const Variable& v : Variables(graph, kMovingAverageVariables)) with_average.push_back(v);
  }
  std::map<std::string, Variable> by_name;
  std::set<std::string> covered;
  for (const Variable& v : with_average) {
    by_name.emplace(AverageName(v), v);
    covered.insert(v.name());
  }
  for (const Variable& v : GlobalVariables(graph)) {
    if (!covered.contains(v.name())) by_name.emplace(v.name(), v);
  }
  return by_name;
}

}  // namespace sluice
