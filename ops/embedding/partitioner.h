// How many parts to cut a variable into, by its shape and type.
//
//   PartitionedVariable w(g, "w", shape, Zeros(), MinMaxPartitions(shape, DT_FLOAT, 4));
//
// Each gives a number a dimension, 1 where it is not cut. With an axis that the shape does not have
// there are more numbers than dimensions, which PartitionedVariable refuses. Reference behaviour:
// tf.compat.v1.fixed_size_partitioner, variable_axis_size_partitioner,
// min_max_variable_partitioner.
#ifndef SLUICE_OPS_EMBEDDING_PARTITIONER_H_
#define SLUICE_OPS_EMBEDDING_PARTITIONER_H_

#include <cstdint>
#include <vector>

#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"

namespace sluice {

// `num_shards` parts, or as many as the axis is long.
std::vector<int> FixedSizePartitions(const TensorShape& shape, int num_shards, int axis = 0);

struct AxisSizeOptions {
  int axis = 0;
  int bytes_per_string_element = 16;  // what a string counts for
  int max_shards = 0;                 // 0: any number
};
// As few parts as keep each within `max_shard_bytes`; where one slice of the axis is larger, a part
// a slice.
std::vector<int> AxisSizePartitions(const TensorShape& shape, DataType dtype,
                                    int64_t max_shard_bytes, const AxisSizeOptions& how = {});

struct MinMaxOptions {
  int axis = 0;
  int64_t min_slice_size = 256 << 10;  // bytes
  int bytes_per_string_element = 16;
};
// As many parts as there are `min_slice_size` in the variable, at most `max_partitions`.
std::vector<int> MinMaxPartitions(const TensorShape& shape, DataType dtype, int max_partitions,
                                  const MinMaxOptions& how = {});

}  // namespace sluice

#endif  // SLUICE_OPS_EMBEDDING_PARTITIONER_H_
