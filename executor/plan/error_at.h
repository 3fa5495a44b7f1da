// Adds the name of a node, and the line that built it, to an error.
#ifndef SLUICE_EXECUTOR_PLAN_ERROR_AT_H_
#define SLUICE_EXECUTOR_PLAN_ERROR_AT_H_

#include "absl/status/status.h"

namespace sluice {

class Node;

// Returns `error` followed by the line of the program that built the node and, in TensorFlow's
// form, by the node's name.
absl::Status ErrorAt(const Node& node, const absl::Status& error);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_ERROR_AT_H_
