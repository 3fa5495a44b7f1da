// GraphDef, in and out: TensorFlow's graph files, and what clients and tasks send each other.
//
// Reading trusts nothing: every name, edge, type, attribute, count and size is checked, and a
// refused message leaves the graph as it was. Errors name the node, with TensorFlow's texts (facts:
// semantics.md, section 2); INVALID_ARGUMENT unless said: NOT_FOUND for an unknown op,
// UNIMPLEMENTED for one that the writer's version no longer has.
//
// Thread safety: as the graph's (one thread).
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

// The GraphDef version that this program writes and understands: TensorFlow 2.21's.
inline constexpr int kGraphDefVersion = 2474;

struct ImportOptions {
  std::string prefix;  // nodes become "<prefix>/<name>"; without slash at the end
  // A tensor of the message ("a:1"; "a" = "a:0"; "^a" for the node) -> what its users take instead.
  std::map<std::string, Output, std::less<>> input_map;
  std::vector<std::string> return_outputs;  // "a:1"; names of the message
  std::vector<std::string> return_nodes;
  // What nodes without inputs wait for.
  std::vector<Node*> control_dependencies;
  std::string default_device;  // of nodes that ask for none
  // Nodes whose name begins with '_' (partitions that a master sends).
  bool allow_internal_names = false;
  // Runs shape functions and refuses nodes whose inputs' shapes do not fit.
  bool infer_shapes = true;
  // Attributes that the op does not know are left out, as TensorFlow 2.x does. They are always left
  // out where the writer is newer than this program.
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
// A serialised GraphDef, binary or text.
absl::StatusOr<ImportResult> ImportGraphDef(std::string_view bytes, Graph& graph,
                                            const ImportOptions& options = {});

struct ExportOptions {
  // Leaves out attributes that have their default value, so that older readers understand more.
  bool strip_default_attrs = false;
};

// Nodes in order of their ids. UNIMPLEMENTED where an attribute cannot be written.
absl::StatusOr<pb::GraphDef> ExportGraphDef(const Graph& graph, const ExportOptions& options = {});
// One node, as ExportGraphDef writes it.
absl::Status NodeToProto(const Node& node, const ExportOptions& options, pb::NodeDef* proto);

}  // namespace sluice

#endif  // SLUICE_GRAPH_FORMAT_GRAPH_DEF_H_
