// VariableDefs: how the collections of a MetaGraphDef list variables.
#ifndef SLUICE_GRAPH_FORMAT_VARIABLE_DEF_H_
#define SLUICE_GRAPH_FORMAT_VARIABLE_DEF_H_

#include <string_view>

#include "absl/status/status.h"
#include "graph/format/proto/meta_graph.pb.h"
#include "graph/ir/graph.h"

namespace sluice {

// Collections of `meta` whose entries are VariableDefs of the graph's nodes (imported under
// `prefix`) become names in Graph::collections(), and their variables Graph::variables(); they are
// taken out of `meta`. INVALID_ARGUMENT where a variable's nodes are not in the graph.
absl::Status ImportVariables(std::string_view prefix, Graph& graph, pb::MetaGraphDef* meta);

// The collection `key` as VariableDefs; false where not all of its names are variables.
bool ExportVariables(const Graph& graph, std::string_view key, pb::CollectionDef* collection);

}  // namespace sluice

#endif  // SLUICE_GRAPH_FORMAT_VARIABLE_DEF_H_
