// A large variable in parts, each a Variable of its own, that may lie on different devices.
//
//   PartitionedVariable w(g, "w", {1000, 8}, Zeros(), {4});   // w/part_0 … w/part_3, 250 rows each
//   Output y = Gather(w, ids);                                 // the parts, joined
//
// Nodes, names and sizes are those of tf.compat.v1.get_variable with a fixed_size_partitioner; an
// initializer sees the shape of a part. A checkpoint has one tensor "w", whatever the partition, so
// that it can be restored into another one.
//
// A value as a Variable is; valid as long as the graph.
#ifndef SLUICE_OPS_EMBEDDING_PARTITIONED_VARIABLE_H_
#define SLUICE_OPS_EMBEDDING_PARTITIONED_VARIABLE_H_

#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/graph.h"
#include "ops/state/variable.h"

namespace sluice {

class PartitionedVariable {
 public:
  // `partitions`: how many along each dimension; those left out are 1. More than the dimension is
  // long, or more than one dimension that is cut: INVALID_ARGUMENT, kept in the graph.
  PartitionedVariable(Graph& graph, std::string_view name, const TensorShape& shape,
                      const Initializer& initializer, const std::vector<int>& partitions,
                      const VariableOptions& options = {}, At at = At::current());

  // Name of the whole: "w".
  const std::string& name() const { return name_; }
  const TensorShape& shape() const { return shape_; }
  // Empty after an error.
  const std::vector<Variable>& parts() const { return parts_; }
  // Its value: the parts, joined.
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
