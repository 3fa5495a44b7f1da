#include "graph/gradient/cond_gradient.h"

#include "graph/build/cond.h"
#include "graph/build/core_ops.h"
#include "graph/build/scopes.h"
#include "graph/gradient/loop_gradient.h"
#include "graph/gradient/loop_state.h"
#include "graph/ir/control_flow.h"

namespace sluice {
namespace {

const CondContext* CondOf(const Node& node) { return dynamic_cast<CondContext*>(node.context()); }

Output ZerosOfResource(Output handle, Output shape_of) {
  const HandleData* data = handle.node->output_handle(handle.index);
  const DataType dtype = data ? data->dtype : DT_FLOAT;
  return core::Filled(core::VariableShape(shape_of), dtype, 0);
}

}  // namespace

void SwitchGradient(Backprop& b) {
  if (IsLoopSwitch(b.op())) return gradient::LoopSwitchGradient(b);
  if (CondOf(b.op()) != nullptr) {
    b.Into(0, core::Merge({b.Of(0), b.Of(1)}, "cond_grad"));
    return;
  }
  Node* if_false = core::Switch(b.Of(0), b.In(1));
  Node* if_true = core::Switch(b.Of(1), b.In(1));
  b.Into(0, core::Merge({Output(if_false, 0), Output(if_true, 1)}));
}

void MergeGradient(Backprop& b) {
  const Output grad = b.Of(0);
  if (!grad) return;
  ControlFlowContext* context = ContextOfOutputs(*b.In(0).node);
  if (dynamic_cast<WhileContext*>(context) != nullptr) return gradient::LoopMergeGradient(b);
  if (const auto* cond = dynamic_cast<CondContext*>(context)) {
    // Inside a loop, each iteration has a predicate of its own.
    gradient::LoopState* loop = gradient::LoopState::Current(b.graph());
    const Output pred = loop != nullptr ? loop->Predicate(cond->pred()) : cond->pred();
    ColocateWith with(b.graph(), grad, /*ignore_existing=*/true);
    Node* split = core::Switch(grad, pred, "cond_grad");
    for (int i = 0; i < 2 && split != nullptr; ++i) b.Into(i, Output(split, i));
    return;
  }
  // A Merge outside of Cond: the gradient goes to the input that was taken.
  for (int i = 0; i < b.op().num_inputs(); ++i) {
    const Output index = core::Const(b.graph(), Tensor::Scalar<int32_t>(i), "index");
    const Output taken = core::Equal(b.Out(1), index);
    if (Node* split = core::Switch(grad, taken)) b.Into(i, Output(split, 1));
  }
}

namespace gradient {

Output ZerosFor(Node* op, int index) {
  const Output value(op, index);
  const CondContext* cond = IsSwitch(*op) ? CondOf(*op) : nullptr;
  const bool is_resource = value.dtype() == DT_RESOURCE;
  if (cond == nullptr) {
    return is_resource ? ZerosOfResource(value, value) : core::ZerosLike(value);
  }
  Graph& graph = *op->graph();
  Node* split = core::Switch(op->input(0), cond->pred());
  if (split == nullptr) return Output();
  const Output other(split, 1 - cond->branch());
  // Control edges leave ops, not outputs. This op is alive only in the other branch.
  const Output pivot = core::Identity(other);
  if (is_resource) {
    ControlDependencies after(graph, {pivot});
    return ZerosOfResource(op->input(0), other);
  }
  const Output shape = core::Shape(other);
  ControlDependencies after(graph, {pivot});
  return core::Filled(shape, value.dtype(), 0);
}

}  // namespace gradient
}  // namespace sluice
