// Returns the handles of a node's outputs, for the generated builder functions. A builder passes a
// null node if the node could not be added. The handles are then invalid.
#ifndef SLUICE_OPS_BUILDERS_RESULT_H_
#define SLUICE_OPS_BUILDERS_RESULT_H_

#include <cstddef>

#include "graph/ir/graph.h"

namespace sluice {

// The output that output argument number `arg` of the op declares.
Output SingleOutput(Node* node, int arg);
// The outputs that list argument number `arg` declares. A null node gives `length` invalid handles.
OutputList ListOutput(Node* node, int arg, size_t length);

}  // namespace sluice

#endif  // SLUICE_OPS_BUILDERS_RESULT_H_
