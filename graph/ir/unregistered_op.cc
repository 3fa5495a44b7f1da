#include "graph/ir/unregistered_op.h"

#include "graph/status.h"

namespace sluice {

absl::Status UnregisteredOpError(const Node& node) {
  return AnnotateAfter(OpRegistry::Global().Lookup(node.op()).status(), AtNode(node.name()));
}

}  // namespace sluice
