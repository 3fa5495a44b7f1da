// Reads the body of a graph function: resolves the names of its tensors, and finds an order in
// which its nodes can be added to a graph (expand.h).
//
// Thread safety: a FunctionBody is not changed after ReadFunctionBody.
// Lifetime: the FunctionDef outlives the FunctionBody.
#ifndef SLUICE_GRAPH_FUNCTION_BODY_H_
#define SLUICE_GRAPH_FUNCTION_BODY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/format/proto/function.pb.h"
#include "graph/function/library.h"
#include "graph/ir/graph.h"

namespace sluice {

// A reference to a tensor of a body, "arg:2" or "node:output:1", or to all tensors of an argument,
// "arg" or "node:output".
struct BodyTensor {
  int arg = -1;           // index among the signature's input arguments; -1: an output of a node
  int node = -1;          // index among FunctionDef::node_def; -1: an input argument
  std::string output;     // name of the node's output argument; "" = the first
  int index = 0;          // of the tensor, if the argument is a list; otherwise 0
  bool is_whole = false;  // all tensors of the argument
};

struct BodyNode {
  const pb::NodeDef* def = nullptr;
  std::vector<BodyTensor> inputs;
  std::vector<int> controls;    // indices of the nodes that are control inputs
  std::vector<int> back_edges;  // if a Merge: indices of inputs that come from a NextIteration
};

struct FunctionBody {
  const pb::FunctionDef* def = nullptr;
  std::vector<BodyNode> nodes;      // in the order of FunctionDef::node_def
  std::vector<int> order;           // indices of the required nodes, each after its inputs
  std::vector<BodyTensor> returns;  // one per declared output argument
  std::vector<int> controls;        // indices of the nodes that run for their effect
};

// Reads the body of a function. The required nodes are those on which the results depend, those in
// control_ret, and those with state. INVALID_ARGUMENT for unknown inputs, duplicate names and
// cycles; the error names the function and the node.
absl::StatusOr<FunctionBody> ReadFunctionBody(const pb::FunctionDef& def,
                                              const FunctionLibrary& library);

}  // namespace sluice

#endif  // SLUICE_GRAPH_FUNCTION_BODY_H_
