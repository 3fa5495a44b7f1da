// An op that has run when all of `ops` have.
#ifndef SLUICE_GRAPH_BUILD_GROUP_H_
#define SLUICE_GRAPH_BUILD_GROUP_H_

#include <string_view>
#include <vector>

#include "graph/ir/graph.h"

namespace sluice {

// A NoOp with control edges. With ops on several devices each device gets a NoOp of its own first
// (`<name>/NoOp`, …), so that only one edge per device crosses. A name that ends in '/' is taken as
// a whole. Errors stay in the graph. Reference: tf.group.
Operation Group(Graph& graph, const std::vector<Operation>& ops,
                std::string_view name = "group_deps", At at = At::current());

}  // namespace sluice

#endif  // SLUICE_GRAPH_BUILD_GROUP_H_
