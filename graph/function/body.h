// A function's body, read and put into an order in which its nodes can be made.
#ifndef SLUICE_GRAPH_FUNCTION_BODY_H_
#define SLUICE_GRAPH_FUNCTION_BODY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/format/proto/function.pb.h"
#include "graph/function/library.h"
#include "graph/ir/graph.h"

namespace sluice {

// Where a tensor of a body comes from: "arg", "arg:2" or "node:output:1".
struct BodyTensor {
  int arg = -1;        // index among the signature's input arguments; -1: of a node
  int node = -1;       // index among FunctionDef::node_def
  std::string output;  // name of the node's output argument; "" = the first
  int index = 0;       // within the argument
};

struct BodyNode {
  const pb::NodeDef* def = nullptr;
  std::vector<BodyTensor> inputs;
  std::vector<int> controls;    // nodes
  std::vector<int> back_edges;  // inputs of a Merge that come from a later NextIteration
};

struct FunctionBody {
  const pb::FunctionDef* def = nullptr;
  std::vector<BodyNode> nodes;      // as in the message
  std::vector<int> order;           // of the nodes that are needed, each after its inputs
  std::vector<BodyTensor> returns;  // one a declared output argument
  std::vector<int> controls;        // nodes that run for their effect
};

// What is needed: what is returned, the nodes that control_ret names, and ops with state.
// INVALID_ARGUMENT for unknown inputs, duplicate names and cycles, naming function and node.
absl::StatusOr<FunctionBody> ReadFunctionBody(const pb::FunctionDef& def,
                                              const FunctionLibrary& library);

}  // namespace sluice

#endif  // SLUICE_GRAPH_FUNCTION_BODY_H_
