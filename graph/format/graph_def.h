// Reads and writes GraphDef, the format of TensorFlow's graph files and of the graphs that clients
// and tasks send each other.
//
// Input is untrusted: every name, edge, type, attribute, count and size is checked, and a rejected
// message leaves the graph unchanged.
//
// Thread safety: as the graph's. Errors have TensorFlow's texts and name the node. They are
// INVALID_ARGUMENT, except NOT_FOUND for an unknown op and UNIMPLEMENTED for an op that the version
// of the writer no longer has.
#ifndef SLUICE_GRAPH_FORMAT_GRAPH_DEF_H_
#define SLUICE_GRAPH_FORMAT_GRAPH_DEF_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/format/limits.h"
#include "graph/format/proto/graph.pb.h"
#include "graph/ir/graph.h"

namespace sluice {

// The GraphDef version that this program reads and writes: that of TensorFlow 2.21.
inline constexpr int kGraphDefVersion = 2474;

struct ImportOptions {
  std::string prefix;  // nodes are named "<prefix>/<name>"; no slash at the end
  // Replacements for tensors of the message ("a:1"; "a" = "a:0"; "^a" for the node).
  std::map<std::string, Output, std::less<>> input_map;
  std::vector<std::string> return_outputs;  // "a:1"; names of the message
  std::vector<std::string> return_nodes;
  // Nodes without inputs wait for these.
  std::vector<Node*> control_dependencies;
  std::string default_device;  // of nodes without a device
  // Accepts names that begin with '_', as in partitions that a master sends.
  bool allow_internal_names = false;
  // Runs shape functions and rejects nodes with shapes that do not fit.
  bool infer_shapes = true;
  // Skips attributes that the op does not declare, as TensorFlow 2.x does. They are always skipped
  // if the writer is newer than this program.
  bool ignore_unknown_attrs = false;
  FormatLimits limits;
};

struct ImportResult {
  OutputList outputs;        // as return_outputs
  std::vector<Node*> nodes;  // as return_nodes
  std::vector<Node*> added;  // in the order of their ids
  std::vector<std::string> unused_input_map_keys;
};

absl::StatusOr<ImportResult> ImportGraphDef(const pb::GraphDef& def, Graph& graph,
                                            const ImportOptions& options = {});
// `bytes` is a serialized GraphDef, binary or text.
absl::StatusOr<ImportResult> ImportGraphDef(std::string_view bytes, Graph& graph,
                                            const ImportOptions& options = {});

struct ExportOptions {
  // Omits attributes with default values, so that older programs can read more graphs.
  bool strip_default_attrs = false;
};

// Writes the nodes in order of their ids. UNIMPLEMENTED if an attribute cannot be written.
absl::StatusOr<pb::GraphDef> ExportGraphDef(const Graph& graph, const ExportOptions& options = {});
// Writes one node as ExportGraphDef does.
absl::Status NodeToProto(const Node& node, const ExportOptions& options, pb::NodeDef* proto);

}  // namespace sluice

#endif  // SLUICE_GRAPH_FORMAT_GRAPH_DEF_H_
