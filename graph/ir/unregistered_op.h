// Recognizes nodes of ops that this program does not have: PyFunc, ops of other libraries, debug
// ops. A graph may contain such nodes. Only a step that needs one of them fails.
//
// Their attributes are kept as they are. An output has the type that its readers expect. Before it
// has a reader, its type is DT_INVALID.
#ifndef SLUICE_GRAPH_IR_UNREGISTERED_OP_H_
#define SLUICE_GRAPH_IR_UNREGISTERED_OP_H_

#include "absl/status/status.h"
#include "graph/ir/graph.h"

namespace sluice {

// The largest number of outputs of a node of an unregistered op.
inline constexpr int kMaxUnregisteredOutputs = 256;

// Whether the program has the op. Only registered ops have a shape function.
inline bool IsRegistered(const OpDef& op) { return static_cast<bool>(op.shape); }
inline bool IsRegistered(const Node& node) { return IsRegistered(node.def()); }

// The error of a step that needs the node: NOT_FOUND "Op type not registered ..." with its name.
absl::Status UnregisteredOpError(const Node& node);

}  // namespace sluice

#endif  // SLUICE_GRAPH_IR_UNREGISTERED_OP_H_
