// The row partitions that RaggedTensorToTensor is given by name, and the shape that they lead to.
//
// Thread safety: pure functions. Errors: INVALID_ARGUMENT with TensorFlow's sentences.
#ifndef SLUICE_OPS_RAGGED_ROW_PARTITION_H_
#define SLUICE_OPS_RAGGED_ROW_PARTITION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor/shape.h"

namespace sluice {

enum class RowPartition { kFirstDimSize, kValueRowids, kRowSplits };

// In an order that makes a ragged tensor; as many as there are tensors.
absl::StatusOr<std::vector<RowPartition>> RowPartitionsOf(const std::vector<std::string>& names,
                                                          int num_tensors);
// The number of ragged dimensions.
int RaggedRankOf(const std::vector<RowPartition>& partitions);

// The dense shape, -1 where only rows tell the size: what `wanted` says, and for the rest the
// values'. Checks that `fallback` broadcasts to an element.
absl::StatusOr<PartialShape> DenseShapeOf(int ragged_rank, const PartialShape& wanted,
                                          const PartialShape& values, const PartialShape& fallback);

}  // namespace sluice

#endif  // SLUICE_OPS_RAGGED_ROW_PARTITION_H_
