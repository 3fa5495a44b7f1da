// Creates slots. A slot is a variable that belongs to another variable or a tensor, its owner. It
// holds, for example, a moment of an optimizer or a moving average.
//
// The slot's name is `<owner>/<name>`, made unique. If `name` begins with a slash
// ("/w/Adam/replica_1"), the slot has the name after this slash. The open name scope does not
// matter. A slot is in the collection of global variables only. If its owner is a variable, the
// slot is colocated with it. Callers leave cond and while contexts first (InitScope).
// Reference: TensorFlow's slot_creator. Nodes and names are the same.
#ifndef SLUICE_TRAINING_OPTIMIZER_SLOT_H_
#define SLUICE_TRAINING_OPTIMIZER_SLOT_H_

#include <string_view>

#include "ops/state/variable.h"

namespace sluice {

// The owner of a slot: a variable, or another tensor.
class SlotOwner {
 public:
  SlotOwner(const Variable& variable);  // NOLINT: a variable is an owner
  // `use_resource`: whether the slot is a resource variable. The slot is colocated with `tensor` if
  // `tensor` is a variable's buffer.
  SlotOwner(Output tensor, bool use_resource);

  Graph& graph() const { return *tensor_.graph(); }
  const std::string& name() const { return tensor_.node->name(); }
  Operation op() const { return tensor_; }
  DataType dtype() const { return dtype_; }
  const PartialShape& shape() const { return shape_; }
  bool use_resource() const { return use_resource_; }
  bool is_variable() const { return static_cast<bool>(variable_); }
  bool is_colocated() const { return is_colocated_; }
  // Returns the owner's value. For a variable that is not initialised yet, this is the initial
  // value.
  Output SafeValue() const;

 private:
  Output tensor_;
  Variable variable_;
  DataType dtype_;
  PartialShape shape_;
  bool use_resource_;
  bool is_colocated_;
};

// Creates a slot with the type and shape of `initial_value`.
Variable CreateSlot(const SlotOwner& owner, Output initial_value, std::string_view name);
// Creates a slot with the given type and shape, whose value the initializer creates.
Variable CreateSlotWithInitializer(const SlotOwner& owner, const Initializer& initializer,
                                   const PartialShape& shape, DataType dtype,
                                   std::string_view name);
// Creates a slot of zeros with the owner's type and shape. If the owner's static shape is unknown,
// the slot gets the shape of the owner's value when it is initialised.
Variable CreateZerosSlot(const SlotOwner& owner, std::string_view name);

// Returns `update` unchanged, an op that assigns to `v`. If `v` is a resource variable, also adds a
// node that reads the new value, because TensorFlow's assignments add this node too.
Operation WithValueRead(const Variable& v, Operation update);
// Returns the value of `v` after `update`, an op that assigns to it.
Output ValueAfter(const Variable& v, Operation update);

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_SLOT_H_
