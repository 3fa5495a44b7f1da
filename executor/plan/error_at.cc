#include "executor/plan/error_at.h"

#include <string>

#include "graph/ir/graph.h"
#include "graph/status.h"

namespace sluice {

absl::Status ErrorAt(const Node& node, const absl::Status& error) {
  std::string where = AtNode(node.name());
  if (!node.location().empty()) where = StrCat(" [built at ", node.location(), "]", where);
  return AnnotateAfter(error, where);
}

}  // namespace sluice
