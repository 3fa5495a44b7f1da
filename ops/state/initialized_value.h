// Values of variables that can be used before the variables have been initialised.
//
// An initial value that is computed from another variable would read it too early when both are
// initialised by one op. It is rewritten to use the other's initial value until that one has a
// value of its own. Reference behaviour: tf.compat.v1.Variable.initialized_value and the guard of
// its initial values: the same nodes and names.
#ifndef SLUICE_OPS_STATE_INITIALIZED_VALUE_H_
#define SLUICE_OPS_STATE_INITIALIZED_VALUE_H_

#include <string_view>

#include "ops/state/variable.h"

namespace sluice {

// The variable's value, or else its initial value: a Cond under the open name scope.
Output InitializedValue(const Variable& variable, At at = At::current());

// `value` with each ref variable that it depends on replaced by InitializedValue; the nodes in
// between are copied as `<node>_<variable_name>`. A value that depends on none, or that is computed
// in a loop, comes back as it is.
Output SafeInitialValue(Output value, std::string_view variable_name, At at = At::current());

}  // namespace sluice

#endif  // SLUICE_OPS_STATE_INITIALIZED_VALUE_H_
