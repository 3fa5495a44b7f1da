// MetaGraphDef (a GraphDef with collections, saver and signatures), in and out.
//
// Collections that list names (of nodes or tensors) live in Graph::collections(), and so do those
// of variables, whose VariableDefs become Graph::variables(), and queue runners, as serialised
// QueueRunnerDefs. Those of other kinds, the SaverDef, signatures and assets are kept as they came.
#ifndef SLUICE_GRAPH_FORMAT_META_GRAPH_H_
#define SLUICE_GRAPH_FORMAT_META_GRAPH_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "graph/format/graph_def.h"
#include "graph/format/proto/meta_graph.pb.h"

namespace sluice {

struct ImportedMetaGraph {
  ImportResult graph;
  pb::MetaGraphDef rest;  // without graph_def
};

// Names in node lists get the options' prefix.
absl::StatusOr<ImportedMetaGraph> ImportMetaGraphDef(const pb::MetaGraphDef& meta, Graph& graph,
                                                     const ImportOptions& options = {});

// A file or message of either kind, binary or text: a MetaGraphDef, or a GraphDef, which comes back
// as a MetaGraphDef that has nothing else. INVALID_ARGUMENT when it is neither.
absl::StatusOr<pb::MetaGraphDef> ReadMetaGraphOrGraph(std::string_view bytes);

// `rest` gives what the graph does not know; a collection in it wins over the graph's of that name.
// MetaInfoDef is filled in: operators used, version, whether defaults were stripped.
absl::StatusOr<pb::MetaGraphDef> ExportMetaGraphDef(const Graph& graph,
                                                    const ExportOptions& options = {},
                                                    const pb::MetaGraphDef& rest = {});

}  // namespace sluice

#endif  // SLUICE_GRAPH_FORMAT_META_GRAPH_H_
