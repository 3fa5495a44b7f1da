#include "ops/embedding/partitioner.h"

#include <algorithm>

namespace sluice {
namespace {

int64_t Bytes(const TensorShape& shape, DataType dtype, int bytes_per_string) {
  return shape.num_elements() *
         (dtype == DT_STRING ? bytes_per_string : static_cast<int64_t>(DataTypeSize(dtype)));
}

// Returns the size of the axis, or -1 if the shape does not have the axis.
int64_t SizeOf(const TensorShape& shape, int axis) {
  return axis >= 0 && axis < shape.rank() ? shape.dim(axis) : -1;
}

// Does not overflow for a large `b`, which callers pass for "no limit".
int64_t DivideUp(int64_t a, int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

std::vector<int> Along(const TensorShape& shape, int axis, int64_t parts) {
  const bool is_there = SizeOf(shape, axis) >= 0;
  const int numbers = is_there ? shape.rank() : std::max(shape.rank(), axis) + 1;
  std::vector<int> partitions(static_cast<size_t>(numbers), 1);
  if (is_there) partitions[static_cast<size_t>(axis)] = static_cast<int>(parts);
  return partitions;
}

}  // namespace

std::vector<int> FixedSizePartitions(const TensorShape& shape, int num_shards, int axis) {
  return Along(shape, axis, std::min<int64_t>(num_shards, SizeOf(shape, axis)));
}

std::vector<int> AxisSizePartitions(const TensorShape& shape, DataType dtype,
                                    int64_t max_shard_bytes, const AxisSizeOptions& how) {
  const int64_t size = SizeOf(shape, how.axis);
  const int64_t bytes = Bytes(shape, dtype, how.bytes_per_string_element);
  if (size <= 0 || bytes == 0) return Along(shape, how.axis, 1);
  const int64_t slices = std::max<int64_t>(1, max_shard_bytes / (bytes / size));
  const int64_t parts = DivideUp(size, slices);
  return Along(shape, how.axis,
               how.max_shards > 0 ? std::min<int64_t>(how.max_shards, parts) : parts);
}

std::vector<int> MinMaxPartitions(const TensorShape& shape, DataType dtype, int max_partitions,
                                  const MinMaxOptions& how) {
  const int64_t bytes = Bytes(shape, dtype, how.bytes_per_string_element);
  // Without a least size, the axis and `max_partitions` alone limit the number of parts.
  const int64_t slices = how.min_slice_size == 0 ? bytes : DivideUp(bytes, how.min_slice_size);
  const int64_t parts = std::min({SizeOf(shape, how.axis), int64_t{max_partitions}, slices});
  return Along(shape, how.axis, std::max<int64_t>(1, parts));
}

}  // namespace sluice
