// Names and devices of the nodes that synchronous training adds.
#ifndef SLUICE_TRAINING_SYNC_SCOPES_H_
#define SLUICE_TRAINING_SYNC_SCOPES_H_

#include <string>
#include <string_view>

#include "ops/state/variable.h"

namespace sluice {

// A name for an op and, below it, for its constant arguments: "Fill_1/" and "Fill_1/dims/". A name
// that ends in '/' is taken whole.
std::string OpScope(Graph& graph, std::string_view op);
// The variable's device; "" leaves the scopes around alone.
inline const std::string& DeviceOf(const Variable& var) { return var.op().device(); }
Output CastTo64(Output t);

}  // namespace sluice

#endif  // SLUICE_TRAINING_SYNC_SCOPES_H_
