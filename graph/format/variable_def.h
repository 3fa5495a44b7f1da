// Reads and writes VariableDefs, the entries of a MetaGraphDef's collections of variables.
#ifndef SLUICE_GRAPH_FORMAT_VARIABLE_DEF_H_
#define SLUICE_GRAPH_FORMAT_VARIABLE_DEF_H_

#include <string_view>

#include "absl/status/status.h"
#include "graph/format/proto/meta_graph.pb.h"
#include "graph/ir/graph.h"

namespace sluice {

// Moves the collections of VariableDefs from `meta` into the graph: the names of variables into
// Graph::collections(), the rest into Graph::variables(). The nodes were imported under `prefix`.
// NOT_FOUND if a variable is not in the graph, INVALID_ARGUMENT if its initializer, snapshot or
// initial value is not, or if a slice does not fit.
absl::Status ImportVariables(std::string_view prefix, Graph& graph, pb::MetaGraphDef* meta);

// Writes the collection `key` of the graph as VariableDefs. Returns false and writes nothing if the
// collection is empty or one of its names is no variable.
bool ExportVariables(const Graph& graph, std::string_view key, pb::CollectionDef* collection);

}  // namespace sluice

#endif  // SLUICE_GRAPH_FORMAT_VARIABLE_DEF_H_
