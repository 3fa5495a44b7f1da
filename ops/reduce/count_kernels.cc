#include <algorithm>
#include <cmath>
#include <cstring>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/loops/int_tensor.h"
#include "ops/loops/wrapping.h"

namespace sluice {
namespace {

absl::Status CheckWeights(const Tensor& weights, const Tensor& values) {
  if (weights.num_elements() == 0 || weights.shape() == values.shape()) return absl::OkStatus();
  return InvalidArgument(
      "`weights` must be the same shape as `arr` or a length-0 `Tensor`, in which case it acts as "
      "all weights equal to 1. Input indices and weights must have the same size, got ",
      values.shape().ToString(), " and ", weights.shape().ToString());
}

// Adds the weights of `n` values to their bins. If there are no weights, each counts as 1.
template <typename T>
absl::Status CountRow(const Tensor& values, int64_t begin, int64_t n, const Tensor& weights,
                      bool binary, int64_t bins, T* out) {
  const T* weight = weights.num_elements() == 0 ? nullptr : weights.data<T>();
  for (int64_t i = begin; i < begin + n; ++i) {
    const int64_t value = IntAt(values, i);
    SLUICE_INVALID_IF(value < 0, "Input arr must be non-negative!, got ", value);
    if (value >= bins) continue;
    if (binary) {
      out[value] = T(1);
    } else {
      out[value] = WrappingAdd(out[value], weight == nullptr ? T(1) : weight[i]);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> BinsOf(const Tensor& size) {
  SLUICE_INVALID_IF(size.rank() != 0, "Shape must be rank 0 but is rank ", size.rank());
  const int64_t bins = IntAt(size, 0);
  SLUICE_INVALID_IF(bins < 0, "size (", bins, ") must be non-negative");
  return bins;
}

template <typename T>
absl::Status Count(KernelContext& c, bool binary) {
  const Tensor &values = c.input(0), &weights = c.input(2);
  SLUICE_ASSIGN_OR_RETURN(const int64_t bins, BinsOf(c.input(1)));
  SLUICE_RETURN_IF_ERROR(CheckWeights(weights, values));
  const bool rows = values.rank() == 2 && c.node().op() == "DenseBincount";
  SLUICE_INVALID_IF(c.node().op() == "DenseBincount" && values.rank() > 2,
                    "Shape must be at most rank 2 but is rank ", values.rank());
  TensorShape shape({bins});
  if (rows) {
    SLUICE_ASSIGN_OR_RETURN(shape, TensorShape::Make({values.dim(0), bins}));
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  if (out->bytes() > 0) std::memset(out->raw(), 0, out->bytes());
  if (values.num_elements() == 0) return absl::OkStatus();
  const int64_t count = rows ? values.dim(0) : 1;
  const int64_t length = values.num_elements() / count;
  for (int64_t row = 0; row < count; ++row) {
    SLUICE_RETURN_IF_ERROR(CountRow<T>(values, row * length, length, weights, binary, bins,
                                       out->data<T>() + row * bins));
  }
  return absl::OkStatus();
}
template <typename T>
absl::Status Bincount(KernelContext& c) {
  return Count<T>(c, false);
}
using CountedList = TypeList<int32_t, int64_t, float, double>;
FUNCTION_KERNELS(Bincount, "T", Bincount, CountedList);

template <typename T>
absl::Status DenseBincount(KernelContext& c, Attr<bool, "binary_output"> binary) {
  return Count<T>(c, binary);
}
FUNCTION_KERNELS(DenseBincount, "T", DenseBincount, CountedList);

absl::StatusOr<std::vector<float>> SortedBoundaries(KernelInit& init) {
  const auto& boundaries = init.attr<std::vector<float>>("boundaries");
  SLUICE_INVALID_IF(!std::is_sorted(boundaries.begin(), boundaries.end()),
                    "Expected sorted boundaries");
  return boundaries;
}

template <typename T>
absl::Status Bucketize(KernelContext& c, const Prepared<SortedBoundaries>& boundaries) {
  const Tensor& in = c.input(0);
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, in.shape()));
  const T* x = in.data<T>();
  int32_t* y = out->data<int32_t>();
  c.ParallelFor(in.num_elements(), 10, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      y[i] = static_cast<int32_t>(std::upper_bound(boundaries->begin(), boundaries->end(), x[i]) -
                                  boundaries->begin());
    }
  });
  return absl::OkStatus();
}
FUNCTION_KERNELS(Bucketize, "T", Bucketize, CountedList);

template <typename T>
absl::Status HistogramFixedWidth(KernelContext& c) {
  const Tensor &values = c.input(0), &range = c.input(1), &bins_t = c.input(2);
  SLUICE_INVALID_IF(range.rank() != 1 || range.dim(0) != 2,
                    "value_range should be a vector of 2 elements, got shape ",
                    range.shape().ToString());
  SLUICE_RETURN_IF_ERROR(ExpectRank(bins_t, 0, "nbins should be a scalar, got shape "));
  const T low = range.data<T>()[0], high = range.data<T>()[1];
  const int32_t bins = bins_t.scalar<int32_t>();
  SLUICE_INVALID_IF(!(low < high),
                    "value_range should satisfy value_range[0] < value_range[1], but got '[",
                    static_cast<double>(low), ", ", static_cast<double>(high), "]'");
  SLUICE_INVALID_IF(bins <= 0, "nbins should be a positive number, but got '", bins, "'");
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, {bins}));
  std::memset(out->raw(), 0, out->bytes());
  const double step =
      (static_cast<double>(high) - static_cast<double>(low)) / static_cast<double>(bins);
  for (T value : values.flat<T>()) {
    const double at = (static_cast<double>(value) - static_cast<double>(low)) / step;
    if (std::isnan(at)) continue;  // a NaN, or an infinite value with infinite steps
    const auto bin = static_cast<int64_t>(std::clamp<double>(std::floor(at), 0, bins - 1));
    SetIntAt(*out, bin, IntAt(*out, bin) + 1);
  }
  return absl::OkStatus();
}
FUNCTION_KERNELS(HistogramFixedWidth, "T", HistogramFixedWidth, CountedList);

template <typename T, bool kUpper>
absl::Status Search(KernelContext& c) {
  const Tensor &sorted = c.input(0), &values = c.input(1);
  SLUICE_INVALID_IF(sorted.rank() != 2, "Shape must be rank 2 but is rank ", sorted.rank(),
                    " for `sorted_inputs` argument of shape ", sorted.shape().ToString());
  SLUICE_RETURN_IF_ERROR(
      ExpectRank(values, 2, "value input argument must be a matrix, got shape "));
  SLUICE_INVALID_IF(sorted.dim(0) != values.dim(0),
                    "Leading dim_size of both tensors must match, got ", sorted.dim(0), " and ",
                    values.dim(0));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, values.shape()));
  const int64_t length = sorted.dim(1), width = values.dim(1);
  for (int64_t i = 0; i < values.num_elements(); ++i) {
    const T* row = sorted.data<T>() + i / width * length;
    const T value = values.data<T>()[i];
    const T* at = kUpper ? std::upper_bound(row, row + length, value)
                         : std::lower_bound(row, row + length, value);
    SetIntAt(*out, i, at - row);
  }
  return absl::OkStatus();
}
template <typename T>
absl::Status LowerBound(KernelContext& c) {
  return Search<T, false>(c);
}
template <typename T>
absl::Status UpperBound(KernelContext& c) {
  return Search<T, true>(c);
}
FUNCTION_KERNELS(LowerBound, "T", LowerBound, RealList);
FUNCTION_KERNELS(UpperBound, "T", UpperBound, RealList);

template <typename T>
absl::Status NthElement(KernelContext& c, Attr<bool, "reverse"> reverse) {
  const Tensor &in = c.input(0), &n_t = c.input(1);
  SLUICE_INVALID_IF(n_t.rank() != 0, "N must be scalar but has rank ", n_t.rank());
  int64_t n = n_t.scalar<int32_t>();
  SLUICE_INVALID_IF(n < 0, "n must be non-negative but is ", n);
  SLUICE_INVALID_IF(in.rank() < 1, "Input must be at least rank 1 but is rank 0");
  const int64_t length = in.dim(in.rank() - 1);
  SLUICE_INVALID_IF(length <= n, "Input must have last dimension > n = ", n, ", got ", length);
  if (reverse) n = length - n - 1;
  SLUICE_ASSIGN_OR_RETURN(
      Tensor * out, c.AllocateOutput(0, TensorShape(in.shape().dims().subspan(0, in.rank() - 1))));
  const T* x = in.data<T>();
  c.ParallelFor(out->num_elements(), 5.0 * static_cast<double>(length),
                [&](int64_t begin, int64_t end) {
                  std::vector<T> row(static_cast<size_t>(length));
                  for (int64_t i = begin; i < end; ++i) {
                    std::copy_n(x + i * length, length, row.begin());
                    std::nth_element(row.begin(), row.begin() + n, row.end());
                    out->data<T>()[i] = row[static_cast<size_t>(n)];
                  }
                });
  return absl::OkStatus();
}
FUNCTION_KERNELS(NthElement, "T", NthElement, RealList);

}  // namespace
}  // namespace sluice
