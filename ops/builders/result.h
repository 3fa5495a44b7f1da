// Handles of a node's outputs. They are invalid if the node is null because the op failed.
#ifndef SLUICE_OPS_BUILDERS_RESULT_H_
#define SLUICE_OPS_BUILDERS_RESULT_H_

#include <cstddef>

#include "graph/ir/graph.h"

namespace sluice {

Output SingleOutput(Node* node, int arg);
// `length` is the number of invalid handles for a null node.
OutputList ListOutput(Node* node, int arg, size_t length);

}  // namespace sluice

#endif  // SLUICE_OPS_BUILDERS_RESULT_H_
