// Computes the weights of attention, softmax(q * k^T * scale + mask), a block of rows at a time.
// The numbers to which softmax is applied are called scores.
#ifndef SLUICE_OPS_NN_ATTENTION_SCORES_H_
#define SLUICE_OPS_NN_ATTENTION_SCORES_H_

#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include "absl/status/statusor.h"
#include "executor/kernel/context.h"
#include "executor/kernel/scratch.h"
#include "graph/tensor/tensor.h"

namespace sluice {

// The sizes of `count` matrices q (rows x depth), k (columns x depth) and v (columns x width). The
// elements of each tensor are contiguous.
struct AttentionSizes {
  int64_t count, rows, columns, depth, width;

  // The number of rows per block. It is small enough that the scores stay in the second-level cache
  // with the other operands. The last block may have fewer rows.
  int64_t block_rows() const;
  int64_t blocks() const { return (rows + block_rows() - 1) / block_rows(); }
  int64_t RowsOf(int64_t block) const {
    return std::min(block_rows(), rows - block * block_rows());
  }
};

// INVALID_ARGUMENT if the shapes do not fit each other, or if a tensor has no elements.
absl::StatusOr<AttentionSizes> SizesOfAttention(const Tensor& q, const Tensor& k, const Tensor& v);

// The columns [begin, end) of the scores. A column of the scores belongs to a row of k and v.
struct ColumnRange {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

// Computes the weights in one call of a kernel. `context`, its inputs 0 and 1 (q, k) and the mask
// must outlive the object.
//
// Thread safety: immutable.
class AttentionScores {
 public:
  // Without a mask, `mask` is null. INVALID_ARGUMENT if it does not fit. `others` are the tensors
  // that the weights are multiplied with. To find out whether columns can be omitted, Make reads
  // all of q, k and `others`. No column is omitted if one of their numbers is not finite.
  static absl::StatusOr<AttentionScores> Make(KernelContext& context, const AttentionSizes& sizes,
                                              float scale, const Tensor* mask,
                                              std::initializer_list<const Tensor*> others);

  // The columns that may have a weight other than 0 in some row of block number `block`, for the
  // matrices number `product` of q and k. A column is omitted if its mask is so far below the
  // largest mask of the row that no scores could make up for it: its weight is then exactly 0. A
  // causal mask omits half of all columns, and a mask of short sentences omits their padding.
  ColumnRange RangeOf(int64_t product, int64_t block) const {
    return ranges_.empty() ? ColumnRange{0, sizes_.columns}
                           : ranges_[MaskOf(product) * sizes_.blocks() + block];
  }
  // Computes the weights of a block's rows for the columns in `range`, and writes them to `to`, one
  // row after the other.
  void Weights(int64_t product, int64_t block, ColumnRange range, float* to) const;

 private:
  AttentionScores(KernelContext& context, const AttentionSizes& sizes, float scale);
  absl::Status FindMask(const Tensor& q, const Tensor& mask);
  float Spread(KernelContext& context, std::initializer_list<const Tensor*> others) const;
  void FindRanges(KernelContext& context, float spread);
  ColumnRange RangeOfRows(const float* mask, int64_t rows, float spread) const;
  int64_t MaskOf(int64_t product) const { return masks_.empty() ? 0 : masks_[product]; }
  const float* MaskRow(int64_t mask, int64_t row) const {
    return mask_ + (mask * mask_rows_ + (mask_rows_ == 1 ? 0 : row)) * sizes_.columns;
  }

  AttentionSizes sizes_;
  float scale_;
  const float *q_, *k_;
  const float* mask_ = nullptr;  // null without a mask
  int64_t mask_rows_ = 0, num_masks_ = 0;
  ScratchVector<int64_t> masks_;       // mask of each product, empty if there is only one mask
  ScratchVector<ColumnRange> ranges_;  // by mask and block, empty if no column is omitted
};

}  // namespace sluice

#endif  // SLUICE_OPS_NN_ATTENTION_SCORES_H_
