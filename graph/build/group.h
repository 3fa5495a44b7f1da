// One op that runs after several others, for use as a target of Session::Run or as a control input.
//
//   Operation train = Group(g, {apply_gradients, update_averages}, "train");
//
// Thread safety: that of the graph, which one thread at a time builds.
// Errors: Graph::status() keeps them; the result is then invalid.
// Reference: tf.group.
#ifndef SLUICE_GRAPH_BUILD_GROUP_H_
#define SLUICE_GRAPH_BUILD_GROUP_H_

#include <string_view>
#include <vector>

#include "graph/ir/graph.h"

namespace sluice {

// Adds a NoOp with a control edge from each of `ops`. Invalid operations are left out; without any
// op the NoOp has no inputs.
//
// If the ops are on several devices, each device first gets its own NoOp (`<name>/NoOp`, …), so
// that only one edge per device leads to another device. A name that ends in '/' is used unchanged.
Operation Group(Graph& graph, const std::vector<Operation>& ops,
                std::string_view name = "group_deps", At at = At::current());

}  // namespace sluice

#endif  // SLUICE_GRAPH_BUILD_GROUP_H_
