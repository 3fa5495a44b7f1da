#include <cmath>
#include <limits>

#include "graph/tensor/sizes.h"
#include "ops/loops/elementwise.h"
#include "ops/loops/wrapping.h"

namespace sluice {
namespace {

absl::StatusOr<int> ScanAxis(const Tensor& axis, const TensorShape& shape) {
  SLUICE_RETURN_IF_ERROR(ExpectRank(axis, 0, "ScanOp: axis must be a scalar, not "));
  const int64_t value = axis.dtype() == DT_INT32 ? axis.scalar<int32_t>() : axis.scalar<int64_t>();
  const int64_t canonical = value < 0 ? value + shape.rank() : value;
  SLUICE_INVALID_IF(canonical < 0 || canonical >= shape.rank(),
                    "ScanOp: Expected scan axis in the range [", -shape.rank(), ", ", shape.rank(),
                    "), but got ", value);
  return static_cast<int>(canonical);
}

struct SumScan {
  template <typename A>
  static A Identity() {
    return A(0);
  }
  template <typename A>
  static A Next(A total, A x) {
    return WrappingAdd(total, x);
  }
};
struct ProdScan {
  template <typename A>
  static A Identity() {
    return A(1);
  }
  template <typename A>
  static A Next(A total, A x) {
    return WrappingMultiply(total, x);
  }
};
struct LogSumExpScan {
  template <typename A>
  static A Identity() {
    return -std::numeric_limits<A>::infinity();
  }
  template <typename A>
  static A Next(A a, A b) {
    const A high = a < b ? b : a, low = a < b ? a : b;
    return high == low ? high + std::log(A(2)) : high + std::log1p(std::exp(low - high));
  }
};

// Scans the columns of a matrix. `totals` is scratch memory for one row. x and y may be the same
// memory.
template <typename Scan, typename A, typename T>
void ScanLoop(const T* x, T* y, int64_t rows, int64_t columns, bool exclusive, bool reverse,
              A* totals) {
  std::fill_n(totals, columns, Scan::template Identity<A>());
  const int64_t step = reverse ? -columns : columns;
  const int64_t start = reverse ? (rows - 1) * columns : 0;
  x += start;
  y += start;
  for (int64_t r = 0; r < rows; ++r, x += step, y += step) {
    for (int64_t c = 0; c < columns; ++c) {
      const A next = Scan::template Next<A>(totals[c], static_cast<A>(x[c]));
      y[c] = static_cast<T>(exclusive ? totals[c] : next);
      totals[c] = next;
    }
  }
}

template <typename Scan>
struct Scanner {
  template <typename T>
  class Kernel : public sluice::Kernel {
   public:
    explicit Kernel(KernelInit& init)
        : exclusive_(init.attr<bool>("exclusive")), reverse_(init.attr<bool>("reverse")) {}

    absl::Status Compute(KernelContext& context) override {
      using A = Wide<T>;
      const TensorShape shape = context.input(0).shape();
      SLUICE_ASSIGN_OR_RETURN(const int axis, ScanAxis(context.input(1), shape));
      int64_t outer = 1, columns = 1;
      for (int i = 0; i < shape.rank(); ++i) {
        if (i == axis) continue;
        int64_t& side = i < axis ? outer : columns;
        side = SaturatedProduct(side, shape.dim(i));
      }
      const int64_t rows = shape.dim(axis);
      const T* x = context.input(0).template data<T>();
      SLUICE_ASSIGN_OR_RETURN(Tensor * output, context.ForwardOrAllocate({0}, 0, shape));
      T* y = output->template data<T>();
      if (shape.num_elements() == 0) return absl::OkStatus();
      const double cost =
          (std::is_same_v<Scan, LogSumExpScan> ? 20.0 : 1.0) * static_cast<double>(rows * columns);
      context.ParallelFor(outer, cost, [&](int64_t begin, int64_t end) {
        const auto totals = std::make_unique<A[]>(columns);
        for (int64_t i = begin; i < end; ++i) {
          const int64_t at = i * rows * columns;
          ScanLoop<Scan>(x + at, y + at, rows, columns, exclusive_, reverse_, totals.get());
        }
      });
      return absl::OkStatus();
    }

   private:
    const bool exclusive_;
    const bool reverse_;
  };
};

KERNELS(Cumsum, "T", Scanner<SumScan>::Kernel, NumberList);
KERNELS(Cumprod, "T", Scanner<ProdScan>::Kernel, NumberList);
KERNELS(CumulativeLogsumexp, "T", Scanner<LogSumExpScan>::Kernel, FloatList);

}  // namespace
}  // namespace sluice
