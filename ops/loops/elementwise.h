// Kernels of one tensor, element by element, from a functor:
//
//   struct SquareFn {
//     static constexpr double kCost = 0.3;  // nanoseconds an element, roughly
//     template <typename T>
//     SLUICE_INLINE_IN_CLONES T operator()(T x) const { return x * x; }
//   };
//   KERNELS(Square, "T", Elementwise<SquareFn>::Kernel, NumberList);
//
// The output's type is what the functor returns. half and bfloat16 are widened to float a block at
// a time, so the functor never sees them. Loops over floating numbers are compiled for each
// x86-64 level; a functor may have its own for floats where HasAvx512, as kAvx512. One that calls
// functions of vector_math.h says so, as kCallsLibrary. A result is written over its input where
// nobody else holds that.
//
// The same bits come out whatever the number of threads, and wherever an element lies.
#ifndef SLUICE_OPS_LOOPS_ELEMENTWISE_H_
#define SLUICE_OPS_LOOPS_ELEMENTWISE_H_

#include <algorithm>
#include <type_traits>
#include <utility>

#include "executor/cpu/avx512.h"
#include "executor/cpu/loop_costs.h"
#include "executor/cpu/prefetch.h"
#include "executor/cpu/target_clones.h"
#include "executor/kernel/context.h"
#include "executor/kernel/elementwise_loops.h"

// Before a loop whose result may lie over its input: element i depends on element i alone.
#if defined(__GNUC__) && !defined(__clang__)
#define SLUICE_INDEPENDENT _Pragma("GCC ivdep")
#else
#define SLUICE_INDEPENDENT
#endif

namespace sluice {

// Of one operand.
class ElementwiseKernel : public ElementwiseLoopKernel {
 public:
  using ElementwiseLoopKernel::ElementwiseLoopKernel;
  absl::Status Compute(KernelContext& context) override;
};

inline constexpr int64_t kElementsPerBlock = 256;

// Nanoseconds of an element that moves `bytes` of memory, where `n` of them are more than a core's
// second cache has room for: a core alone gets little from what lies further away.
inline double CostFarAway(int64_t n, double cost, size_t bytes) {
  constexpr double kNear = 1.5e6, kFarNsPerByte = 0.03;
  const auto moved = static_cast<double>(bytes);
  return static_cast<double>(n) * moved > kNear ? std::max(cost, moved * kFarNsPerByte) : cost;
}

// Calls f(begin, end) over [begin, end), each second time of a thread from the end to the beginning
// in pieces. What a loop begins with is then what the thread's last one has ended with, and still
// lies in its caches.
inline thread_local bool goes_fro = false;
template <typename F>
void ToAndFro(int64_t begin, int64_t end, int64_t piece, const F& f) {
  goes_fro = !goes_fro;
  if (!goes_fro) return f(begin, end);
  for (int64_t last = end; last > begin;) {
    const int64_t first = std::max(begin, (last - 1) / piece * piece);
    f(first, last);
    last = first;
  }
}

// Runs f(begin, end) over [0, n) in shards of whole units; small work in the caller, without
// overhead. Of an element: `cost` in nanoseconds, and the `bytes` that it reads and writes.
template <typename F>
void ForUnits(KernelContext& context, int64_t n, int64_t unit, double cost, size_t bytes,
              const F& f) {
  constexpr double kCachesOfThread = 2e6, kPieceBytes = 32e3;
  if (static_cast<double>(n) * cost < kWorthSharingNs) return f(int64_t{0}, n);
  // Where the caches of all threads have room for it, each thread gets one block, the same in each
  // step, and finds it there again.
  const int threads = context.num_threads();
  const bool fits = static_cast<double>(n) * static_cast<double>(bytes) < threads * kCachesOfThread;
  if (!fits) {
    const int64_t units = (n + unit - 1) / unit;
    const double unit_cost = cost * static_cast<double>(unit);
    return context.ParallelFor(units, unit_cost, [&](int64_t begin, int64_t end) {
      f(begin * unit, std::min(end * unit, n));
    });
  }
  const int64_t block = (n / threads + unit) / unit * unit;
  // A row may have no elements.
  const auto in_piece = static_cast<int64_t>(kPieceBytes / static_cast<double>(bytes + 1));
  const int64_t piece = std::max<int64_t>(in_piece / unit, 1) * unit;
  context.ParallelFor((n + block - 1) / block, cost * static_cast<double>(block),
                      [&](int64_t begin, int64_t end) {
                        ToAndFro(begin * block, std::min(end * block, n), piece, f);
                      });
}

template <typename F>
void ForBlocks(KernelContext& context, int64_t n, double cost, size_t bytes, const F& f) {
  ForUnits(context, n, kElementsPerBlock, CostFarAway(n, cost, bytes), bytes, f);
}

namespace elementwise {

// What a functor computes with in place of T.
template <typename T>
using Wide = std::conditional_t<kIsFloat16<T>, float, T>;

// Loops that memory bounds ask for the lines of their result ahead: the processor foresees what
// they read, but not so well what they write (a sum of 1 MB takes a tenth less, one of 64 MB a
// third).
inline constexpr double kBoundByMemory = 0.5;  // nanoseconds an element, or less
inline constexpr int64_t kBytesAhead = 16 * kLineBytes;
template <typename Out>
struct LinesAhead {
  static constexpr int64_t kLine = kLineBytes / static_cast<int64_t>(sizeof(Out));
  static constexpr int64_t kChunk = 4 * kLine;
  static constexpr int64_t kAhead = kBytesAhead / static_cast<int64_t>(sizeof(Out));
  // Chunks up to here, of n elements, have lines ahead of them. Shorter loops are tiles in the
  // first cache.
  SLUICE_INLINE_IN_CLONES static int64_t End(int64_t n) {
    constexpr int64_t kLeast = 4096 / static_cast<int64_t>(sizeof(Out));
    return n < kLeast ? 0 : (n - kAhead) / kChunk * kChunk;
  }
  SLUICE_INLINE_IN_CLONES static void AskFor(const Out* chunk) {
    for (int64_t line = 0; line < kChunk; line += kLine) Prefetch<true>(chunk, kAhead + line);
  }
};

// The vector library's functions round otherwise than the scalar ones: elements that fill no vector
// are computed by one all the same, so that the bits of none depend on where it lies.
inline constexpr int64_t kLanes = 16;
template <typename F>
concept CallsLibrary = F::kCallsLibrary;
template <typename F>
constexpr int64_t EndOfVectors(int64_t n) {
  return CallsLibrary<F> ? n / kLanes * kLanes : n;
}

template <typename F, typename In, typename Out>
SLUICE_INLINE_IN_CLONES void RestOfLoop(const In* x, Out* y, int64_t n) {
  if (n == 0) return;
  const F f;
  In from[kLanes];
  Out to[kLanes];
  for (int64_t i = 0; i < kLanes; ++i) from[i] = x[i < n ? i : 0];
  for (int64_t i = 0; i < kLanes; ++i) to[i] = f(from[i]);
  for (int64_t i = 0; i < n; ++i) y[i] = to[i];
}

template <typename F, typename In, typename Out>
SLUICE_TARGET_CLONES void ClonedLoop(const In* x, Out* y, int64_t n) {
  const F f;
  int64_t i = 0;
  if constexpr (F::kCost <= kBoundByMemory) {
    using Ahead = LinesAhead<Out>;
    for (const int64_t end = Ahead::End(n); i < end; i += Ahead::kChunk) {
      Ahead::AskFor(y + i);
      SLUICE_INDEPENDENT
      for (int64_t j = 0; j < Ahead::kChunk; ++j) y[i + j] = f(x[i + j]);
    }
  }
  SLUICE_INDEPENDENT
  for (const int64_t end = EndOfVectors<F>(n); i < end; ++i) y[i] = f(x[i]);
  if constexpr (CallsLibrary<F>) RestOfLoop<F>(x + i, y + i, n - i);
}

template <typename F, typename In, typename Out>
void Loop(const In* x, Out* y, int64_t n) {
  if constexpr (std::is_same_v<In, float> && requires { F::kAvx512; }) {
    if (HasAvx512()) return F::kAvx512(x, y, n);
  }
  if constexpr (std::is_floating_point_v<In>) {
    ClonedLoop<F>(x, y, n);
  } else {
    const F f;
    SLUICE_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) y[i] = f(x[i]);
  }
}

// To and from float, exactly and rounded.
template <typename H>
SLUICE_TARGET_CLONES void Widen(const H* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(x[i]);
}
template <typename H>
SLUICE_TARGET_CLONES void Narrow(const float* x, H* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = H(x[i]);
}

template <typename F, typename T>
void Run(const void* x_raw, void* y_raw, int64_t n) {
  using Out = decltype(std::declval<F>()(std::declval<Wide<T>>()));
  const T* x = static_cast<const T*>(x_raw);
  if constexpr (kIsFloat16<T>) {
    float wide_x[kElementsPerBlock], wide_y[kElementsPerBlock];
    for (int64_t i = 0; i < n; i += kElementsPerBlock) {
      const int64_t count = std::min(kElementsPerBlock, n - i);
      Widen(x + i, wide_x, count);
      if constexpr (std::is_same_v<Out, float>) {
        Loop<F>(wide_x, wide_y, count);
        Narrow(wide_y, static_cast<T*>(y_raw) + i, count);
      } else {
        Loop<F>(wide_x, static_cast<Out*>(y_raw) + i, count);
      }
    }
  } else {
    Loop<F>(x, static_cast<Out*>(y_raw), n);
  }
}

// The size of what comes out for elements of type T.
template <typename F, typename T>
constexpr size_t OutputSize() {
  using Out = decltype(std::declval<F>()(std::declval<Wide<T>>()));
  return kIsFloat16<T> && std::is_same_v<Out, float> ? sizeof(T) : sizeof(Out);
}

}  // namespace elementwise

template <typename F>
struct Elementwise {
  template <typename T>
  class Kernel : public ElementwiseKernel {
   public:
    Kernel()
        : ElementwiseKernel({.one = elementwise::Run<F, T>,
                             .in_size = sizeof(T),
                             .out_size = elementwise::OutputSize<F, T>(),
                             .cost = F::kCost + (kIsFloat16<T> ? 0.5 : 0)}) {}
  };
};

}  // namespace sluice

#endif  // SLUICE_OPS_LOOPS_ELEMENTWISE_H_
