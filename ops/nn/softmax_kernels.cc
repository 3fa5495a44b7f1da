#include <algorithm>
#include <vector>

#include "executor/cpu/prefetch.h"
#include "executor/cpu/stream_out.h"
#include "executor/kernel/context.h"
#include "executor/kernel/row_kernel.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/nn/class_rows.h"

namespace sluice {
namespace {

namespace rows = class_rows;

// Nanoseconds per element.
constexpr double kCost = 1;

template <typename F>
void SoftmaxRow(const F* x, F* y, int64_t n) {
  const F sum = rows::ExpSum(x, rows::Max(x, n), y, n);
  rows::Scale(y, F(1) / sum, n);
}

template <typename F>
void LogSoftmaxRow(const F* x, F* y, int64_t n) {
  const F max = rows::Max(x, n);
  if (x != y) {
    const F sum = rows::ExpSum(x, max, y, n);
    return rows::Subtract(x, max, std::log(sum), y, n);
  }
  std::vector<F> scratch(static_cast<size_t>(n));
  const F sum = rows::ExpSum(x, max, scratch.data(), n);
  rows::Subtract(x, max, std::log(sum), y, n);
}

// The kernel of Softmax and LogSoftmax, which work on rows, that is, the last dimension.
template <typename T, bool kLog>
class SoftmaxKernel : public Kernel, public RowKernel {
 public:
  absl::Status Compute(KernelContext& context) override {
    const TensorShape shape = context.input(0).shape();
    SLUICE_INVALID_IF(shape.rank() < 1, "logits must have >= 1 dimension, got ", shape.ToString());
    const int64_t n = shape.dim(shape.rank() - 1);
    const T* x = context.input(0).data<T>();  // valid even if the output takes over the buffer
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, context.ForwardOrAllocate({0}, 0, shape));
    if (shape.num_elements() == 0) return absl::OkStatus();
    T* y = out->data<T>();
    const size_t row_bytes = static_cast<size_t>(n) * sizeof(T);
    const bool streams = x != y && row_bytes <= kMostStreamedBytes &&
                         IsWorthStreaming(out->bytes(), context.num_threads());
    const auto make = [&](int64_t begin, int64_t end, char* to) {
      Rows(x + begin * n, reinterpret_cast<T*>(to), n, end - begin, !streams);
    };
    context.ParallelFor(shape.num_elements() / n, kCost * static_cast<double>(n),
                        [&](int64_t begin, int64_t end) {
                          MakeUnits(streams, begin, end, row_bytes, reinterpret_cast<char*>(y),
                                    make, {reinterpret_cast<const char*>(x)});
                        });
    return absl::OkStatus();
  }

  bool IsReduction() const override { return false; }
  void MakeRows(const void* x, void* z, int64_t rows, int64_t n) const override {
    Rows(static_cast<const T*>(x), static_cast<T*>(z), n, rows, false);
  }
  TensorShape ShapeOfRows(const TensorShape& x) const override { return x; }
  double CostOfRows() const override { return kCost; }

 private:
  // Prefetches row + n while `row` is processed in the first-level cache. After the last row of a
  // block, this is usually the first row of the next block.
  SLUICE_INLINE_IN_CLONES static void AskForNext(const T* row, int64_t n) {
    constexpr int64_t kLine = kLineBytes / static_cast<int64_t>(sizeof(T)), kMostLines = 128;
    for (int64_t i = 0; i < std::min(n, kMostLines * kLine); i += kLine) Prefetch(row, n + i);
  }
  static void Rows(const T* x, T* y, int64_t n, int64_t num_rows, bool asks_for_next) {
    std::vector<rows::Wide<T>> wide_x, wide_y;
    for (int64_t r = 0; r < num_rows; ++r) {
      if (asks_for_next) AskForNext(x + r * n, n);
      const auto* from = rows::Widen(x + r * n, n, &wide_x);
      auto* to = rows::Target(y + r * n, n, &wide_y);
      if constexpr (kLog) {
        LogSoftmaxRow(from, to, n);
      } else {
        SoftmaxRow(from, to, n);
      }
      rows::Narrow(to, n, y + r * n);
    }
  }
};

template <typename T>
using Softmax = SoftmaxKernel<T, false>;
template <typename T>
using LogSoftmax = SoftmaxKernel<T, true>;
KERNELS(Softmax, "T", Softmax, FloatList);
KERNELS(LogSoftmax, "T", LogSoftmax, FloatList);

}  // namespace
}  // namespace sluice
