// Group adds one op that runs after several others. It can be a target of Session::Run, which then
// runs all of them, or a control input.
//
//   Operation train = Group(g, {apply_gradients, update_averages}, "train");
//
// Thread safety: that of the graph, which one thread at a time builds.
// Errors: Graph::status() keeps them, and Group returns an invalid operation.
// Reference: tf.group.
#ifndef SLUICE_GRAPH_BUILD_GROUP_H_
#define SLUICE_GRAPH_BUILD_GROUP_H_

#include <string_view>
#include <vector>

#include "graph/ir/graph.h"

namespace sluice {

// Adds a NoOp with a control edge from each of `ops`, and returns it. Invalid operations are left
// out. If no op is left, the NoOp has no inputs.
//
// If the ops are on several devices, each device first gets its own NoOp (`<name>/NoOp`, …). The
// returned NoOp waits for these, so that only one edge per device leads to another device. A name
// that ends in '/' is the full name, without the '/', and is not made unique.
Operation Group(Graph& graph, const std::vector<Operation>& ops,
                std::string_view name = "group_deps", At at = At::current());

}  // namespace sluice

#endif  // SLUICE_GRAPH_BUILD_GROUP_H_
