// Reads the row partition types of RaggedTensorToTensor, and computes the shape of its output.
//
// Thread safety: pure functions.
// Errors: INVALID_ARGUMENT with TensorFlow's texts.
#ifndef SLUICE_OPS_RAGGED_ROW_PARTITION_H_
#define SLUICE_OPS_RAGGED_ROW_PARTITION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor/shape.h"

namespace sluice {

enum class RowPartition { kFirstDimSize, kValueRowids, kRowSplits };

// Parses the names of the types. Checks their order, and that there are as many as row partition
// tensors (`num_tensors`).
absl::StatusOr<std::vector<RowPartition>> RowPartitionsOf(const std::vector<std::string>& names,
                                                          int num_tensors);
// The number of ragged dimensions.
int RaggedRankOf(const std::vector<RowPartition>& partitions);

// Returns the shape of the dense tensor. `wanted` has the requested sizes (-1: not requested),
// `values` is the shape of the values, and `fallback` is the shape of the default value. Sizes that
// were not requested and depend on the number or the lengths of rows are -1. INVALID_ARGUMENT if
// the shapes do not fit each other.
absl::StatusOr<PartialShape> DenseShapeOf(int ragged_rank, const PartialShape& wanted,
                                          const PartialShape& values, const PartialShape& fallback);

}  // namespace sluice

#endif  // SLUICE_OPS_RAGGED_ROW_PARTITION_H_
