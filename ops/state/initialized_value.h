// Builds values of variables that can be used before the variables have been initialised.
//
// Suppose that one op initialises two variables, and the initial value of the first is computed
// from the second. The computation could read the second variable too early. So it is rewritten to
// use the initial value of the second variable as long as the second variable has no value.
// Reference: tf.compat.v1.Variable.initialized_value and its guard of initial values, with the same
// nodes and names.
#ifndef SLUICE_OPS_STATE_INITIALIZED_VALUE_H_
#define SLUICE_OPS_STATE_INITIALIZED_VALUE_H_

#include <string_view>

#include "ops/state/variable.h"

namespace sluice {

// Returns the value of the variable if it has one, and its initial value otherwise. Adds a Cond in
// the current name scope.
Output InitializedValue(const Variable& variable, At at = At::current());

// Makes `value` safe as the initial value of the variable `variable_name`. Returns a copy of
// `value` that reads InitializedValue(v) instead of each ref variable v. The nodes between the ref
// variables and `value` are copied as `<node>_<variable_name>`. Returns `value` itself if it
// depends on no ref variable or is computed in a loop.
Output SafeInitialValue(Output value, std::string_view variable_name, At at = At::current());

}  // namespace sluice

#endif  // SLUICE_OPS_STATE_INITIALIZED_VALUE_H_
