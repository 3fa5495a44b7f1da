// Handles of a node's outputs; a null node (a failed op) gives invalid ones.
#ifndef SLUICE_OPS_BUILDERS_RESULT_H_
#define SLUICE_OPS_BUILDERS_RESULT_H_

#include <cstddef>

#include "graph/ir/graph.h"

namespace sluice {

Output SingleOutput(Node* node, int arg);
// `length`: of the list for a null node.
OutputList ListOutput(Node* node, int arg, size_t length);

}  // namespace sluice

#endif  // SLUICE_OPS_BUILDERS_RESULT_H_
