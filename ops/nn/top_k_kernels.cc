#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/status.h"

namespace sluice {
namespace {

int64_t ScalarInt(const Tensor& t) {
  switch (t.dtype()) {
    case DT_INT16:
      return t.scalar<int16_t>();
    case DT_INT32:
      return t.scalar<int32_t>();
    default:
      return t.scalar<int64_t>();
  }
}

// Returns whether element a comes before element b: greater elements come first, then those at a
// lower position. NaNs come last, so that the order is total.
template <typename T>
struct Before {
  const T* row;
  bool operator()(int64_t a, int64_t b) const {
    if (row[a] > row[b]) return true;
    if (row[a] < row[b]) return false;
    if constexpr (std::is_floating_point_v<T> || kIsFloat16<T>) {
      const bool a_nan = std::isnan(static_cast<float>(row[a]));
      const bool b_nan = std::isnan(static_cast<float>(row[b]));
      if (a_nan != b_nan) return b_nan;
    }
    return a < b;
  }
};

// Finds the first k of the n positions of a row in the order of Before.
template <typename T>
void SelectRow(const T* row, int64_t n, int64_t k, std::vector<int64_t>* order) {
  const Before<T> before{row};
  if (k == 1) {
    int64_t best = 0;
    for (int64_t i = 1; i < n; ++i) best = before(i, best) ? i : best;
    (*order)[0] = best;
    return;
  }
  std::iota(order->begin(), order->end(), int64_t{0});
  if (k < n) std::nth_element(order->begin(), order->begin() + k, order->end(), before);
  std::sort(order->begin(), order->begin() + k, before);
}

template <typename T, typename Index>
void Rows(KernelContext& context, const Tensor& input, int64_t n, int64_t k, Tensor* values,
          Tensor* indices) {
  const double cost = static_cast<double>(n) * (k == 1 ? 1 : 8);
  context.ParallelFor(input.num_elements() / n, cost, [&](int64_t begin, int64_t end) {
    std::vector<int64_t> order(static_cast<size_t>(n));
    for (int64_t r = begin; r < end; ++r) {
      const T* row = input.data<T>() + r * n;
      SelectRow(row, n, k, &order);
      for (int64_t i = 0; i < k; ++i) {
        values->data<T>()[r * k + i] = row[order[i]];
        indices->data<Index>()[r * k + i] = static_cast<Index>(order[i]);
      }
    }
  });
}

// TopK has `k` as an attribute and TopKV2 as an input.
int64_t MostIndices(DataType index_type) {
  return index_type == DT_INT16   ? std::numeric_limits<int16_t>::max()
         : index_type == DT_INT32 ? std::numeric_limits<int32_t>::max()
                                  : std::numeric_limits<int64_t>::max();
}

template <typename T>
absl::Status TopK(KernelContext& context, Attr<int64_t, "k", -1> k_attr) {
  const Tensor& input = context.input(0);
  int64_t k = k_attr;
  if (context.num_inputs() == 2) {
    SLUICE_RETURN_IF_ERROR(ExpectRank(context.input(1), 0, "k must be scalar, got shape "));
    k = ScalarInt(context.input(1));
  }
  SLUICE_INVALID_IF(k < 0, "Need k >= 0, got ", k);
  SLUICE_INVALID_IF(input.rank() < 1, "input must be >= 1-D, got shape ", input.shape().ToString());
  const int64_t n = input.dim(input.rank() - 1);
  SLUICE_INVALID_IF(n < k, "input must have at least k columns. Had ", n, ", needed ", k);
  const int64_t most = MostIndices(context.output_dtype(1));
  SLUICE_INVALID_IF(n > most, "Second dimension of flattened input must be <= ", most, ", got ", n);
  TensorShape shape = input.shape();
  shape.set_dim(shape.rank() - 1, k);
  SLUICE_ASSIGN_OR_RETURN(Tensor * values, context.AllocateOutput(0, shape));
  SLUICE_ASSIGN_OR_RETURN(Tensor * indices, context.AllocateOutput(1, shape));
  if (shape.num_elements() == 0) return absl::OkStatus();
  switch (indices->dtype()) {
    case DT_INT16:
      Rows<T, int16_t>(context, input, n, k, values, indices);
      break;
    case DT_INT32:
      Rows<T, int32_t>(context, input, n, k, values, indices);
      break;
    default:
      Rows<T, int64_t>(context, input, n, k, values, indices);
  }
  return absl::OkStatus();
}
FUNCTION_KERNELS(TopK, "T", TopK, RealList);
FUNCTION_KERNELS(TopKV2, "T", TopK, RealList);

// Returns whether fewer than k classes have a greater prediction than the target. Returns false if
// a number is not finite or the target is out of range.
bool IsAmongTopK(const float* row, int64_t classes, int64_t target, int64_t k) {
  if (target < 0 || target >= classes || !std::isfinite(row[target])) return false;
  int64_t above = 0;
  for (int64_t i = 0; i < classes && above <= k; ++i) {
    if (!std::isfinite(row[i])) return false;
    if (row[i] > row[target]) ++above;
  }
  return above < k;
}

// InTopK has `k` as an attribute and InTopKV2 as an input.
absl::Status InTopK(KernelContext& context, Attr<int64_t, "k", 0> k_attr) {
  const Tensor& predictions = context.input(0);
  const Tensor& targets = context.input(1);
  int64_t k = k_attr;
  if (context.num_inputs() == 3) {
    SLUICE_RETURN_IF_ERROR(ExpectRank(context.input(2), 0, "k must be 0-D, got shape "));
    k = ScalarInt(context.input(2));
  }
  SLUICE_INVALID_IF(predictions.rank() != 2, "predictions must be 2-dimensional");
  SLUICE_INVALID_IF(targets.rank() != 1, "targets must be 1-dimensional");
  SLUICE_INVALID_IF(predictions.dim(0) != targets.dim(0), "First dimension of predictions ",
                    predictions.dim(0), " must match length of targets ", targets.dim(0));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, context.AllocateOutput(0, targets.shape()));
  const int64_t classes = predictions.dim(1);
  for (int64_t r = 0; r < targets.dim(0); ++r) {
    const int64_t target =
        targets.dtype() == DT_INT32 ? targets.data<int32_t>()[r] : targets.data<int64_t>()[r];
    out->data<bool>()[r] = IsAmongTopK(predictions.data<float>() + r * classes, classes, target, k);
  }
  return absl::OkStatus();
}
KERNEL(InTopK, FunctionKernel<InTopK>);
KERNEL(InTopKV2, FunctionKernel<InTopK>);

}  // namespace
}  // namespace sluice
