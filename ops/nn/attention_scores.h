// The weights of attention, softmax(q * k^T * scale + mask), a block of rows at a time.
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

// Of `count` pairs q (rows x depth) and k (columns x depth), and of v (columns x width). Elements
// follow each other in all of them.
struct AttentionSizes {
  int64_t count, rows, columns, depth, width;

  // Rows of a block: so few that its scores stay in the second cache with what they meet. The last
  // one may have fewer.
  int64_t block_rows() const;
  int64_t blocks() const { return (rows + block_rows() - 1) / block_rows(); }
  int64_t RowsOf(int64_t block) const {
    return std::min(block_rows(), rows - block * block_rows());
  }
};

// INVALID_ARGUMENT where the shapes do not fit each other, or something has no elements.
absl::StatusOr<AttentionSizes> SizesOfAttention(const Tensor& q, const Tensor& k, const Tensor& v);

// Columns [begin, end).
struct ColumnRange {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

// Thread safety: immutable once made; `context`, its inputs 0 and 1 (q, k) and the mask outlive it.
class AttentionScores {
 public:
  // Without a mask where it is null; INVALID_ARGUMENT where it does not fit. Where it may leave
  // columns out, reads all of q, k and of `others`, which the weights meet: what is not finite
  // there must not be left out.
  static absl::StatusOr<AttentionScores> Make(KernelContext& context, const AttentionSizes& sizes,
                                              float scale, const Tensor* mask,
                                              std::initializer_list<const Tensor*> others);

  // The columns that any row of a block may give a weight to: those left out have a weight of
  // exactly 0, because the mask is further below the row's largest than any two scores are apart. A
  // causal mask leaves out half of all, one of short sentences what they are padded with.
  ColumnRange RangeOf(int64_t product, int64_t block) const {
    return ranges_.empty() ? ColumnRange{0, sizes_.columns}
                           : ranges_[MaskOf(product) * sizes_.blocks() + block];
  }
  // The weights of a block's rows and these columns, one row after the other.
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
  const float* mask_ = nullptr;  // none
  int64_t mask_rows_ = 0, num_masks_ = 0;
  ScratchVector<int64_t> masks_;       // by product; empty where all have the only one
  ScratchVector<ColumnRange> ranges_;  // by mask and block; empty where no column is left out
};

}  // namespace sluice

#endif  // SLUICE_OPS_NN_ATTENTION_SCORES_H_
