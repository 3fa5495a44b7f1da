// Slots: variables that belong to another variable (an optimizer's moments, a moving average) and
// live beside it.
//
// Named `<owner>/<name>`, made unique, or by its whole name ("/w/Adam/replica_1"), whatever name
// scope is open; in no collection but the global variables; colocated with the owner if that is a
// variable. Nothing here leaves cond and while contexts: the callers do (InitScope).
// Reference behaviour: TensorFlow's slot_creator: same nodes and names.
#ifndef SLUICE_TRAINING_OPTIMIZER_SLOT_H_
#define SLUICE_TRAINING_OPTIMIZER_SLOT_H_

#include <string_view>

#include "ops/state/variable.h"

namespace sluice {

// What a slot belongs to.
class SlotOwner {
 public:
  SlotOwner(const Variable& variable);  // NOLINT: owners are variables,
  // `use_resource`: the kind of the slot. A tensor that is a variable's buffer is colocated with.
  SlotOwner(Output tensor, bool use_resource);

  Graph& graph() const { return *tensor_.graph(); }
  const std::string& name() const { return tensor_.node->name(); }
  Operation op() const { return tensor_; }
  DataType dtype() const { return dtype_; }
  const PartialShape& shape() const { return shape_; }
  bool use_resource() const { return use_resource_; }
  bool is_variable() const { return static_cast<bool>(variable_); }
  bool is_colocated() const { return is_colocated_; }
  // Its value, also before the owner is initialised.
  Output SafeValue() const;

 private:
  Output tensor_;
  Variable variable_;
  DataType dtype_;
  PartialShape shape_;
  bool use_resource_;
  bool is_colocated_;
};

// Of the value's type and shape.
Variable CreateSlot(const SlotOwner& owner, Output initial_value, std::string_view name);
Variable CreateSlotWithInitializer(const SlotOwner& owner, const Initializer& initializer,
                                   const PartialShape& shape, DataType dtype,
                                   std::string_view name);
// Of the owner's type and shape; an unknown shape is the value's.
Variable CreateZerosSlot(const SlotOwner& owner, std::string_view name);

// `update`, an assignment to `v`, as TensorFlow's methods make it: of a resource variable a read of
// the new value is made as well.
Operation WithValueRead(const Variable& v, Operation update);
// The variable's value as `update` leaves it.
Output ValueAfter(const Variable& v, Operation update);

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_SLOT_H_
