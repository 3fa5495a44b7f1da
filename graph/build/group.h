// An op that runs after all of `ops`.
#ifndef SLUICE_GRAPH_BUILD_GROUP_H_
#define SLUICE_GRAPH_BUILD_GROUP_H_

#include <string_view>
#include <vector>

#include "graph/ir/graph.h"

namespace sluice {

// Adds a NoOp with control edges. If the ops are on several devices, each device first gets its own
// NoOp (`<name>/NoOp`, …), so that only one edge per device crosses. A name that ends in '/' is
// used unchanged. Errors stay in the graph. Reference: tf.group.
Operation Group(Graph& graph, const std::vector<Operation>& ops,
                std::string_view name = "group_deps", At at = At::current());

}  // namespace sluice

#endif  // SLUICE_GRAPH_BUILD_GROUP_H_
