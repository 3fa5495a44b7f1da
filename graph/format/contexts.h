// Reads and writes the contexts of conds and loops, which a MetaGraphDef has in its collections
// `cond_context` and `while_context`. Without them, Gradients cannot differentiate the loops of an
// imported graph.
//
// Thread safety: that of the graph.
#ifndef SLUICE_GRAPH_FORMAT_CONTEXTS_H_
#define SLUICE_GRAPH_FORMAT_CONTEXTS_H_

#include <string_view>

#include "absl/status/status.h"
#include "graph/format/proto/meta_graph.pb.h"
#include "graph/ir/graph.h"

namespace sluice {

inline constexpr char kCondContexts[] = "cond_context";
inline constexpr char kWhileContexts[] = "while_context";

// Sets the contexts of nodes that were imported under `prefix` ("" = none). INVALID_ARGUMENT for
// malformed messages and for names that are not in the graph.
absl::Status ImportContexts(const pb::MetaGraphDef& meta, std::string_view prefix, Graph& graph);
// Writes the contexts of the graph's nodes, each with the contexts that are nested in it.
void ExportContexts(const Graph& graph, pb::MetaGraphDef* meta);

}  // namespace sluice

#endif  // SLUICE_GRAPH_FORMAT_CONTEXTS_H_
