// A large variable that is cut into parts. Each part is a Variable, and parts may be on different
// devices.
//
//   PartitionedVariable w(g, "w", {1000, 8}, Zeros(), {4});   // w/part_0 … w/part_3, 250 rows each
//   Output y = Gather(w, ids);                                // gathers from the joined parts
//
// The initializer is called for each part, with the shape of the part. A checkpoint has one tensor
// "w" for any partition, so that it can be restored into a different partition. If the size is not
// divisible by the number of parts, the first parts are larger by one.
//
// Thread safety: that of the graph, which one thread at a time builds.
// Lifetime: a handle that can be copied, like Variable. It is valid as long as the graph.
// Errors: stay in the graph. The variable then has no parts.
// Reference: nodes, names and sizes are those of tf.compat.v1.get_variable with a
// fixed_size_partitioner.
#ifndef SLUICE_OPS_EMBEDDING_PARTITIONED_VARIABLE_H_
#define SLUICE_OPS_EMBEDDING_PARTITIONED_VARIABLE_H_

#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/graph.h"
#include "ops/state/variable.h"

namespace sluice {

// For lookups use EmbeddingLookup, which reads only the requested rows. `Gather` on this class
// joins all parts first.
class PartitionedVariable {
 public:
  // `partitions` has the number of parts along each dimension. Missing numbers are 1.
  // INVALID_ARGUMENT, which stays in the graph, if there are more numbers than dimensions, if a
  // number exceeds the size of its dimension or if more than one dimension is cut.
  PartitionedVariable(Graph& graph, std::string_view name, const TensorShape& shape,
                      const Initializer& initializer, const std::vector<int>& partitions,
                      const VariableOptions& options = {}, At at = At::current());

  // The name of the whole variable: "w".
  const std::string& name() const { return name_; }
  const TensorShape& shape() const { return shape_; }
  // Empty after an error.
  const std::vector<Variable>& parts() const { return parts_; }

  // The value: the parts, concatenated along the dimension that is cut. Each call adds nodes.
  // Invalid after an error.
  Output Read(At at = At::current()) const;
  operator Output() const { return Read(); }  // NOLINT: a variable stands for its value

 private:
  Graph* graph_;
  std::string name_;
  TensorShape shape_;
  int axis_ = 0;
  std::vector<Variable> parts_;
};

}  // namespace sluice

#endif  // SLUICE_OPS_EMBEDDING_PARTITIONED_VARIABLE_H_
