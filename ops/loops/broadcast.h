// Makes kernels of two tensors that broadcast by NumPy's rule:
//
//   BINARY_KERNELS(Sub, NumberList, RoundsOnce(0.2), WrappingSubtract(x, y));
//
// registers kernels of op Sub for each type of the list. They compute the expression of x and y,
// one element of each input. RoundsOnce(0.2) says that it takes about 0.2 nanoseconds per element
// and gives the same bits without vectors. ops/loops/elementwise.h describes functors and costs.
//
// Neighboring dimensions that broadcast alike are merged first. So one or two nested loops suffice
// if the shapes are equal or an operand is a scalar, a row or a column. The inner loop runs over
// contiguous elements. The output takes over the buffer of an input of the same size if nothing
// else uses it.
//
// Errors: INVALID_ARGUMENT "Incompatible shapes: [2,3] vs. [2,2]" if the shapes do not broadcast.
// Reference: NumPy, "Broadcasting".
#ifndef SLUICE_OPS_LOOPS_BROADCAST_H_
#define SLUICE_OPS_LOOPS_BROADCAST_H_

#include <array>
#include <string>

#include "absl/container/inlined_vector.h"
#include "ops/loops/elementwise.h"

// Registers kernels that compute an expression of x and y. Their functor is called <op>Fn. The
// result is of type T, or bool if the expression is of type bool.
#define BINARY_KERNELS(op, types, cost, ...)                           \
  SLUICE_FUNCTOR(op##Fn, cost, (const T& x, const T& y), __VA_ARGS__); \
  KERNELS(op, "T", ::sluice::Binary<op##Fn>::Kernel, types)

namespace sluice {

// The nested loops over N tensors that broadcast. They run over `dims`, and operand k advances by
// strides[k][i] elements along dimension i. Strides of the last dimension are 0 or 1.
template <int N>
struct BroadcastPlan {
  TensorShape shape;                     // of the output
  absl::InlinedVector<int64_t, 4> dims;  // merged; at least one
  std::array<absl::InlinedVector<int64_t, 4>, N> strides;

  int64_t inner() const { return dims.back(); }
  int64_t rows() const { return inner() == 0 ? 0 : shape.num_elements() / inner(); }
};

// Returns the plan for N operands of these shapes.
template <int N>
absl::StatusOr<BroadcastPlan<N>> PlanBroadcast(const std::array<const TensorShape*, N>& shapes);
extern template absl::StatusOr<BroadcastPlan<2>> PlanBroadcast<2>(
    const std::array<const TensorShape*, 2>&);
extern template absl::StatusOr<BroadcastPlan<3>> PlanBroadcast<3>(
    const std::array<const TensorShape*, 3>&);

// Calls f(row, offsets) for rows [begin, end) of the plan. A row is one run of the innermost loop.
// It starts at element offsets[k] of operand k.
template <int N, typename F>
void ForRows(const BroadcastPlan<N>& plan, int64_t begin, int64_t end, const F& f) {
  if (begin >= end) return;  // sizes may be 0
  const int outer = static_cast<int>(plan.dims.size()) - 1;
  absl::InlinedVector<int64_t, 4> index(outer);
  std::array<int64_t, N> offsets{};
  int64_t rest = begin;
  for (int i = outer - 1; i >= 0; --i) {
    index[i] = rest % plan.dims[i];
    rest /= plan.dims[i];
    for (int k = 0; k < N; ++k) offsets[k] += index[i] * plan.strides[k][i];
  }
  for (int64_t row = begin; row < end; ++row) {
    f(row, offsets);
    for (int i = outer - 1; i >= 0; --i) {
      for (int k = 0; k < N; ++k) offsets[k] += plan.strides[k][i];
      if (++index[i] < plan.dims[i]) break;
      index[i] = 0;
      for (int k = 0; k < N; ++k) offsets[k] -= plan.dims[i] * plan.strides[k][i];
    }
  }
}

class BinaryKernel : public ElementwiseLoopKernel {
 public:
  using ElementwiseLoopKernel::ElementwiseLoopKernel;
  absl::Status Compute(KernelContext& context) override;

 protected:
  // Returns an error for operands that the loop must not see, for example zero divisors.
  virtual absl::Status Check(const Tensor& x, const Tensor& y) const { return absl::OkStatus(); }

 private:
  absl::Status ComputeBroadcast(KernelContext& context) const;
};

namespace elementwise {

template <typename F, typename T>
using BinaryResult = decltype(std::declval<F>()(std::declval<Wide<T>>(), std::declval<Wide<T>>()));

// Computes the last n < kLanes elements in whole vectors (ops/loops/elementwise.h). kX is 1 if x is
// an array, and 0 if x points to a single element that is used for all results. kY says the same
// about y.
template <typename F, int kX, int kY, typename T, typename Out>
SLUICE_INLINE_IN_CLONES void RestOfBinaryLoop(const T* x, const T* y, Out* z, int64_t n) {
  if (n == 0) return;
  const F f;
  T x_from[kLanes], y_from[kLanes];
  Out to[kLanes];
  for (int64_t i = 0; i < kLanes; ++i) {
    x_from[i] = x[i < n ? kX * i : 0];
    y_from[i] = y[i < n ? kY * i : 0];
  }
  for (int64_t i = 0; i < kLanes; ++i) to[i] = f(x_from[i], y_from[i]);
  for (int64_t i = 0; i < n; ++i) z[i] = to[i];
}

template <typename F, int kX, int kY, typename T, typename Out>
SLUICE_TARGET_CLONES void ClonedBinaryLoop(const T* x, const T* y, Out* z, int64_t n) {
  const F f;
  int64_t i = 0;
  if constexpr (F::kCost <= kBoundByMemoryNs) {
    using Ahead = LinesAhead<Out>;
    for (const int64_t end = Ahead::End(n); i < end; i += Ahead::kChunk) {
      Ahead::PrefetchAhead(z + i);
      SLUICE_INDEPENDENT
      for (int64_t j = 0; j < Ahead::kChunk; ++j) z[i + j] = f(x[kX * (i + j)], y[kY * (i + j)]);
    }
  }
  SLUICE_INDEPENDENT
  for (const int64_t end = EndOfVectors<F>(n); i < end; ++i) z[i] = f(x[kX * i], y[kY * i]);
  if constexpr (UsesLibrary<F>) {
    RestOfBinaryLoop<F, kX, kY>(x + kX * i, y + kY * i, z + i, n - i);
  }
}

template <typename F, int kX, int kY, typename T, typename Out>
void BinaryLoop(const T* x, const T* y, Out* z, int64_t n) {
  if constexpr (std::is_floating_point_v<T>) {
    // A single element is read first, because the output may overlap it.
    if constexpr (kX == 1 && kY == 1) {
      ClonedBinaryLoop<F, 1, 1>(x, y, z, n);
    } else {
      const T alone = kX == 0 ? *x : *y;
      ClonedBinaryLoop<F, kX, kY>(kX == 0 ? &alone : x, kY == 0 ? &alone : y, z, n);
    }
  } else {
    const F f;
    if constexpr (kX == 1 && kY == 1) {
      SLUICE_INDEPENDENT
      for (int64_t i = 0; i < n; ++i) z[i] = f(x[i], y[i]);
    } else {
      const T alone = kX == 0 ? *x : *y;
      SLUICE_INDEPENDENT
      for (int64_t i = 0; i < n; ++i) {
        z[i] = f(kX == 0 ? alone : x[i], kY == 0 ? alone : y[i]);
      }
    }
  }
}

template <typename F, typename T, int kX, int kY>
void RunBinary(const void* x_raw, const void* y_raw, void* z_raw, int64_t n) {
  using Out = BinaryResult<F, T>;
  const T* x = static_cast<const T*>(x_raw);
  const T* y = static_cast<const T*>(y_raw);
  if constexpr (kIsFloat16<T>) {
    float wide_x[kElementsPerBlock], wide_y[kElementsPerBlock], wide_z[kElementsPerBlock];
    if (kX == 0) wide_x[0] = static_cast<float>(*x);
    if (kY == 0) wide_y[0] = static_cast<float>(*y);
    for (int64_t i = 0; i < n; i += kElementsPerBlock) {
      const int64_t count = std::min(kElementsPerBlock, n - i);
      if (kX == 1) Widen(x + i, wide_x, count);
      if (kY == 1) Widen(y + i, wide_y, count);
      if constexpr (std::is_same_v<Out, float>) {
        BinaryLoop<F, kX, kY>(wide_x, wide_y, wide_z, count);
        Narrow(wide_z, static_cast<T*>(z_raw) + i, count);
      } else {
        BinaryLoop<F, kX, kY>(wide_x, wide_y, static_cast<Out*>(z_raw) + i, count);
      }
    }
  } else {
    BinaryLoop<F, kX, kY>(x, y, static_cast<Out*>(z_raw), n);
  }
}

// Computes one element. It is faster than a loop, which needs an indirect jump to choose among its
// versions for different instruction sets.
template <typename F, typename T>
void RunScalars(const void* x, const void* y, void* z, int64_t) {
  *static_cast<BinaryResult<F, T>*>(z) = F()(*static_cast<const T*>(x), *static_cast<const T*>(y));
}

template <typename F>
concept HasOneRounding = F::kRoundsOnce;

// The loop for single elements. Null if RunScalars might round differently from the other loops.
template <typename F, typename T>
constexpr ElementwiseLoops::OfTwo ScalarsOf() {
  if constexpr (std::is_floating_point_v<T> && HasOneRounding<F>) {
    return RunScalars<F, T>;
  } else {
    return nullptr;
  }
}

template <typename F, typename T>
constexpr FloatOp FloatOpOf() {
  if constexpr (std::is_same_v<T, float> && requires { F::kFloatOp; }) {
    return F::kFloatOp;
  } else {
    return FloatOp::kOther;
  }
}

template <typename F, typename T>
ElementwiseLoops LoopsOf() {
  return {.both = RunBinary<F, T, 1, 1>,
          .x_alone = RunBinary<F, T, 0, 1>,
          .y_alone = RunBinary<F, T, 1, 0>,
          .scalars = ScalarsOf<F, T>(),
          .float_op = FloatOpOf<F, T>(),
          .in_size = sizeof(T),
          .out_size = OutputSize<T, BinaryResult<F, T>>(),
          .cost = F::kCost + (kIsFloat16<T> ? 0.7 : 0)};
}

}  // namespace elementwise

template <typename F, typename Base = BinaryKernel>
struct Binary {
  template <typename T>
  class Kernel : public Base {
   public:
    Kernel() : Base(elementwise::LoopsOf<F, T>()) {}
  };
};

}  // namespace sluice

#endif  // SLUICE_OPS_LOOPS_BROADCAST_H_
