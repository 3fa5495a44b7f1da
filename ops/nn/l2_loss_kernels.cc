#include <algorithm>

#include "executor/cpu/target_clones.h"
#include "executor/kernel/context.h"
#include "graph/status.h"

namespace sluice {
namespace {

template <typename T>
using Sum = std::conditional_t<kIsFloat16<T>, float, T>;

constexpr int64_t kBlock = 4096;

template <typename T>
SLUICE_TARGET_CLONES Sum<T> SumOfSquares(const T* x, int64_t n) {
  constexpr int kLanes = 16;
  Sum<T> lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) {
      const auto v = static_cast<Sum<T>>(x[i + j]);
      lanes[j] += v * v;
    }
  }
  for (; i < n; ++i) lanes[0] += static_cast<Sum<T>>(x[i]) * static_cast<Sum<T>>(x[i]);
  Sum<T> sum = lanes[0];
  for (int j = 1; j < kLanes; ++j) sum += lanes[j];
  return sum;
}

// Sums blocks separately, and then adds the blocks in order, so that the bits do not depend on the
// number of threads.
template <typename T>
absl::Status L2Loss(KernelContext& context) {
  const int64_t n = context.input(0).num_elements();
  const T* x = context.input(0).data<T>();
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, context.AllocateOutput(0, {}));
  const int64_t blocks = std::max<int64_t>(1, (n + kBlock - 1) / kBlock);
  SLUICE_ASSIGN_OR_RETURN(Tensor partial, context.AllocateTemp(kDataTypeOf<Sum<T>>, {blocks}));
  Sum<T>* sums = partial.data<Sum<T>>();
  context.ParallelFor(blocks, 0.2 * kBlock, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      sums[b] = SumOfSquares(x + b * kBlock, std::min(kBlock, n - b * kBlock));
    }
  });
  Sum<T> sum(0);
  for (int64_t b = 0; b < blocks; ++b) sum += sums[b];
  out->scalar<T>() = T(sum / 2);
  return absl::OkStatus();
}
FUNCTION_KERNELS(L2Loss, "T", L2Loss, FloatList);

}  // namespace
}  // namespace sluice
