// How errors tell which node they are of.
#ifndef SLUICE_EXECUTOR_PLAN_ERROR_AT_H_
#define SLUICE_EXECUTOR_PLAN_ERROR_AT_H_

#include "absl/status/status.h"

namespace sluice {

class Node;

// `error` with the node's name behind it, as TensorFlow writes it, and the line of the program that
// made the node.
absl::Status ErrorAt(const Node& node, const absl::Status& error);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_ERROR_AT_H_
