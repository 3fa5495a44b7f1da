// Compares the ops of this program with a list of the ops of another system, such as TensorFlow.
#ifndef SLUICE_TOOLS_COMMANDS_OPS_AGAINST_H_
#define SLUICE_TOOLS_COMMANDS_OPS_AGAINST_H_

#include <string>

#include "absl/status/status.h"

namespace sluice {

// Prints, by tier, the ops of a JSON file that this program lacks. If this program has an op of the
// file, prints the types and the gradient that the op has in the file but lacks here. The file is
// an array of
//   {"op": name, "tier": number, "group": name, "cpu": [{attribute: [types]}], "any_device": …,
//    "grad": place of its registration, or "not_differentiable"}
// An element of "cpu" is a kernel for all combinations of its types. Elements with a "label" are
// ignored. NOT_FOUND if the file cannot be opened, INVALID_ARGUMENT if it is no such array.
absl::Status PrintOpsAgainst(const std::string& path);

}  // namespace sluice

#endif  // SLUICE_TOOLS_COMMANDS_OPS_AGAINST_H_
