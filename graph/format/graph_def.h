// Reads and writes GraphDef, the format of TensorFlow's graph files and of the graphs that clients
// and tasks send each other.
//
//   Graph g;
//   SLUICE_ASSIGN_OR_RETURN(ImportResult r, ImportGraphDef(bytes, g, {.return_outputs = {"y:0"}}));
//   SLUICE_ASSIGN_OR_RETURN(pb::GraphDef def, ExportGraphDef(g));
//
// Input is untrusted: every name, edge, type, attribute, count and size is checked, and a rejected
// message leaves the graph unchanged (ids of nodes may stay unused).
//
// Thread safety: that of the graph, into which one thread at a time imports. An export only reads
// the graph.
// Ownership: the graph owns the imported nodes, and copies what it needs of the message.
// Errors have TensorFlow's texts and name the node. They are INVALID_ARGUMENT, except UNIMPLEMENTED
// for an op that the version of the writer no longer has, RESOURCE_EXHAUSTED if there is no memory
// for a constant, and FAILED_PRECONDITION if the graph is finalized. An op that is not registered
// is no error of the import: a step that runs its node fails (graph/ir/unregistered_op.h).
// Reference: tf.import_graph_def, tf.Graph.as_graph_def.
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
#include "graph/tensor/limited_heap.h"

namespace sluice {

// The GraphDef version that this program reads and writes: that of TensorFlow 2.21.
inline constexpr int kGraphDefVersion = 2474;

struct ImportOptions {
  // Nodes are named "<prefix>/<name>". The prefix has no slash at its end. If it is empty, nodes
  // keep their names. INVALID_ARGUMENT if the graph already has a node of that name.
  std::string prefix;

  // Outputs of the graph that replace tensors of the message. The keys are names in the message:
  // "a:1", "a" for "a:0", or "^a" for node "a" as a control input. The nodes of replaced tensors
  // are added, too.
  std::map<std::string, Output, std::less<>> input_map;

  // Tensors ("a:1") and nodes that ImportResult lists, by their names in the message.
  // INVALID_ARGUMENT if there is no such tensor or node.
  std::vector<std::string> return_outputs;
  std::vector<std::string> return_nodes;
  // Imported nodes without inputs wait for these nodes.
  std::vector<Node*> control_dependencies;
  // The requested device of nodes that request none in the message.
  std::string default_device;
  // Accepts names that begin with '_'. They occur in the graphs that a master sends to tasks.
  bool allow_internal_names = false;
  // Runs shape functions and rejects nodes with shapes that do not fit.
  bool infer_shapes = true;
  // Skips attributes that the op does not declare, as TensorFlow 2.x does. They are always skipped
  // if the writer is newer than this program.
  bool ignore_unknown_attrs = false;

  // Allocates the values of constants. Must outlive the graph.
  Allocator* memory = &LimitedHeap();

  // Bounds on the memory and the nesting of a message. A message that exceeds them is rejected.
  FormatLimits limits;
};

struct ImportResult {
  // The tensors of ImportOptions::return_outputs, in their order.
  OutputList outputs;
  // The nodes of ImportOptions::return_nodes, in their order.
  std::vector<Node*> nodes;
  // All new nodes, in the order of their ids.
  std::vector<Node*> added;
  std::vector<std::string> unused_input_map_keys;
};

// Adds the message's nodes in the order of the message, as far as edges permit. Shapes of attribute
// _output_shapes are checked against the inferred ones and then dropped. The message's functions
// are added to the graph's function library. Its versions are merged into the graph's as in
// TensorFlow.
absl::StatusOr<ImportResult> ImportGraphDef(const pb::GraphDef& def, Graph& graph,
                                            const ImportOptions& options = {});
// The same for a serialized GraphDef, binary or text.
absl::StatusOr<ImportResult> ImportGraphDef(std::string_view bytes, Graph& graph,
                                            const ImportOptions& options = {});

struct ExportOptions {
  // Omits attributes with default values, so that older programs can read more graphs.
  bool strip_default_attrs = false;
};

// Writes the nodes in order of their ids, with the assigned device if there is one, otherwise the
// requested device. INVALID_ARGUMENT if the result exceeds 2 GiB, the limit of protocol buffers. If
// the constants alone exceed it, the error names the node with the largest one. UNIMPLEMENTED if an
// attribute cannot be written. INTERNAL if an input is not connected.
absl::StatusOr<pb::GraphDef> ExportGraphDef(const Graph& graph, const ExportOptions& options = {});
// Writes one node as ExportGraphDef does.
absl::Status NodeToProto(const Node& node, const ExportOptions& options, pb::NodeDef* proto);

}  // namespace sluice

#endif  // SLUICE_GRAPH_FORMAT_GRAPH_DEF_H_
