// Functions that choose into how many parts a PartitionedVariable is cut, by its shape and type.
//
//   PartitionedVariable w(g, "w", shape, Zeros(), MinMaxPartitions(shape, DT_FLOAT, 4));
//
// Each function returns the number of parts along each dimension: 1 for dimensions that are not
// cut. If the shape does not have the axis, the result has more numbers than the shape has
// dimensions, and PartitionedVariable rejects it.
//
// Thread safety: pure functions. Errors: none here.
// Reference: tf.compat.v1.fixed_size_partitioner, variable_axis_size_partitioner and
// min_max_variable_partitioner.
#ifndef SLUICE_OPS_EMBEDDING_PARTITIONER_H_
#define SLUICE_OPS_EMBEDDING_PARTITIONER_H_

#include <cstdint>
#include <vector>

#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"

namespace sluice {

// Cuts into `num_shards` parts, or into as many as the axis has elements if these are fewer.
std::vector<int> FixedSizePartitions(const TensorShape& shape, int num_shards, int axis = 0);

struct AxisSizeOptions {
  int axis = 0;
  // The assumed size of a string element.
  int bytes_per_string_element = 16;
  // The largest number of parts, even if the parts then exceed `max_shard_bytes`. 0: no limit.
  int max_shards = 0;
};
// Cuts into the smallest number of parts of at most `max_shard_bytes` each. If a single slice along
// the axis is larger than that, each part is one slice.
std::vector<int> AxisSizePartitions(const TensorShape& shape, DataType dtype,
                                    int64_t max_shard_bytes, const AxisSizeOptions& how = {});

struct MinMaxOptions {
  int axis = 0;
  // In bytes; see MinMaxPartitions. 0: no minimum.
  int64_t min_slice_size = 256 << 10;
  int bytes_per_string_element = 16;
};

// Cuts into one part per `min_slice_size` bytes, rounded up. But there are at most `max_partitions`
// parts, and at most one per element of the axis. Variables of at most `min_slice_size` stay whole.
std::vector<int> MinMaxPartitions(const TensorShape& shape, DataType dtype, int max_partitions,
                                  const MinMaxOptions& how = {});

}  // namespace sluice

#endif  // SLUICE_OPS_EMBEDDING_PARTITIONER_H_
