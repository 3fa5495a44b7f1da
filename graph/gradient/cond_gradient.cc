#include "graph/gradient/cond_gradient.h"

#include "graph/build/cond.h"
#include "graph/build/node_builder.h"
#include "graph/gradient/loop_gradient.h"
#include "graph/gradient/loop_state.h"
#include "graph/gradient/nodes.h"

namespace sluice {
namespace {

bool IsSwitch(const Node& node) { return node.op() == "Switch" || node.op() == "RefSwitch"; }

const CondContext* CondOf(const Node& node) { return dynamic_cast<CondContext*>(node.context()); }

Node* Switch(Output data, Output pred, std::string_view name) {
  return NodeBuilder(data.graph(), "Switch", At::current())
      .Name(name)
      .Input(data)
      .Input(pred)
      .Finish();
}

Output Merge(const OutputList& inputs, std::string_view name) {
  return NodeBuilder(GraphOf({}, {&inputs}), "Merge", At::current())
      .Name(name)
      .Input(inputs)
      .Finish();
}

Output ZerosOfResource(Output handle, Output shape_of) {
  const HandleData* data = handle.node->output_handle(handle.index);
  const DataType dtype = data ? data->dtype : DT_FLOAT;
  return gradient::Filled(gradient::Unary("VariableShape", "VariableShape", shape_of), dtype, 0,
                          "zeros");
}

}  // namespace

void SwitchGradient(Backprop& b) {
  if (IsLoopSwitch(b.op())) return gradient::LoopSwitchGradient(b);
  if (CondOf(b.op()) != nullptr) {
    b.Into(0, Merge({b.Of(0), b.Of(1)}, "cond_grad"));
    return;
  }
  Node* if_false = Switch(b.Of(0), b.In(1), "Switch");
  Node* if_true = Switch(b.Of(1), b.In(1), "Switch");
  b.Into(0, Merge({Output(if_false, 0), Output(if_true, 1)}, "Merge"));
}

void MergeGradient(Backprop& b) {
  const Output grad = b.Of(0);
  if (!grad) return;
  ControlFlowContext* context = ContextOfOutputs(*b.In(0).node);
  if (dynamic_cast<WhileContext*>(context) != nullptr) return gradient::LoopMergeGradient(b);
  if (const auto* cond = dynamic_cast<CondContext*>(context)) {
    // Inside a loop, the predicate that each iteration had.
    gradient::LoopState* loop = gradient::LoopState::Current(b.graph());
    const Output pred = loop != nullptr ? loop->Predicate(cond->pred()) : cond->pred();
    ColocateWith with(b.graph(), grad, /*ignore_existing=*/true);
    Node* split = Switch(grad, pred, "cond_grad");
    for (int i = 0; i < 2 && split != nullptr; ++i) b.Into(i, Output(split, i));
    return;
  }
  // A Merge that no Cond made: the gradient goes to the input that was taken.
  for (int i = 0; i < b.op().num_inputs(); ++i) {
    const Output index = gradient::Const(&b.graph(), "index", Tensor::Scalar<int32_t>(i));
    const Output taken =
        NodeBuilder(&b.graph(), "Equal", At::current()).Input(b.Out(1)).Input(index).Finish();
    if (Node* split = Switch(grad, taken, "Switch")) b.Into(i, Output(split, 1));
  }
}

namespace gradient {

Output ZerosFor(Node* op, int index) {
  const Output value(op, index);
  const CondContext* cond = IsSwitch(*op) ? CondOf(*op) : nullptr;
  const bool is_resource = value.dtype() == DT_RESOURCE;
  if (cond == nullptr) {
    return is_resource ? ZerosOfResource(value, value) : Unary("ZerosLike", "zeros_like", value);
  }
  Graph& graph = *op->graph();
  Node* split = Switch(op->input(0), cond->pred(), "Switch");
  if (split == nullptr) return Output();
  const Output other(split, 1 - cond->branch());
  // Control edges are of whole ops, not of outputs: this one lives only in the other branch.
  const Output pivot = Unary("Identity", "Identity", other);
  if (is_resource) {
    ControlDependencies after(graph, {pivot});
    return ZerosOfResource(op->input(0), other);
  }
  const Output shape = Unary("Shape", "Shape", other);
  ControlDependencies after(graph, {pivot});
  return Filled(shape, BaseType(value.dtype()), 0, "zeros");
}

}  // namespace gradient
}  // namespace sluice
