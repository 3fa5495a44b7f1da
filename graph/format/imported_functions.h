// Merges the functions of an imported graph into a graph's function library, and converts nodes
// whose op is the name of a function.
//
// Thread safety: as a plain value.
// Reference: TensorFlow's FunctionLibraryDefinition.
#ifndef SLUICE_GRAPH_FORMAT_IMPORTED_FUNCTIONS_H_
#define SLUICE_GRAPH_FORMAT_IMPORTED_FUNCTIONS_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "graph/format/proto/function.pb.h"
#include "graph/ir/graph.h"

namespace sluice {

class ImportedFunctions {
 public:
  // Begins with `library`, a graph's serialized FunctionDefLibrary, and merges the functions and
  // gradients of `added` into it. INVALID_ARGUMENT if two different functions have one name, if a
  // function has the name of an op, or if a function has two gradients.
  absl::Status Merge(const std::string& library, const pb::FunctionDefLibrary& added);
  std::string Serialize() const { return merged_.SerializeAsString(); }
  // The function `name`, or null if there is none. Valid until the next Merge.
  const pb::FunctionDef* Find(const std::string& name) const;

 private:
  absl::Status AddFunction(const pb::FunctionDef& function);
  absl::Status AddGradient(const pb::GradientDef& gradient);

  pb::FunctionDefLibrary merged_;
  absl::flat_hash_map<std::string, const pb::FunctionDef*> functions_;
  absl::flat_hash_map<std::string, std::string> gradients_;
};

// Turns a node whose op is the name of `function` into a PartitionedCall of the function
// (StatefulPartitionedCall if it is stateful). The function gets the attributes of the node, except
// those that begin with '_'.
// INVALID_ARGUMENT if the node lacks an attribute on which the type of an argument depends.
absl::Status CallByAttribute(const pb::FunctionDef& function, NodeSpec* node);

}  // namespace sluice

#endif  // SLUICE_GRAPH_FORMAT_IMPORTED_FUNCTIONS_H_
