// What this program lacks of another system's ops.
#ifndef SLUICE_TOOLS_COMMANDS_OPS_AGAINST_H_
#define SLUICE_TOOLS_COMMANDS_OPS_AGAINST_H_

#include <string>

#include "absl/status/status.h"

namespace sluice {

// Prints, a tier at a time, the ops of a JSON file that are missing here, and of those that are
// here the missing types and gradients. The file is an array of
//   {"op": name, "tier": number, "group": name, "cpu": [{attribute: [types]}], "any_device": …,
//    "grad": where it is registered, or "not_differentiable"}
// where an element of "cpu" is a kernel for all combinations of the types named, those with a
// "label" apart. NOT_FOUND, INVALID_ARGUMENT.
absl::Status PrintOpsAgainst(const std::string& path);

}  // namespace sluice

#endif  // SLUICE_TOOLS_COMMANDS_OPS_AGAINST_H_
