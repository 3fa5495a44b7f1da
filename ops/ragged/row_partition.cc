#include "ops/ragged/row_partition.h"

#include <algorithm>

#include "graph/status.h"

namespace sluice {
namespace {

absl::Status CheckFallback(const PartialShape& fallback, const PartialShape& values) {
  if (!fallback.rank_known() || !values.rank_known()) return absl::OkStatus();
  SLUICE_INVALID_IF(fallback.rank() >= values.rank(), "default_value.shape=", fallback.ToString(),
                    " and rt_input.flat_values.shape=", values.ToString(),
                    " are incompatible: default_value.rank = ", fallback.rank(),
                    "  must be less than rt_input.flat_values.rank = ", values.rank());
  for (int i = 0; i < fallback.rank(); ++i) {
    const int64_t ours = fallback.dim(i);
    const int64_t theirs = values.dim(values.rank() - fallback.rank() + i);
    if (ours < 0 || theirs < 0 || ours == 1 || ours == theirs) continue;
    return InvalidArgument("default_value.shape=", fallback.ToString(),
                           " and rt_input.flat_values.shape=", values.ToString(),
                           " are incompatible: they differ in dimension ", i);
  }
  return absl::OkStatus();
}

absl::StatusOr<RowPartition> RowPartitionOf(const std::string& name) {
  if (name == "FIRST_DIM_SIZE") return RowPartition::kFirstDimSize;
  if (name == "VALUE_ROWIDS") return RowPartition::kValueRowids;
  if (name == "ROW_SPLITS") return RowPartition::kRowSplits;
  return InvalidArgument("Unknown string for partition info type: ", name);
}

}  // namespace

absl::StatusOr<std::vector<RowPartition>> RowPartitionsOf(const std::vector<std::string>& names,
                                                          int num_tensors) {
  std::vector<RowPartition> all;
  for (const std::string& name : names) {
    SLUICE_ASSIGN_OR_RETURN(const RowPartition partition, RowPartitionOf(name));
    all.push_back(partition);
  }
  SLUICE_INVALID_IF(all.empty(), "Partition info types should not be empty");
  SLUICE_INVALID_IF(std::find(all.begin() + 1, all.end(), RowPartition::kFirstDimSize) != all.end(),
                    "FIRST_DIM_SIZE must be first");
  SLUICE_INVALID_IF(all[0] == RowPartition::kFirstDimSize &&
                        (all.size() < 2 || all[1] != RowPartition::kValueRowids),
                    "FIRST_DIM_SIZE must be followed by VALUE_ROWIDS");
  SLUICE_INVALID_IF(all[0] == RowPartition::kValueRowids, "VALUE_ROWIDS cannot be first");
  SLUICE_INVALID_IF(static_cast<int>(all.size()) != num_tensors,
                    "Number of row partition tensors (", num_tensors,
                    ") does not equal the number of row partition types(", all.size(), ").");
  return all;
}

int RaggedRankOf(const std::vector<RowPartition>& partitions) {
  return static_cast<int>(partitions.size()) -
         (partitions[0] == RowPartition::kFirstDimSize ? 1 : 0);
}

absl::StatusOr<PartialShape> DenseShapeOf(int ragged_rank, const PartialShape& wanted,
                                          const PartialShape& values,
                                          const PartialShape& fallback) {
  SLUICE_RETURN_IF_ERROR(CheckFallback(fallback, values));
  if (!wanted.rank_known() && !values.rank_known()) return PartialShape::UnknownRank();
  if (!values.rank_known()) return wanted;
  const int rank = ragged_rank + values.rank();
  SLUICE_INVALID_IF(
      wanted.rank_known() && wanted.rank() != rank, "rt_input.shape and shape=", wanted.ToString(),
      " are incompatible: rt_input.rank = ", rank, " but shape.rank = ", wanted.rank(),
      ", values of shape ", values.ToString(), " and ragged rank ", ragged_rank);
  std::vector<int64_t> dims(static_cast<size_t>(rank), -1);
  for (int i = 0; i < rank; ++i) {
    const int64_t asked = wanted.rank_known() ? wanted.dim(i) : -1;
    const int64_t there = i <= ragged_rank ? -1 : values.dim(i - ragged_rank);
    SLUICE_INVALID_IF(asked >= 0 && there >= 0 && asked != there, "Dimension ", i, " of shape ",
                      wanted.ToString(), " differs from the values', whose shape is ",
                      values.ToString());
    dims[static_cast<size_t>(i)] = asked >= 0 ? asked : there;
  }
  return PartialShape(dims);
}

}  // namespace sluice
