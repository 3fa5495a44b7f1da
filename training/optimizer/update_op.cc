#include "training/optimizer/update_op.h"

#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"
#include "graph/strings.h"
#include "ops/builders/ops.h"

namespace sluice {

UpdateOp::UpdateOp(const Optimizer& optimizer, std::string_view rule, const Variable& var,
                   const Grad& grad)
    : op_(StrCat(var.is_resource() ? "Resource" : "", grad.is_slices() ? "Sparse" : "", "Apply",
                 rule)),
      var_(var),
      grad_(grad),
      inputs_{{var.handle(), {}}},
      attrs_{{"use_locking", optimizer.use_locking()}} {}

UpdateOp& UpdateOp::Slot(const Variable& slot) { return Tensor(slot.handle()); }

UpdateOp& UpdateOp::Number(Output value) {
  return Tensor(BaseType(value.dtype()) == var_.dtype() ? value : Cast(value, var_.dtype()));
}

UpdateOp& UpdateOp::Number(const Variable& value) {
  if (value.dtype() == var_.dtype()) {
    inputs_.push_back({Output(), value});
    return *this;
  }
  NameScope scope(var_.graph(), "Cast");
  return Tensor(Cast(value.Read(), var_.dtype(), {.name = scope.prefix()}));
}

UpdateOp& UpdateOp::Tensor(Output value) {
  inputs_.push_back({value, {}});
  return *this;
}

UpdateOp& UpdateOp::Gradient() {
  if (grad_.is_dense()) return Tensor(grad_.dense());
  return Tensor(grad_.slices().values).Tensor(grad_.slices().indices);
}

UpdateOp& UpdateOp::Attr(std::string_view name, bool value) {
  attrs_.emplace_back(name, value);
  return *this;
}

Operation UpdateOp::Finish() {
  Graph& graph = var_.graph();
  NameScope scope(graph, op_);
  OutputList inputs;
  for (const Input& in : inputs_) inputs.push_back(in.variable ? in.variable.Read() : in.tensor);
  NodeBuilder builder(&graph, op_, At::current());
  builder.Name(scope.prefix());
  for (const Output& in : inputs) builder.Input(in);
  for (const auto& [name, value] : attrs_) builder.Attr(name, value);
  return builder.Finish();
}

}  // namespace sluice
