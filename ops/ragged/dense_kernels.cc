#include <algorithm>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/loops/elements.h"
#include "ops/loops/strided_copy.h"
#include "ops/loops/wrapping.h"
#include "ops/ragged/row_partition.h"
#include "ops/ragged/splits.h"

namespace sluice {
namespace {

// The positions in the dense tensor at which values or rows start. -1 means that one is cut off.
using Positions = std::vector<int64_t>;

class RaggedTensorToTensorKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    const auto [first, last] = init.InputRange("row_partition_tensors");
    SLUICE_ASSIGN_OR_RETURN(
        std::vector<RowPartition> partitions,
        RowPartitionsOf(init.attr<std::vector<std::string>>("row_partition_types"), last - first));
    return std::unique_ptr<Kernel>(new RaggedTensorToTensorKernel(std::move(partitions)));
  }

  absl::Status Compute(KernelContext& c) override {
    const Tensor &values = c.input(1), &fallback = c.input(2);
    SLUICE_ASSIGN_OR_RETURN(const int64_t rows, FirstSize(c));
    SLUICE_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, SizesOf(c, rows));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(sizes));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    if (out->num_elements() == 0) return absl::OkStatus();
    SLUICE_ASSIGN_OR_RETURN(const Positions positions, PositionsOf(c, rows, sizes));
    SLUICE_INVALID_IF(static_cast<int64_t>(positions.size()) > values.dim(0),
                      "Invalid row partition: it has ", positions.size(), " values, got ",
                      values.dim(0));
    int64_t length = 1;  // elements of a value
    for (size_t d = static_cast<size_t>(ragged_rank_) + 1; d < sizes.size(); ++d) {
      length *= sizes[d];
    }
    FillWith(c, fallback, length, out);
    const size_t size = ElementStride(values.dtype());
    for (size_t i = 0; i < positions.size();) {
      // Copies values that stay consecutive at once.
      size_t end = i + 1;
      while (positions[i] >= 0 && end < positions.size() &&
             positions[end] == positions[end - 1] + 1) {
        ++end;
      }
      if (positions[i] >= 0) {
        CopyElements(c, values.dtype(),
                     ElementAt(values.raw(), static_cast<int64_t>(i) * length, size),
                     ElementAt(out->raw(), positions[i] * length, size),
                     static_cast<int64_t>(end - i) * length);
      }
      i = end;
    }
    return absl::OkStatus();
  }

 private:
  explicit RaggedTensorToTensorKernel(std::vector<RowPartition> partitions)
      : partitions_(std::move(partitions)), ragged_rank_(RaggedRankOf(partitions_)) {}

  static constexpr int kFirstPartition = 3;
  int Skipped() const { return static_cast<int>(partitions_.size()) - ragged_rank_; }
  // Returns the partition between dimensions d and d + 1.
  const Tensor& Rows(KernelContext& c, int d) const {
    return c.input(kFirstPartition + Skipped() + d);
  }
  bool IsSplits(int d) const {
    return partitions_[static_cast<size_t>(Skipped() + d)] == RowPartition::kRowSplits;
  }

  absl::StatusOr<int64_t> FirstSize(KernelContext& c) const {
    const Tensor& first = c.input(kFirstPartition);
    for (int d = 0; d < ragged_rank_; ++d) {
      SLUICE_INVALID_IF(Rows(c, d).rank() != 1, "Row partition must be a vector.");
    }
    SLUICE_INVALID_IF(first.num_elements() == 0,
                      "Invalid first partition input. Tensor requires at least one element.");
    if (Skipped() == 0) return first.num_elements() - 1;
    SLUICE_INVALID_IF(first.rank() != 0, "FIRST_DIM_SIZE must be a scalar.");
    SLUICE_INVALID_IF(IntAt(first, 0) < 0, "FIRST_DIM_SIZE must be at least 0, got ",
                      IntAt(first, 0));
    return IntAt(first, 0);
  }

  // Returns the sizes of the output.
  absl::StatusOr<std::vector<int64_t>> SizesOf(KernelContext& c, int64_t rows) const {
    PartialShape wanted;
    const Tensor& shape = c.input(0);
    SLUICE_INVALID_IF(shape.rank() > 1, "shape must be a vector or -1, got shape ",
                      shape.shape().ToString());
    if (shape.rank() == 0) {
      SLUICE_INVALID_IF(IntAt(shape, 0) != -1, "shape must be a vector or -1, got ",
                        IntAt(shape, 0));
    } else {
      const Ints dims = IntsOf(shape);
      for (int64_t dim : dims) {
        SLUICE_INVALID_IF(dim < -1, "Dimension ", dim, " must be >= -1");
      }
      wanted = PartialShape(absl::MakeConstSpan(dims));
    }
    SLUICE_ASSIGN_OR_RETURN(
        const PartialShape dense,
        DenseShapeOf(ragged_rank_, wanted, c.input(1).shape(), c.input(2).shape()));
    std::vector<int64_t> sizes(dense.dims().begin(), dense.dims().end());
    if (sizes[0] < 0) sizes[0] = rows;
    for (int d = 0; d < ragged_rank_; ++d) {
      int64_t& size = sizes[static_cast<size_t>(d) + 1];
      if (size < 0) size = LongestRow(Rows(c, d), IsSplits(d));
    }
    return sizes;
  }

  static int64_t LongestRow(const Tensor& rows, bool is_splits) {
    int64_t longest = 0, length = 0;
    for (int64_t i = 0; i < rows.num_elements(); ++i) {
      if (is_splits) {
        // Allows any difference, because splits are checked later.
        length = i == 0 ? 0 : WrappingSubtract(IntAt(rows, i), IntAt(rows, i - 1));
      } else {
        length = i > 0 && IntAt(rows, i) == IntAt(rows, i - 1) ? length + 1 : 1;
      }
      longest = std::max(longest, length);
    }
    return longest;
  }

  absl::StatusOr<Positions> PositionsOf(KernelContext& c, int64_t rows,
                                        const std::vector<int64_t>& sizes) const {
    // The strides of the ragged dimensions.
    std::vector<int64_t> strides(static_cast<size_t>(ragged_rank_) + 1, 1);
    for (size_t d = strides.size() - 1; d-- > 0;) strides[d] = strides[d + 1] * sizes[d + 1];
    SLUICE_RETURN_IF_ERROR(c.AllocateTemp(DT_INT64, {rows}).status());  // `rows` may be hostile
    Positions positions(static_cast<size_t>(rows));
    for (int64_t i = 0; i < rows; ++i) positions[i] = i < sizes[0] ? i * strides[0] : -1;
    for (int d = 0; d < ragged_rank_; ++d) {
      const auto next = static_cast<size_t>(d) + 1;
      SLUICE_ASSIGN_OR_RETURN(
          positions, IsSplits(d) ? OfSplits(c, d, positions, strides[next], sizes[next])
                                 : OfRowids(Rows(c, d), positions, strides[next], sizes[next]));
    }
    return positions;
  }

  absl::StatusOr<Positions> OfSplits(KernelContext& c, int d, const Positions& parents,
                                     int64_t stride, int64_t size) const {
    const Tensor& t = Rows(c, d);
    const int64_t most = d + 1 < ragged_rank_ ? Rows(c, d + 1).num_elements() : c.input(1).dim(0);
    SLUICE_ASSIGN_OR_RETURN(const std::vector<int64_t> splits, SplitsOf(t, most));
    SLUICE_INVALID_IF(splits.size() - 1 > parents.size(),
                      "Row partition size is greater than output size: ", splits.size() - 1, " > ",
                      parents.size());
    SLUICE_INVALID_IF(splits.front() != 0, "Invalid row split size.");
    Positions positions;
    for (size_t row = 0; row + 1 < splits.size(); ++row) {
      for (int64_t k = 0; k < splits[row + 1] - splits[row]; ++k) {
        positions.push_back(parents[row] < 0 || k >= size ? -1 : parents[row] + k * stride);
      }
    }
    return positions;
  }

  static absl::StatusOr<Positions> OfRowids(const Tensor& rowids, const Positions& parents,
                                            int64_t stride, int64_t size) {
    Positions positions;
    int64_t k = 0;
    for (int64_t i = 0; i < rowids.num_elements(); ++i) {
      const int64_t row = IntAt(rowids, i);
      SLUICE_INVALID_IF(row < 0 || row >= static_cast<int64_t>(parents.size()),
                        "Got next_value_rowid=", row, " which is not less than ", parents.size(),
                        " and at least 0");
      k = i > 0 && row == IntAt(rowids, i - 1) ? k + 1 : 0;
      positions.push_back(parents[row] < 0 || k >= size ? -1 : parents[row] + k * stride);
    }
    return positions;
  }

  // Fills the output with the default value. It is broadcast to the last dimensions.
  void FillWith(KernelContext& c, const Tensor& fallback, int64_t length, Tensor* out) const {
    if (fallback.num_elements() == 1) {
      return FillElements(c, fallback.dtype(), fallback.raw(), out->raw(), out->num_elements());
    }
    if (length == 0) return;
    CopyBox box;
    const int first = out->rank() - fallback.rank();
    int64_t before = 1;  // number of copies
    for (int d = 0; d < first; ++d) before *= out->dim(d);
    const auto from = RowMajorStrides(fallback.shape());
    const auto to = RowMajorStrides(out->shape());
    box.dims.push_back({before, 0, out->num_elements() / before});
    for (int d = 0; d < fallback.rank(); ++d) {
      box.dims.push_back({out->dim(first + d), fallback.dim(d) == 1 ? 0 : from[d], to[first + d]});
    }
    CopyStrided(c, fallback.dtype(), fallback.raw(), out->raw(), box);
  }

  const std::vector<RowPartition> partitions_;
  const int ragged_rank_;
};
KERNEL(RaggedTensorToTensor, RaggedTensorToTensorKernel);

}  // namespace
}  // namespace sluice
