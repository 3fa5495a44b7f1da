#include "training/optimizer/optimizer.h"

#include <cstdio>

#include "absl/strings/str_join.h"
#include "graph/build/scopes.h"
#include "graph/status.h"
#include "ops/builders/ops.h"
#include "ops/builders/sugar.h"

namespace sluice {
namespace {

std::string NamesOf(const std::vector<Variable>& vars) {
  return absl::StrJoin(
      vars, ", ", [](std::string* out, const Variable& v) { StrAppend(out, "'", v.name(), "'"); });
}

std::vector<Variable> VariablesOf(const GradientsAndVariables& grads_and_vars, bool with_gradient) {
  std::vector<Variable> vars;
  for (const GradientAndVariable& gv : grads_and_vars) {
    if (!with_gradient || !gv.grad.is_none()) vars.push_back(gv.var);
  }
  return vars;
}

}  // namespace

Optimizer::Optimizer(std::string name, bool use_locking)
    : name_(std::move(name)), use_locking_(use_locking) {}

absl::Status Optimizer::CheckDtypes(const std::vector<Variable>& vars) const {
  const TypeSet valid = ValidDtypes();
  for (const Variable& v : vars) {
    if (valid.contains(v.dtype())) continue;
    return InvalidArgument("Invalid type ", DataTypeName(v.dtype()), " for ", v.name(),
                           ":0, expected: ", valid.ToString(), ".");
  }
  return absl::OkStatus();
}

absl::StatusOr<GradientsAndVariables> Optimizer::ComputeGradients(
    Output loss, const ComputeGradientsOptions& options) {
  if (!loss) return InvalidArgument("the loss is not a tensor of a valid graph");
  Graph& graph = *loss.graph();
  SLUICE_RETURN_IF_ERROR(graph.status());
  std::vector<Variable> vars = options.var_list;
  if (vars.empty()) vars = TrainableVariables(graph);
  if (vars.empty()) return InvalidArgument("No variables to optimize.");
  OutputList targets;
  for (const Variable& v : vars) targets.push_back(v.handle());
  GradientOptions how;
  if (options.grad_loss) how.grad_ys = {options.grad_loss};
  how.gate_gradients = options.gate == Gate::kOp;
  how.aggregation = options.aggregation;
  how.colocate_gradients_with_ops = options.colocate_gradients_with_ops;
  SLUICE_ASSIGN_OR_RETURN(std::vector<Grad> grads, Gradients({loss}, targets, how));
  if (options.gate == Gate::kGraph) GateTogether(graph, grads);
  GradientsAndVariables pairs;
  for (size_t i = 0; i < vars.size(); ++i) pairs.push_back({grads[i], vars[i]});
  SLUICE_RETURN_IF_ERROR(CheckDtypes(VariablesOf(pairs, /*with_gradient=*/true)));
  return pairs;
}

absl::StatusOr<Operation> Optimizer::ApplyGradients(const GradientsAndVariables& grads_and_vars,
                                                    const ApplyGradientsOptions& options) {
  if (name_.empty()) return InvalidArgument("Must specify the optimizer name");
  if (grads_and_vars.empty()) return InvalidArgument("No variables provided.");
  const std::vector<Variable> vars = VariablesOf(grads_and_vars, /*with_gradient=*/true);
  if (vars.empty()) {
    return InvalidArgument("No gradients provided for any variable: [",
                           NamesOf(VariablesOf(grads_and_vars, false)), "].");
  }
  Graph& graph = vars[0].graph();
  {
    InitScope init(graph);
    CreateSlots(vars);
  }
  SLUICE_ASSIGN_OR_RETURN(Operation train, Apply(graph, grads_and_vars, options));
  SLUICE_RETURN_IF_ERROR(graph.status());
  graph.AddToCollection("train_op", train.name());
  return train;
}

absl::StatusOr<Operation> Optimizer::Apply(Graph& graph,
                                           const GradientsAndVariables& grads_and_vars,
                                           const ApplyGradientsOptions& options) {
  NameScope scope(graph, options.name.empty() ? name_ : options.name);
  Prepare(graph);
  std::vector<Operation> updates;
  for (const GradientAndVariable& gv : grads_and_vars) {
    if (!gv.grad.is_none()) updates.push_back(Update(gv));
  }
  if (options.global_step == nullptr) return Finish(graph, updates, scope.prefix());
  const Variable& step = *options.global_step;
  ControlDependencies after(graph, {Finish(graph, updates, "update")});
  ColocateWith with(graph, step.op());
  const Output one = Constant(graph, 1, step.dtype(), "value");
  return step.AssignAdd(one, {.name = scope.prefix()});
}

Operation Optimizer::Update(const GradientAndVariable& gv) {
  Graph& graph = gv.var.graph();
  NameScope scope(graph, StrCat("update_", gv.var.op().name()));
  ColocateWith with(graph, gv.var.op());
  if (gv.grad.is_dense()) return ApplyDense(gv.grad.dense(), gv.var);
  return ApplySparseDuplicateIndices(gv.grad.slices(), gv.var);
}

Operation Optimizer::ApplySparseDuplicateIndices(const IndexedSlices& grad, const Variable& var) {
  return ApplySparse(SumDuplicateIndices(grad), var);
}

Operation Optimizer::Finish(Graph& graph, const std::vector<Operation>& updates,
                            std::string_view name) {
  return Group(graph, updates, name);
}

Operation Optimizer::Minimize(Output loss, const MinimizeOptions& options) {
  if (!loss) return {};
  Graph& graph = *loss.graph();
  auto minimize = [&]() -> absl::StatusOr<Operation> {
    SLUICE_ASSIGN_OR_RETURN(
        GradientsAndVariables pairs,
        ComputeGradients(loss, {.var_list = options.var_list,
                                .gate = options.gate,
                                .aggregation = options.aggregation,
                                .colocate_gradients_with_ops = options.colocate_gradients_with_ops,
                                .grad_loss = options.grad_loss}));
    const std::vector<Variable> all = VariablesOf(pairs, false);
    const size_t reached = VariablesOf(pairs, true).size();
    if (reached == 0) {
      return InvalidArgument(
          "No gradients provided for any variable, check your graph for ops that do not support "
          "gradients, between variables [",
          NamesOf(all), "] and loss ", loss.name(), ".");
    }
    if (reached < all.size()) {
      if (options.strict) return InvalidArgument(UnreachedMessage(pairs, loss));
      std::fprintf(stderr, "warning: %s\n", UnreachedMessage(pairs, loss).c_str());
    }
    return ApplyGradients(pairs, {.global_step = options.global_step, .name = options.name});
  };
  absl::StatusOr<Operation> train = minimize();
  if (train.ok()) return *train;
  graph.SetError(train.status());
  return {};
}

std::string Optimizer::UnreachedMessage(const GradientsAndVariables& pairs, Output loss) {
  std::vector<Variable> unreached;
  for (const GradientAndVariable& gv : pairs) {
    if (gv.grad.is_none()) unreached.push_back(gv.var);
  }
  return StrCat("loss '", loss.name(), "' does not reach ", unreached.size(),
                " variable(s), which will not be trained: ", NamesOf(unreached));
}

std::optional<Variable> Optimizer::GetSlot(const Variable& var, std::string_view slot_name) const {
  auto slots = slots_.find(slot_name);
  if (slots == slots_.end()) return std::nullopt;
  auto slot = slots->second.find({&var.graph(), var.name()});
  if (slot == slots->second.end()) return std::nullopt;
  return slot->second;
}

std::vector<std::string> Optimizer::GetSlotNames() const {
  std::vector<std::string> names;
  for (const auto& [name, slots] : slots_) names.push_back(name);
  return names;
}

std::vector<Variable> Optimizer::Variables() const {
  std::map<std::string, Variable> by_name;
  for (const auto& [slot, vars] : slots_) {
    for (const auto& [key, v] : vars) by_name.emplace(v.name(), v);
  }
  for (const auto& [key, v] : non_slots_) by_name.emplace(v.name(), v);
  std::vector<Variable> all;
  for (auto& [name, v] : by_name) all.push_back(v);
  return all;
}

Variable Optimizer::SlotWithInitializer(const Variable& var, const Initializer& initializer,
                                        std::string_view slot_name, std::string_view op_name) {
  if (std::optional<Variable> made = GetSlot(var, slot_name)) return *made;
  Graph& graph = var.graph();
  NameScope root(graph, "");
  ColocateWith with(graph, var.op());
  Variable slot(graph, graph.UniqueName(StrCat(var.op().name(), "/", op_name), /*mark=*/false),
                var.shape(), initializer,
                {.dtype = var.dtype(), .trainable = false, .use_resource = var.is_resource()});
  slots_[std::string(slot_name)].emplace(std::make_pair(&graph, var.name()), slot);
  return slot;
}

Variable Optimizer::ZerosSlot(const Variable& var, std::string_view slot_name,
                              std::string_view op_name) {
  return SlotWithInitializer(var, Zeros(), slot_name, op_name);
}

Variable Optimizer::NonSlotVariable(float initial_value, std::string_view name,
                                    const Variable& with) {
  Graph& graph = with.graph();
  if (std::optional<Variable> made = GetNonSlotVariable(name, graph)) return *made;
  NameScope root(graph, "");
  ColocateWith colocated(graph, with.op());
  Variable v(graph, graph.UniqueName(name, /*mark=*/false), PartialShape::Scalar(),
             ConstantInit(initial_value),
             {.dtype = with.dtype(), .trainable = false, .use_resource = with.is_resource()});
  non_slots_.emplace(std::make_pair(&graph, std::string(name)), v);
  return v;
}

std::optional<Variable> Optimizer::GetNonSlotVariable(std::string_view name,
                                                      const Graph& graph) const {
  auto it = non_slots_.find({&graph, std::string(name)});
  if (it == non_slots_.end()) return std::nullopt;
  return it->second;
}

Output Optimizer::CastTo(Output value, const Variable& var) const {
  return BaseType(value.dtype()) == var.dtype() ? value : Cast(value, var.dtype());
}

IndexedSlices SumDuplicateIndices(const IndexedSlices& grad) {
  UniqueOutputs unique = Unique(grad.indices);
  const Output rows = ElementAt(Shape(unique.y), 0);
  return {.values = UnsortedSegmentSum(grad.values, unique.idx, rows),
          .indices = unique.y,
          .dense_shape = grad.dense_shape};
}

}  // namespace sluice
