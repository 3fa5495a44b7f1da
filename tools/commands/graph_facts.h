// FactsOf collects the facts that `sluice inspect` shows about a graph. The graph may be invalid.
//
// Thread safety: values. Lifetime: independent of the message.
#ifndef SLUICE_TOOLS_COMMANDS_GRAPH_FACTS_H_
#define SLUICE_TOOLS_COMMANDS_GRAPH_FACTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "graph/format/proto/meta_graph.pb.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"

namespace sluice {

struct TensorFacts {
  std::string key;              // in a signature, otherwise ""
  std::string name;             // in a signature, otherwise ""
  DataType dtype = DT_INVALID;  // DT_INVALID if the graph is invalid
  PartialShape shape;
};

struct NodeFacts {
  std::string name, op;
  std::string function;              // the function that has the node; "" for the graph itself
  std::vector<TensorFacts> outputs;  // empty if the graph is invalid
};

struct SignatureFacts {
  std::vector<TensorFacts> inputs, outputs;
};

struct GraphFacts {
  std::vector<std::string> tags;
  int producer = 0, min_consumer = 0;
  int64_t nodes = 0, edges = 0, control_edges = 0, functions = 0;
  int64_t constants = 0, constant_bytes = 0;
  // -1 if the graph is invalid.
  int64_t variables = -1;
  int64_t variable_bytes = 0, variables_of_unknown_size = 0;
  std::map<std::string, int> devices, ops, collections;
  std::vector<NodeFacts> inputs;   // placeholders
  std::vector<NodeFacts> outputs;  // nodes that no other node reads
  // Nodes that no step can run.
  std::vector<NodeFacts> unknown_ops, without_kernel;
  std::map<std::string, SignatureFacts> signatures;
  absl::Status problem;  // the first error of the import; OK if the graph is valid
};

GraphFacts FactsOf(const pb::MetaGraphDef& meta);

}  // namespace sluice

#endif  // SLUICE_TOOLS_COMMANDS_GRAPH_FACTS_H_
