#include "graph/build/cond.h"

#include <memory>
#include <utility>

#include "graph/build/core_ops.h"
#include "graph/build/scopes.h"
#include "graph/build/while.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Runs `branch` inside `context`. Returns its results, as values of that context.
OutputList Build(Graph& graph, CondContext* context, const Branch& branch, At at) {
  ControlFlowContext* outer = std::exchange(graph.scopes().context, context);
  const BranchResult result = branch();
  OutputList outs;
  if (const Operation* op = result.operation()) {
    ControlDependencies after(graph, {*op});
    ColocateWith with(graph, context->pivot());
    outs.push_back(core::Identity(context->pivot(), "control_dependency", at));
  } else {
    for (const Output& t : *result.tensors()) outs.push_back(t ? context->AddValue(t) : t);
  }
  graph.scopes().context = outer;
  return outs;
}

absl::Status CheckBranches(const OutputList& if_true, const OutputList& if_false,
                           const std::string& name) {
  SLUICE_INVALID_IF(if_true.size() != if_false.size(), "Cond '", name,
                    "': true_fn and false_fn must return the same number of ", "tensors, got ",
                    if_true.size(), " and ", if_false.size());
  for (size_t i = 0; i < if_true.size(); ++i) {
    const DataType t = BaseType(if_true[i].dtype());
    const DataType f = BaseType(if_false[i].dtype());
    SLUICE_INVALID_IF(t != f, "Cond '", name, "': outputs of true_fn and false_fn must have the ",
                      "same type, got ", DataTypeName(t), " and ", DataTypeName(f), " for output ",
                      i);
  }
  return absl::OkStatus();
}

}  // namespace

CondContext::CondContext(std::string name, ControlFlowContext* outer, Output pred, Output pivot,
                         int branch)
    : ControlFlowContext(Kind::kCond, std::move(name), outer),
      pred_(pred),
      pivot_(pivot),
      branch_(branch) {
  entered_[pred] = pred;
  entered_[pivot] = pivot;
  if (pivot) pivot.node->set_context(this);
}

Output CondContext::Switched(Output value) {
  Graph& graph = *value.graph();
  if (outer() != nullptr) value = outer()->AddValue(value);
  ControlDependencies none = ControlDependencies::None(graph);
  ColocateWith with(graph, value, /*ignore_existing=*/true);
  Node* node = core::SwitchOrRef(value, pred_);
  if (node == nullptr) return {};
  node->set_context(this);
  return Output(node, branch_);
}

Output CondContext::AddValue(Output value) {
  if (auto it = entered_.find(value); it != entered_.end()) return it->second;
  if (Contains(value)) return value;
  const Output switched = Switched(value);
  entered_[value] = switched;
  return switched;
}

absl::StatusOr<ControlFlowContext*> CondContext::Enter(NodeSpec& spec) {
  Graph& graph = *pred_.graph();
  if (WhileContext* around = loop()) {
    // The branch need not wait for nodes outside the loop: they run before its iterations begin.
    std::erase_if(spec.control_inputs, [&](const Node* control) {
      return LoopOf(ContextOfOutputs(*control)) != around;
    });
  }
  if (spec.inputs.empty() || IsCall(spec.op)) spec.control_inputs.push_back(pivot_.node);
  if (spec.inputs.empty()) return this;
  NameScope scope(graph, spec.name + "/");
  for (Output& in : spec.inputs) {
    if (in) in = AddValue(in);
  }
  SLUICE_RETURN_IF_ERROR(graph.status());
  return this;
}

OutputList Cond(Output pred, const Branch& if_true, const Branch& if_false, std::string_view name,
                At at) {
  if (!pred) return {};
  Graph& graph = *pred.graph();
  NameScope scope(graph, name);
  Node* split = core::Switch(pred, pred, "", at);
  if (split == nullptr) return {};
  const Output pivot_true = core::Identity(Output(split, 1), "switch_t", at);
  const Output pivot_false = core::Identity(Output(split, 0), "switch_f", at);
  const Output pred_id = core::Identity(pred, "pred_id", at);
  if (!pred_id) return {};
  ControlFlowContext* outer = graph.scopes().context;
  auto make_context = [&](Output pivot, int branch) {
    auto context = std::make_shared<CondContext>(graph.UniqueName(scope.prefix() + "cond_text"),
                                                 outer, pred_id, pivot, branch);
    graph.Own(context);
    return context.get();
  };
  const OutputList t = Build(graph, make_context(pivot_true, 1), if_true, at);
  const OutputList f = Build(graph, make_context(pivot_false, 0), if_false, at);
  if (!graph.status().ok()) return {};
  if (absl::Status same = CheckBranches(t, f, scope.prefix()); !same.ok()) {
    graph.SetError(same, at);
    return {};
  }
  OutputList merged;
  for (size_t i = 0; i < t.size(); ++i) merged.push_back(core::Merge({f[i], t[i]}, "", at));
  return merged;
}

}  // namespace sluice
