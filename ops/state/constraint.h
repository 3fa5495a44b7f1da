// Constraints: functions that an optimizer applies to a variable after each update.
//
//   Constrain(w, [](Output value) { return Relu(value); });   // never negative
//
// Lifetime: a constraint lives as long as the graph. It is not part of a GraphDef.
// Thread safety: that of the graph. Threads may build different graphs at the same time.
// Errors: those of the function stay in the graph (Graph::status). An invalid variable has no
// constraint.
// Reference: the argument `constraint` of tf.compat.v1.Variable.
#ifndef SLUICE_OPS_STATE_CONSTRAINT_H_
#define SLUICE_OPS_STATE_CONSTRAINT_H_

#include <functional>

#include "ops/state/variable.h"

namespace sluice {

// Maps the updated value to the value to store, which has the same shape and type.
using Constraint = std::function<Output(Output value)>;

// Sets the variable's constraint, or replaces it. Optimizers that are built afterwards apply it.
void Constrain(const Variable& variable, Constraint constraint);
// The variable's constraint. Empty if it has none.
Constraint ConstraintOf(const Variable& variable);

}  // namespace sluice

#endif  // SLUICE_OPS_STATE_CONSTRAINT_H_
