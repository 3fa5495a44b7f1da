// Lists the ops of another system that this program lacks.
#ifndef SLUICE_TOOLS_COMMANDS_OPS_AGAINST_H_
#define SLUICE_TOOLS_COMMANDS_OPS_AGAINST_H_

#include <string>

#include "absl/status/status.h"

namespace sluice {

// Prints by tier the ops of a JSON file that are missing here, and the missing types and gradients
// of the others. The file is an array of
//   {"op": name, "tier": number, "group": name, "cpu": [{attribute: [types]}], "any_device": …,
//    "grad": place of its registration, or "not_differentiable"}
// An element of "cpu" is a kernel for all combinations of its types, except one with a "label".
// NOT_FOUND, INVALID_ARGUMENT.
absl::Status PrintOpsAgainst(const std::string& path);

}  // namespace sluice

#endif  // SLUICE_TOOLS_COMMANDS_OPS_AGAINST_H_
