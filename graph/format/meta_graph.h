// Reads and writes MetaGraphDef: a GraphDef with collections, saver and signatures.
//
// The parts of an imported MetaGraphDef are stored as follows:
// - Collections of names (of nodes or tensors) become entries of Graph::collections().
// - Collections of VariableDefs become entries, too: the names of the variables. The VariableDefs
//   become entries of Graph::variables().
// - Collections of SaverDefs and QueueRunnerDefs become entries that are serialized messages.
// - The contexts of conds and loops become the contexts of the nodes (contexts.h).
// - Other collections, the SaverDef, signatures and assets stay in ImportedMetaGraph::rest.
//
// Thread safety: that of the graph. Errors: INVALID_ARGUMENT, and those of graph_def.h.
#ifndef SLUICE_GRAPH_FORMAT_META_GRAPH_H_
#define SLUICE_GRAPH_FORMAT_META_GRAPH_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "graph/format/graph_def.h"
#include "graph/format/proto/meta_graph.pb.h"

namespace sluice {

struct ImportedMetaGraph {
  ImportResult graph;
  pb::MetaGraphDef rest;  // the parts that `graph` does not hold; graph_def is empty
};

// Imports `meta`. The prefix of the options is also put before the names in collections.
absl::StatusOr<ImportedMetaGraph> ImportMetaGraphDef(const pb::MetaGraphDef& meta, Graph& graph,
                                                     const ImportOptions& options = {});

// Parses a MetaGraphDef or a GraphDef, binary or text. A GraphDef is returned in a MetaGraphDef
// that is otherwise empty. INVALID_ARGUMENT if `bytes` is neither.
absl::StatusOr<pb::MetaGraphDef> ReadMetaGraphOrGraph(std::string_view bytes);

// Writes the graph with its collections, variables and contexts. `rest` has the parts that a graph
// does not hold. If both have a collection of one name, that of `rest` is written. Fills in
// MetaInfoDef: used ops, version, and whether default attributes were stripped.
absl::StatusOr<pb::MetaGraphDef> ExportMetaGraphDef(const Graph& graph,
                                                    const ExportOptions& options = {},
                                                    const pb::MetaGraphDef& rest = {});

}  // namespace sluice

#endif  // SLUICE_GRAPH_FORMAT_META_GRAPH_H_
