#include "ops/nn/attention_scores.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "executor/cpu/target_clones.h"
#include "graph/status.h"
#include "ops/loops/broadcast.h"
#include "ops/matmul/gemm.h"
#include "ops/nn/class_rows.h"

namespace sluice {
namespace {

namespace rows = class_rows;

// Ranges of columns begin at a multiple of this number, so that weights are added in the same order
// as over all columns.
constexpr int64_t kGrain = rows::kLanes;

SLUICE_TARGET_CLONES void ScaleAndMask(float* x, float scale, const float* mask, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) x[i] = x[i] * scale + mask[i];
}

// Returns the largest of n numbers, which must not be negative, or NaN if one of them is NaN.
template <typename F>
float LargestOrNan(int64_t n, const F& number) {
  float largest = 0;
  for (int64_t i = 0; i < n && !std::isnan(largest); ++i) {
    const float x = number(i);
    if (!(x <= largest)) largest = x;
  }
  return largest;
}

float LargestSquare(const float* x, int64_t num_rows, int64_t n) {
  return LargestOrNan(num_rows, [&](int64_t i) { return rows::Dot(x + i * n, x + i * n, n); });
}

}  // namespace

int64_t AttentionSizes::block_rows() const {
  constexpr int64_t kScores = 64 << 10, kLeast = 16, kMost = 64;
  return std::min(rows, std::clamp(kScores / columns / kLeast * kLeast, kLeast, kMost));
}

absl::StatusOr<AttentionSizes> SizesOfAttention(const Tensor& q, const Tensor& k, const Tensor& v) {
  const int rank = q.rank();
  const auto is_batch = [&](const Tensor& t) {
    return t.rank() == rank && std::equal(q.shape().dims().begin(), q.shape().dims().end() - 2,
                                          t.shape().dims().begin());
  };
  SLUICE_INVALID_IF(
      rank < 2 || !is_batch(k) || !is_batch(v) || k.dim(rank - 1) != q.dim(rank - 1) ||
          v.dim(rank - 2) != k.dim(rank - 2) || q.num_elements() == 0 || v.num_elements() == 0,
      "expected q [..., rows, depth], k [..., columns, depth] and v [..., columns, width] with "
      "elements, got ",
      q.shape().ToString(), ", ", k.shape().ToString(), " and ", v.shape().ToString());
  return AttentionSizes{.count = q.num_elements() / (q.dim(rank - 2) * q.dim(rank - 1)),
                        .rows = q.dim(rank - 2),
                        .columns = k.dim(rank - 2),
                        .depth = q.dim(rank - 1),
                        .width = v.dim(rank - 1)};
}

AttentionScores::AttentionScores(KernelContext& context, const AttentionSizes& sizes, float scale)
    : sizes_(sizes),
      scale_(scale),
      q_(context.input(0).data<float>()),
      k_(context.input(1).data<float>()),
      masks_(Scratch<int64_t>(context)),
      ranges_(Scratch<ColumnRange>(context)) {}

absl::StatusOr<AttentionScores> AttentionScores::Make(KernelContext& context,
                                                      const AttentionSizes& sizes, float scale,
                                                      const Tensor* mask,
                                                      std::initializer_list<const Tensor*> others) {
  AttentionScores scores(context, sizes, scale);
  if (mask == nullptr) return scores;
  SLUICE_RETURN_IF_ERROR(scores.FindMask(context.input(0), *mask));
  // For fewer columns, it costs more to search the mask than that saves.
  constexpr int64_t kWorthLooking = 128;
  if (sizes.columns < kWorthLooking) return scores;
  const float spread = scores.Spread(context, others);
  if (std::isfinite(spread)) scores.FindRanges(context, spread);
  return scores;
}

absl::Status AttentionScores::FindMask(const Tensor& q, const Tensor& mask) {
  const absl::Span<const int64_t> dims = mask.shape().dims();
  const int rank = mask.rank();
  mask_rows_ = rank > 1 ? dims[rank - 2] : 1;
  const TensorShape batch(q.shape().dims().subspan(0, q.rank() - 2));
  const TensorShape mask_batch(dims.subspan(0, std::max(rank - 2, 0)));
  const absl::StatusOr<BroadcastPlan<2>> plan = PlanBroadcast<2>({&batch, &mask_batch});
  SLUICE_INVALID_IF(rank < 1 || dims[rank - 1] != sizes_.columns ||
                        (mask_rows_ != 1 && mask_rows_ != sizes_.rows) || !plan.ok() ||
                        plan->shape != batch,
                    "expected a mask that broadcasts to ", sizes_.rows, " x ", sizes_.columns,
                    " scores of batch ", batch.ToString(), ", got ", mask.shape().ToString());
  mask_ = mask.data<float>();
  num_masks_ = mask_batch.num_elements();
  if (num_masks_ == 1) return absl::OkStatus();
  const int64_t inner = plan->inner();
  ForRows<2>(*plan, 0, plan->rows(), [&](int64_t, const std::array<int64_t, 2>& at) {
    for (int64_t i = 0; i < inner; ++i) masks_.push_back(at[1] + i * plan->strides[1].back());
  });
  return absl::OkStatus();
}

// Returns an upper bound of the difference of two scores of a row, by the Cauchy-Schwarz
// inequality. It is infinite or NaN if a number is not finite.
float AttentionScores::Spread(KernelContext& context,
                              std::initializer_list<const Tensor*> others) const {
  const int64_t of_q = sizes_.rows * sizes_.depth, of_k = sizes_.columns * sizes_.depth;
  ScratchVector<float> spreads = Scratch<float>(context, sizes_.count);
  const double reads = static_cast<double>(of_q + 3 * of_k);
  context.ParallelFor(sizes_.count, 0.05 * reads, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      spreads[i] = std::sqrt(LargestSquare(q_ + i * of_q, sizes_.rows, sizes_.depth)) *
                   std::sqrt(LargestSquare(k_ + i * of_k, sizes_.columns, sizes_.depth));
      for (const Tensor* other : others) {
        const int64_t n = other->num_elements() / sizes_.count;
        const float* x = other->data<float>() + i * n;
        spreads[i] += 0 * rows::Dot(x, x, n);  // adds 0, or NaN if x is not finite
      }
    }
  });
  const float largest = LargestOrNan(sizes_.count, [&](int64_t i) { return spreads[i]; });
  return 2.1f * std::abs(scale_) * largest;  // more than 2, because sums are rounded
}

void AttentionScores::FindRanges(KernelContext& context, float spread) {
  const int64_t blocks = sizes_.blocks();
  ranges_.resize(static_cast<size_t>(num_masks_ * blocks));
  const double reads = static_cast<double>(sizes_.block_rows() * sizes_.columns);
  context.ParallelFor(num_masks_ * blocks, 0.2 * reads, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t block = i % blocks;
      ranges_[i] = RangeOfRows(MaskRow(i / blocks, block * sizes_.block_rows()),
                               mask_rows_ == 1 ? 1 : sizes_.RowsOf(block), spread);
    }
  });
}

ColumnRange AttentionScores::RangeOfRows(const float* mask, int64_t num_rows, float spread) const {
  const int64_t n = sizes_.columns;
  constexpr float kNothing = 106;  // exp(-x) is 0 for larger x
  ColumnRange range = {n, 0};
  for (int64_t i = 0; i < num_rows; ++i, mask += n) {
    if (std::isnan(rows::Sum(mask, n))) return {0, n};  // because all weights of such a row are NaN
    const float largest = rows::Max(mask, n);
    const float least = largest - 1e-5f * std::abs(largest) - spread - kNothing;
    const auto counts = [&](int64_t j) { return !(mask[j] < least); };
    int64_t j = 0;
    while (j < range.begin && !counts(j)) ++j;
    range.begin = std::min(range.begin, j);
    j = n;
    while (j > range.end && !counts(j - 1)) --j;
    range.end = std::max(range.end, j);
  }
  if (range.begin >= range.end) return {0, n};
  range.begin = range.begin / kGrain * kGrain;
  return range;
}

void AttentionScores::Weights(int64_t product, int64_t block, ColumnRange range, float* to) const {
  const int64_t depth = sizes_.depth, n = range.size(), row = block * sizes_.block_rows();
  const int64_t num_rows = sizes_.RowsOf(block);
  const float* q = q_ + (product * sizes_.rows + row) * depth;
  const float* k = k_ + (product * sizes_.columns + range.begin) * depth;
  Gemm<float>(num_rows, n, depth, RowMajor(q, depth), Transposed(k, depth), to, n);
  for (int64_t i = 0; i < num_rows; ++i) {
    float* x = to + i * n;
    if (mask_ != nullptr) {
      ScaleAndMask(x, scale_, MaskRow(MaskOf(product), row + i) + range.begin, n);
    } else if (scale_ != 1) {
      rows::Scale(x, scale_, n);
    }
    const float sum = rows::ExpSum(x, rows::Max(x, n), x, n);
    rows::Scale(x, 1 / sum, n);
  }
}

}  // namespace sluice
