// Methods of Variable that add reads and updates.
#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"
#include "ops/indexing/subscript.h"
#include "ops/state/variable.h"

namespace sluice {

Output Variable::Read(At at) const {
  if (node_ == nullptr || !is_resource_) return snapshot_;
  Graph& g = graph();
  ColocateWith nothing(g, Operation(), /*ignore_existing=*/true);
  DeviceScope on(g, device());
  return NodeBuilder(&g, "ReadVariableOp", at).Input(handle()).Attr("dtype", dtype()).Finish();
}

Output Variable::IsInitialized(std::string_view name, At at) const {
  if (node_ == nullptr) return Output();
  // Places the node on the device of the variable, which device functions must not change.
  DeviceScope on(graph(), is_resource_ ? device() : "");
  return NodeBuilder(&graph(), is_resource_ ? "VarIsInitializedOp" : "IsVariableInitialized", at)
      .Name(name)
      .Input(handle())
      .Finish();
}

Operation Variable::Update(std::string_view ref_op, std::string_view resource_op, Operand value,
                           const AssignOptions& options, At at) const {
  if (node_ == nullptr) return Operation();
  Graph& g = graph();
  const std::string_view op = is_resource_ ? resource_op : ref_op;
  std::string name(options.name.empty() ? op : options.name);
  Output tensor;
  if (value.is_number() && is_resource_) {
    tensor = value.In(g, dtype(), "Const");
  } else if (value.is_number()) {
    // As in TensorFlow, the constant is in the name scope of the update.
    NameScope scope(g, name);
    name = scope.prefix();
    tensor = value.In(g, dtype(), "value");
  } else {
    tensor = value.In(g, dtype(), "");
  }
  NodeBuilder builder(&g, op, at);
  builder.Name(name).Input(handle()).Input(tensor);
  if (!is_resource_ && options.use_locking) builder.Attr("use_locking", *options.use_locking);
  if (op == "Assign" || op == "AssignVariableOp") {
    // The shape of a resource variable can only be validated if it is known.
    const bool validate = options.validate_shape && (!is_resource_ || shape().IsFullyDefined());
    builder.Attr("validate_shape", validate);
  }
  return builder.Finish();
}

Operation Variable::Assign(Operand value, const AssignOptions& options, At at) const {
  return Update("Assign", "AssignVariableOp", value, options, at);
}
Operation Variable::AssignAdd(Operand value, const AssignOptions& options, At at) const {
  return Update("AssignAdd", "AssignAddVariableOp", value, options, at);
}
Operation Variable::AssignSub(Operand value, const AssignOptions& options, At at) const {
  return Update("AssignSub", "AssignSubVariableOp", value, options, at);
}

Operation Variable::Scatter(std::string_view op, Output indices, Output rows,
                            const AssignOptions& options, At at) const {
  if (node_ == nullptr) return Operation();
  NodeBuilder builder(&graph(), (is_resource_ ? "Resource" : "") + std::string(op), at);
  builder.Name(options.name).Input(handle()).Input(indices).Input(rows);
  if (is_resource_) {
    builder.Attr("dtype", dtype());
  } else if (options.use_locking) {
    builder.Attr("use_locking", *options.use_locking);
  }
  return builder.Finish();
}

Operation Variable::ScatterUpdate(Output indices, Output rows, const AssignOptions& options,
                                  At at) const {
  return Scatter("ScatterUpdate", indices, rows, options, at);
}
Operation Variable::ScatterAdd(Output indices, Output rows, const AssignOptions& options,
                               At at) const {
  return Scatter("ScatterAdd", indices, rows, options, at);
}
Operation Variable::ScatterSub(Output indices, Output rows, const AssignOptions& options,
                               At at) const {
  return Scatter("ScatterSub", indices, rows, options, at);
}

Output Gather(const Variable& params, Output indices, std::string_view name, At at) {
  if (!params.is_resource()) return Gather(params.Read(at), indices, 0, name, at);
  return NodeBuilder(params.handle().graph(), "ResourceGather", at)
      .Name(name.empty() ? "Gather" : name)
      .Input(params.handle())
      .Input(indices)
      .Attr("dtype", params.dtype())
      .Finish();
}

Operation Assign(const Variable& v, Operand value, const AssignOptions& options, At at) {
  return v.Assign(value, options, at);
}
Operation AssignAdd(const Variable& v, Operand value, const AssignOptions& options, At at) {
  return v.AssignAdd(value, options, at);
}
Operation AssignSub(const Variable& v, Operand value, const AssignOptions& options, At at) {
  return v.AssignSub(value, options, at);
}

}  // namespace sluice
