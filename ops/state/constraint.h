// What an optimizer applies to a variable after each update, to keep it in some set.
//
//   Constrain(w, [](Output value) { return Relu(value); });   // never negative
//
// A constraint lives as long as the graph; it is no part of a GraphDef. Thread safety: as of the
// graph; different graphs may be built by different threads.
// Reference behaviour: the argument `constraint` of tf.compat.v1.Variable.
#ifndef SLUICE_OPS_STATE_CONSTRAINT_H_
#define SLUICE_OPS_STATE_CONSTRAINT_H_

#include <functional>

#include "ops/state/variable.h"

namespace sluice {

// From the updated value to the value to keep, of the same shape and type.
using Constraint = std::function<Output(Output value)>;

void Constrain(const Variable& variable, Constraint constraint);
// Empty if there is none.
Constraint ConstraintOf(const Variable& variable);

}  // namespace sluice

#endif  // SLUICE_OPS_STATE_CONSTRAINT_H_
