#include "training/optimizer/optimizer.h"

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_join.h"
#include "graph/build/scopes.h"
#include "graph/status.h"
#include "ops/array/shape_builders.h"
#include "ops/embedding/embedding_table.h"
#include "ops/indexing/unique_builders.h"
#include "ops/math/cast_builders.h"
#include "ops/reduce/segment_builders.h"
#include "ops/sugar.h"
#include "training/optimizer/slot.h"

namespace sluice {
namespace {

std::string NamesOf(const std::vector<Variable>& vars) {
  return absl::StrJoin(
      vars, ", ", [](std::string* out, const Variable& v) { StrAppend(out, "'", v.name(), "'"); });
}

std::vector<Variable> VariablesOf(const GradientsAndVariables& grads_and_vars) {
  std::vector<Variable> vars;
  for (const GradientAndVariable& gv : grads_and_vars) vars.push_back(gv.var);
  return vars;
}

std::string PythonName(DataType t) {
  switch (t) {
    case DT_HALF:
      return "tf.float16";
    case DT_FLOAT:
      return "tf.float32";
    case DT_DOUBLE:
      return "tf.float64";
    default:
      return StrCat("tf.", DataTypeName(t));
  }
}

absl::Status CheckIn(const std::vector<DataType>& valid, DataType dtype, const std::string& name) {
  if (std::find(valid.begin(), valid.end(), dtype) != valid.end()) return absl::OkStatus();
  const std::string expected =
      absl::StrJoin(valid, ", ", [](std::string* out, DataType t) { *out += PythonName(t); });
  return InvalidArgument("Invalid type ", PythonName(dtype), " for ", name, ", expected: [",
                         expected, "].");
}

std::vector<Variable> TrainedByDefault(const Graph& graph) {
  std::vector<Variable> vars = TrainableVariables(graph);
  for (const Variable& v : Variables(graph, "trainable_resource_variables")) vars.push_back(v);
  for (const Variable& table : Variables(graph, kEmbeddingTables)) {
    if (table.trainable()) vars.push_back(table);
  }
  return vars;
}

// Appends the ports of models that are trained elsewhere, so that gradients with respect to them
// are computed too.
absl::Status AppendPorts(const Graph& graph, std::vector<Variable>& vars) {
  for (const std::string& name : graph.Collection("streaming_model_ports")) {
    SLUICE_ASSIGN_OR_RETURN(const Output port, graph.FindOutput(name));
    SLUICE_INVALID_IF(port.node->num_outputs() == 0, "collection 'streaming_model_ports': node '",
                      port.node->name(), "' has no outputs");
    vars.push_back(VariableOfTensor(port));
  }
  return absl::OkStatus();
}

Operation AddOne(const Variable& step, std::string_view name) {
  const Output one = Constant(step.graph(), 1, step.dtype(), step.is_resource() ? "" : "value");
  return step.AssignAdd(one, {.name = name});
}

}  // namespace

Optimizer::Optimizer(std::string name, bool use_locking)
    : name_(std::move(name)), use_locking_(use_locking) {
  if (name_.empty()) SetInvalid(InvalidArgument("Must specify the optimizer name"));
}

absl::Status Optimizer::CheckDtype(Output tensor) const {
  return CheckIn(ValidDtypes(), BaseType(tensor.dtype()), tensor.name());
}

absl::Status Optimizer::CheckOptions(const ComputeGradientsOptions& options) const {
  SLUICE_RETURN_IF_ERROR(invalid_);
  const int gate = static_cast<int>(options.gate);
  if (gate >= static_cast<int>(Gate::kNone) && gate <= static_cast<int>(Gate::kGraph)) {
    return absl::OkStatus();
  }
  return InvalidArgument(
      "gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, "
      "Optimizer.GATE_GRAPH.  Not ",
      gate);
}

absl::StatusOr<GradientsAndVariables> Optimizer::ComputeGradients(
    Output loss, const ComputeGradientsOptions& options) {
  SLUICE_RETURN_IF_ERROR(CheckOptions(options));
  SLUICE_INVALID_IF(!loss || loss.index < 0 || loss.index >= loss.node->num_outputs(),
                    "the loss is not a tensor of a valid graph");
  SLUICE_RETURN_IF_ERROR(loss.graph()->status());
  SLUICE_RETURN_IF_ERROR(CheckDtype(loss));
  if (options.grad_loss) SLUICE_RETURN_IF_ERROR(CheckDtype(options.grad_loss));
  const Strategy* strategy = CurrentStrategy().strategy;
  if (strategy != nullptr && strategy->num_replicas() > 1 &&
      strategy->loss_reduction() == ReduceOp::kMean) {
    loss = loss * (1.0 / strategy->num_replicas());
  }
  return Differentiate(loss, options);
}

absl::StatusOr<GradientsAndVariables> Optimizer::Differentiate(
    Output loss, const ComputeGradientsOptions& options) {
  Graph& graph = *loss.graph();
  std::vector<Variable> vars = options.var_list;
  if (vars.empty()) vars = TrainedByDefault(graph);
  SLUICE_RETURN_IF_ERROR(AppendPorts(graph, vars));
  std::vector<std::unique_ptr<VariableProcessor>> processors;
  OutputList targets;
  for (const Variable& v : vars) {
    SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<VariableProcessor> processor, ProcessorOf(v));
    targets.push_back(processor->Target());
    processors.push_back(std::move(processor));
  }
  SLUICE_INVALID_IF(vars.empty(), "No variables to optimize.");
  GradientOptions how;
  if (options.grad_loss) how.grad_ys = {options.grad_loss};
  how.gate_gradients = options.gate == Gate::kOp;
  how.aggregation = options.aggregation;
  how.colocate_gradients_with_ops = options.colocate_gradients_with_ops;
  SLUICE_ASSIGN_OR_RETURN(std::vector<Grad> grads, Gradients({loss}, targets, how));
  if (options.gate == Gate::kGraph) GateTogether(graph, grads);
  GradientsAndVariables pairs;
  for (size_t i = 0; i < vars.size(); ++i) {
    pairs.push_back({grads[i], vars[i]});
    if (grads[i].is_none()) continue;
    // The type of a resource is that of its variable, not of its handle.
    const bool by_handle = targets[i].dtype() == DT_RESOURCE;
    if (by_handle && !vars[i].is_resource()) continue;
    const DataType dtype = by_handle ? vars[i].dtype() : BaseType(targets[i].dtype());
    SLUICE_RETURN_IF_ERROR(CheckIn(ValidDtypes(), dtype, targets[i].name()));
  }
  return pairs;
}

absl::StatusOr<Operation> Optimizer::ApplyGradients(const GradientsAndVariables& grads_and_vars,
                                                    const ApplyGradientsOptions& options) {
  SLUICE_RETURN_IF_ERROR(invalid_);
  if (InCrossReplicaContext()) {
    return absl::FailedPreconditionError(
        "Use `_distributed_apply()` instead of `apply_gradients()` in a cross-replica context.");
  }
  SLUICE_INVALID_IF(grads_and_vars.empty(), "No variables provided.");
  GradientsAndVariables pairs;
  for (const GradientAndVariable& gv : grads_and_vars) {
    SLUICE_RETURN_IF_ERROR(ProcessorOf(gv.var).status());
    if (!gv.grad.is_none()) pairs.push_back(gv);
  }
  SLUICE_INVALID_IF(pairs.empty(), "No gradients provided for any variable: [",
                    NamesOf(VariablesOf(grads_and_vars)), "].");
  if (HasStrategy()) return MergeReplicas(pairs, options);
  Graph& graph = pairs[0].var.graph();
  const auto update_all = [&]() -> absl::StatusOr<std::vector<Operation>> {
    std::vector<Operation> updates;
    for (const GradientAndVariable& gv : pairs) {
      SLUICE_ASSIGN_OR_RETURN(const Operation update, UpdateOne(gv.var, gv.grad));
      updates.push_back(update);
    }
    return updates;
  };
  const auto increment = [&](const Variable& step,
                             std::string_view name) -> absl::StatusOr<Operation> {
    ColocateWith with(graph, step.op());
    return AddOne(step, name);
  };
  return BuildTrainOp(graph, VariablesOf(pairs), options, update_all, increment);
}

absl::StatusOr<Operation> Optimizer::BuildTrainOp(Graph& graph, const std::vector<Variable>& vars,
                                                  const ApplyGradientsOptions& options,
                                                  UpdateAll update_all, Increment increment) {
  {
    InitScope init(graph);
    CreateSlots(vars);
  }
  NameScope scope(graph, options.name.empty() ? name_ : options.name);
  global_step_ = options.global_step;
  step_of_update_ = Output();
  Prepare(graph);
  SLUICE_ASSIGN_OR_RETURN(const std::vector<Operation> updates, update_all());
  if (options.global_step == nullptr) {
    return Record(graph, Finish(graph, updates, scope.prefix()));
  }
  ControlDependencies after(graph, {Finish(graph, updates, "update")});
  SLUICE_ASSIGN_OR_RETURN(const Operation train, increment(*options.global_step, scope.prefix()));
  return Record(graph, train);
}

absl::StatusOr<Operation> Optimizer::UpdateOne(const Variable& var, const Grad& grad) {
  SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<VariableProcessor> processor, ProcessorOf(var));
  const Operation op = processor->variable().op();
  NameScope scope(*op.node->graph(), StrCat("update_", op.name()));
  ColocateWith with(*op.node->graph(), op);
  return processor->UpdateOp(*this, grad);
}

absl::StatusOr<Operation> Optimizer::Record(Graph& graph, Operation train) const {
  SLUICE_RETURN_IF_ERROR(graph.status());
  const std::vector<std::string>& recorded = graph.collections()["train_op"];
  if (std::find(recorded.begin(), recorded.end(), train.name()) == recorded.end()) {
    graph.AddToCollection("train_op", train.name());
  }
  return train;
}

absl::StatusOr<Operation> Optimizer::MergeReplicas(const GradientsAndVariables& grads_and_vars,
                                                   const ApplyGradientsOptions& options) {
  auto merge = [this, &options](
                   Strategy& strategy,
                   const PerReplica<std::any>& arguments) -> absl::StatusOr<PerReplica<std::any>> {
    std::vector<GradientsAndVariables> replicas;
    for (const std::any& a : arguments) {
      replicas.push_back(std::any_cast<GradientsAndVariables>(a));
    }
    SLUICE_ASSIGN_OR_RETURN(const Operation train, ApplyDistributed(strategy, replicas, options));
    return PerReplica<std::any>(replicas.size(), std::any(train));
  };
  SLUICE_ASSIGN_OR_RETURN(const std::any train,
                          CurrentStrategy().replica->MergeCall(merge, grads_and_vars));
  return std::any_cast<Operation>(train);
}

absl::StatusOr<Operation> Optimizer::ApplyDistributed(
    Strategy& strategy, const std::vector<GradientsAndVariables>& replicas,
    const ApplyGradientsOptions& options) {
  const GradientsAndVariables& first = replicas[0];
  std::vector<PerReplica<Grad>> reduced;
  std::vector<Variable> components;
  for (size_t i = 0; i < first.size(); ++i) {
    PerReplica<Grad> grads;
    for (const GradientsAndVariables& pairs : replicas) {
      SLUICE_INVALID_IF(i >= pairs.size(), "replicas have gradients of different variables");
      grads.push_back(pairs[i].grad);
    }
    SLUICE_ASSIGN_OR_RETURN(PerReplica<Grad> sum,
                            strategy.ReduceTo(ReduceOp::kSum, grads, first[i].var));
    reduced.push_back(std::move(sum));
    for (const Variable& c : strategy.Components(first[i].var)) components.push_back(c);
  }
  Graph& graph = components[0].graph();
  const auto update_all = [&]() -> absl::StatusOr<std::vector<Operation>> {
    std::vector<Operation> updates;
    for (size_t i = 0; i < first.size(); ++i) {
      const auto update = [&](const Variable& component, int replica) {
        return UpdateOne(component, reduced[i][replica]);
      };
      SLUICE_ASSIGN_OR_RETURN(const std::vector<Operation> ops,
                              strategy.Update(first[i].var, update));
      updates.insert(updates.end(), ops.begin(), ops.end());
    }
    return updates;
  };
  const auto increment = [&](const Variable& step,
                             std::string_view name) -> absl::StatusOr<Operation> {
    const auto add_one = [](const Variable& component, int) -> absl::StatusOr<Operation> {
      return AddOne(component, "AssignAdd");
    };
    SLUICE_ASSIGN_OR_RETURN(const std::vector<Operation> steps, strategy.Update(step, add_one));
    return Group(graph, steps, name);
  };
  return BuildTrainOp(graph, components, options, update_all, increment);
}

Operation Optimizer::ApplyTo(const Variable& var, const Grad& grad) {
  if (grad.is_slices() && IsEmbeddingTable(var)) return ApplyToTable(grad.slices(), var);
  if (grad.is_dense()) return ApplyDense(grad.dense(), var);
  return ApplySparseDuplicateIndices(grad.slices(), var);
}

Operation Optimizer::ApplySparseDuplicateIndices(const IndexedSlices& grad, const Variable& var) {
  return ApplySparse(SumDuplicateIndices(grad), var);
}

Operation Optimizer::ApplyToTable(const IndexedSlices&, const Variable& table) {
  table.graph().SetError(absl::UnimplementedError(
      StrCat(name_, ": expected variables, got embedding table '", table.name(),
             "'. This optimizer's update is not one rule per row")));
  return {};
}

Output Optimizer::StepOfUpdate(Graph& graph) {
  if (!step_of_update_) {
    NameScope scope(graph, "StepOfUpdate");
    step_of_update_ = global_step_ == nullptr ? Constant(graph, int64_t{-1}, "none")
                                              : CastTo(global_step_->Read(), DT_INT64);
  }
  return step_of_update_;
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
    std::vector<Variable> unreached;
    for (const GradientAndVariable& gv : pairs) {
      if (gv.grad.is_none()) unreached.push_back(gv.var);
    }
    SLUICE_INVALID_IF(
        unreached.size() == pairs.size(),
        "No gradients provided for any variable, check your graph for ops that do not support "
        "gradients, between variables [",
        NamesOf(unreached), "] and loss ", loss.name(), ".");
    if (!unreached.empty()) {
      const std::string message =
          StrCat("loss '", loss.name(), "' does not reach ", unreached.size(),
                 " variable(s), which will not be trained: ", NamesOf(unreached));
      SLUICE_INVALID_IF(options.strict, message);
      std::fprintf(stderr, "warning: %s\n", message.c_str());
    }
    return ApplyGradients(pairs, {.global_step = options.global_step, .name = options.name});
  };
  absl::StatusOr<Operation> train = minimize();
  if (train.ok()) return *train;
  graph.SetError(train.status());
  return {};
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

Variable Optimizer::FindOrMakeSlot(const Variable& var, std::string_view slot_name,
                                   std::string_view op_name, SlotMaker make) {
  if (std::optional<Variable> made = GetSlot(var, slot_name)) return *made;
  std::string name(op_name);
  // In TensorFlow, the slot of the i-th copy of a variable is named "<slot of the first
  // copy>/replica_i".
  const Strategy* strategy = CurrentStrategy().strategy;
  if (strategy != nullptr) {
    const std::vector<Variable> copies = strategy->Components(var);
    const auto self = std::find(copies.begin(), copies.end(), var);
    const std::optional<Variable> first =
        copies.empty() ? std::nullopt : GetSlot(copies[0], slot_name);
    if (first) name = StrCat("/", first->name(), "/replica_", self - copies.begin());
  }
  const Variable slot = make(name);
  slots_[std::string(slot_name)].emplace(std::make_pair(&var.graph(), var.name()), slot);
  return slot;
}

Variable Optimizer::ZerosSlot(const Variable& var, std::string_view slot_name,
                              std::string_view op_name) {
  return FindOrMakeSlot(var, slot_name, op_name,
                        [&](std::string_view name) { return CreateZerosSlot(var, name); });
}

Variable Optimizer::Slot(const Variable& var, std::string_view slot_name) const {
  return GetSlot(var, slot_name).value_or(Variable());
}

Variable Optimizer::NonSlotVariable(const HyperParameter& initial_value, std::string_view name,
                                    const Variable& with) {
  Graph& graph = with.graph();
  if (std::optional<Variable> made = GetNonSlotVariable(name, graph)) return *made;
  ColocateWith colocated(graph, with.op());
  const VariableOptions how = {.trainable = false, .use_resource = with.is_resource()};
  const std::optional<float> number = initial_value.constant();
  const auto computed = [&](Graph& g, const TensorShape&, DataType dtype) {
    const Output value = initial_value.In(g, "initial_value");
    return value ? CastTo(value, dtype) : value;
  };
  Variable v = number ? Variable(graph, name, Tensor::Scalar(*number), how)
                      : Variable(graph, name, TensorShape({}), computed, how);
  non_slots_.emplace(std::make_pair(&graph, std::string(name)), v);
  return v;
}

std::optional<Variable> Optimizer::GetNonSlotVariable(std::string_view name,
                                                      const Graph& graph) const {
  auto it = non_slots_.find({&graph, std::string(name)});
  if (it == non_slots_.end()) return std::nullopt;
  return it->second;
}

Output CastTo(Output value, DataType dtype) {
  return BaseType(value.dtype()) == dtype ? value : Cast(value, dtype);
}

Output ValuesOf(const Grad& grad) { return grad.is_slices() ? grad.slices().values : grad.dense(); }

Grad WithValues(const Grad& grad, Output values) {
  if (!grad.is_slices()) return values;
  IndexedSlices slices = grad.slices();
  slices.values = values;
  return slices;
}

IndexedSlices SumDuplicateIndices(const IndexedSlices& grad) {
  if (HasDistinctKeys(grad.indices)) return grad;
  UniqueOutputs unique = Unique(grad.indices);
  const Output rows = ElementAt(Shape(unique.y), 0);
  return {.values = UnsortedSegmentSum(grad.values, unique.idx, rows),
          .indices = unique.y,
          .dense_shape = grad.dense_shape};
}

}  // namespace sluice
