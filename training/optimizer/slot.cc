#include "training/optimizer/slot.h"

#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"
#include "graph/ir/variable_slice.h"
#include "graph/ir/variable_use.h"
#include "graph/strings.h"
#include "ops/array/fill_builders.h"
#include "ops/array/shape_builders.h"
#include "ops/state/initialized_value.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

// Declares the slot of a variable's part as a slice of a whole slot, so that checkpoints do not
// depend on the partition: "w/part_1/Adam" is a slice of "w/Adam". The slot may have fewer
// dimensions than the variable.
void SetSlice(const SlotOwner& owner, const Variable& slot) {
  Graph& graph = owner.graph();
  std::optional<VariableSlice> slice = FindVariableSlice(graph, owner.op().output(0).name());
  const std::string prefix = owner.name() + "/";
  if (!slice || !slot.name().starts_with(prefix)) return;
  if (slot.shape().rank_known()) {
    const size_t rank = slot.shape().rank();
    if (rank == 0 || rank > slice->shape.size()) return;
    slice->full_shape.resize(rank);
    slice->offset.resize(rank);
    slice->shape.resize(rank);
  }
  slice->full_name += "/" + slot.name().substr(prefix.size());
  SetVariableSlice(graph, slot.handle().name(), *slice);
}

// Calls `make` with the slot's name, in the slot's scope and colocation.
template <typename Make>
Variable MakeSlot(const SlotOwner& owner, std::string_view name, const Make& make) {
  Graph& graph = owner.graph();
  NameScope root(graph, "");
  const std::string base =
      name.starts_with('/') ? std::string(name.substr(1)) : StrCat(owner.name(), "/", name);
  const std::string full = graph.UniqueName(base, /*mark=*/false);
  if (!owner.is_colocated()) return make(full);
  ColocateWith with(graph, owner.op());
  const Variable slot = make(full);
  if (slot && owner.is_variable()) SetSlice(owner, slot);
  return slot;
}

VariableOptions OptionsFor(const SlotOwner& owner, DataType dtype) {
  return {.dtype = dtype, .trainable = false, .use_resource = owner.use_resource()};
}

}  // namespace

SlotOwner::SlotOwner(const Variable& variable)
    : tensor_(variable.handle()),
      variable_(variable),
      dtype_(variable.dtype()),
      shape_(variable.shape()),
      use_resource_(variable.is_resource()),
      is_colocated_(true) {}

SlotOwner::SlotOwner(Output tensor, bool use_resource)
    : tensor_(tensor),
      dtype_(BaseType(tensor.dtype())),
      shape_(tensor.shape()),
      use_resource_(use_resource),
      is_colocated_(CreatesVariable(*tensor.node)) {}

Output SlotOwner::SafeValue() const { return variable_ ? InitializedValue(variable_) : tensor_; }

Variable CreateSlot(const SlotOwner& owner, Output initial_value, std::string_view name) {
  if (!initial_value) return Variable();
  return MakeSlot(owner, name, [&](const std::string& full) {
    return Variable(owner.graph(), full, initial_value,
                    OptionsFor(owner, BaseType(initial_value.dtype())));
  });
}

Variable CreateSlotWithInitializer(const SlotOwner& owner, const Initializer& initializer,
                                   const PartialShape& shape, DataType dtype,
                                   std::string_view name) {
  return MakeSlot(owner, name, [&](const std::string& full) {
    return Variable(owner.graph(), full, shape, initializer, OptionsFor(owner, dtype));
  });
}

Variable CreateZerosSlot(const SlotOwner& owner, std::string_view name) {
  if (owner.shape().IsFullyDefined()) {
    return CreateSlotWithInitializer(owner, Zeros(), owner.shape(), owner.dtype(), name);
  }
  Graph& graph = owner.graph();
  const Output shape = Shape(owner.SafeValue());
  NameScope scope(graph, "zeros");
  const Output zero = Constant(graph, 0, owner.dtype());
  return CreateSlot(owner, Fill(shape, zero, {.name = scope.prefix()}), name);
}

Operation WithValueRead(const Variable& v, Operation update) {
  if (!v.is_resource() || !update) return update;
  Graph& graph = v.graph();
  ControlDependencies after(graph, {update});
  NodeBuilder(&graph, "ReadVariableOp", At::current())
      .Input(v.handle())
      .Attr("dtype", v.dtype())
      .Finish();
  return update;
}

Output ValueAfter(const Variable& v, Operation update) {
  if (!v.is_resource()) return update.output(0);
  ControlDependencies after(v.graph(), {update});
  return v.Read();
}

}  // namespace sluice
