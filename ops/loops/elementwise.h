// Makes kernels that compute each element of a tensor from the same element of the input, by a
// functor.
//
//   UNARY_KERNELS(Sin, FloatAndComplexList, CallsLibrary(1), std::sin(x));
//
// registers kernels of op Sin for each type of the list. They compute the expression of x, a value
// of type T. They take part in fusion without further code, because each is an
// ElementwiseLoopKernel. The functor may also be written out:
//
//   struct SquareFn {
//     static constexpr double kCost = 0.2;  // nanoseconds per element, roughly
//     template <typename T>
//     SLUICE_INLINE_IN_CLONES T operator()(T x) const { return x * x; }
//   };
//   KERNELS(Square, "T", Elementwise<SquareFn>::Kernel, NumberList);
//
// The type that the functor returns is the type of the output. half and bfloat16 are widened to
// float block by block, so functors do not see them. Loops over floating point numbers are compiled
// for each x86-64 level. A functor may have a loop of its own for float and AVX-512, `kAvx512`.
// The output takes over the buffer of the input if nothing else uses it.
//
// Results have the same bits for any number of threads and any position of an element.
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
#include "ops/loops/elements.h"

// Precedes a loop whose output may be the memory of its input. Lets the compiler vectorize the
// loop, because iteration i uses only element i.
#if defined(__GNUC__) && !defined(__clang__)
#define SLUICE_INDEPENDENT _Pragma("GCC ivdep")
#else
#define SLUICE_INDEPENDENT
#endif

// Defines a functor `name` with the given parameters, whose types may contain T.
#define SLUICE_FUNCTOR(name, cost, parameters, ...)                   \
  struct name {                                                       \
    static constexpr ::sluice::FunctorCost kFunctorCost = cost;       \
    static constexpr double kCost = kFunctorCost.ns;                  \
    static constexpr bool kCallsLibrary = kFunctorCost.calls_library; \
    static constexpr bool kRoundsOnce = kFunctorCost.rounds_once;     \
    static constexpr ::sluice::FloatOp kFloatOp = kFunctorCost.op;    \
    template <typename T>                                             \
    SLUICE_INLINE_IN_CLONES auto operator() parameters const {        \
      return ::sluice::elementwise::AsResult<T>(__VA_ARGS__);         \
    }                                                                 \
  }

// Registers kernels that compute an expression of x. Their functor is called <op>Fn. The result is
// of type T, or bool if the expression is of type bool.
#define UNARY_KERNELS(op, types, cost, ...)                \
  SLUICE_FUNCTOR(op##Fn, cost, (const T& x), __VA_ARGS__); \
  KERNELS(op, "T", ::sluice::Elementwise<op##Fn>::Kernel, types)

namespace sluice {

// The cost of a functor and the properties that its loops may assume.
struct FunctorCost {
  double ns;                   // per element, roughly
  bool calls_library = false;  // calls functions of vector_math.h
  bool rounds_once = false;    // an unvectorized call gives the same bits
  FloatOp op = FloatOp::kOther;
  constexpr FunctorCost(double ns, bool calls_library = false,  // NOLINT: a number is a cost
                        bool rounds_once = false, FloatOp op = FloatOp::kOther)
      : ns(ns), calls_library(calls_library), rounds_once(rounds_once), op(op) {}
};
constexpr FunctorCost CallsLibrary(double ns) { return {ns, true}; }
constexpr FunctorCost RoundsOnce(double ns, FloatOp op = FloatOp::kOther) {
  return {ns, false, true, op};
}

// Computes output 0 from input 0 by the loop for one operand, `loops().one`.
class ElementwiseKernel : public ElementwiseLoopKernel {
 public:
  using ElementwiseLoopKernel::ElementwiseLoopKernel;
  absl::Status Compute(KernelContext& context) override;
};

inline constexpr int64_t kElementsPerBlock = 256;

// The cost per element in nanoseconds of a loop over `n` elements that moves `bytes` per element.
// It is at least the time of the memory accesses if the loop moves more than the L2 cache holds.
inline double CostWithMemory(int64_t n, double cost, size_t bytes) {
  constexpr double kL2Bytes = 1.5e6, kNsPerByte = 0.03;
  const auto moved = static_cast<double>(bytes);
  return static_cast<double>(n) * moved > kL2Bytes ? std::max(cost, moved * kNsPerByte) : cost;
}

// Whether the thread's latest call of AlternateDirection went backward.
inline thread_local bool is_backward = false;
// Every second call on a thread goes backward: it calls f(first, last) for pieces of the range
// [begin, end), from the last piece to the first. Other calls call f(begin, end) once. So a loop
// starts with the elements that the thread's previous loop accessed last and that are still in the
// cache.
template <typename F>
void AlternateDirection(int64_t begin, int64_t end, int64_t piece, const F& f) {
  is_backward = !is_backward;
  if (!is_backward) return f(begin, end);
  for (int64_t last = end; last > begin;) {
    const int64_t first = std::max(begin, (last - 1) / piece * piece);
    f(first, last);
    last = first;
  }
}

// Runs f(begin, end) over [0, n) on several threads, or in the calling thread if the work is small.
// The ranges begin at multiples of `unit` elements. `cost` in nanoseconds and `bytes` read and
// written are per element.
template <typename F>
void ForUnits(KernelContext& context, int64_t n, int64_t unit, double cost, size_t bytes,
              const F& f) {
  constexpr double kCachesOfThread = 2e6, kPieceBytes = 32e3;
  if (static_cast<double>(n) * cost < kWorthSharingNs) return f(int64_t{0}, n);
  // If the data fits into the caches of the threads, each thread computes one block. It gets the
  // same block in every step, and so finds its data in its own cache.
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
  // `bytes` is 0 for rows without elements.
  const auto in_piece = static_cast<int64_t>(kPieceBytes / static_cast<double>(bytes + 1));
  const int64_t piece = std::max<int64_t>(in_piece / unit, 1) * unit;
  context.ParallelFor((n + block - 1) / block, cost * static_cast<double>(block),
                      [&](int64_t begin, int64_t end) {
                        AlternateDirection(begin * block, std::min(end * block, n), piece, f);
                      });
}

// Calls ForUnits with units of kElementsPerBlock elements, and with the cost that CostWithMemory
// returns.
template <typename F>
void ForBlocks(KernelContext& context, int64_t n, double cost, size_t bytes, const F& f) {
  ForUnits(context, n, kElementsPerBlock, CostWithMemory(n, cost, bytes), bytes, f);
}

namespace elementwise {

using sluice::Wide;

// Returns a bool as it is, and converts any other result to T.
template <typename T, typename R>
SLUICE_INLINE_IN_CLONES auto AsResult(R&& result) {
  if constexpr (std::is_same_v<std::remove_cvref_t<R>, bool>) {
    return bool{result};
  } else {
    return static_cast<T>(std::forward<R>(result));
  }
}

// A loop whose speed is limited by memory prefetches the cache lines of its output. Processors
// predict the addresses of reads well, but not those of writes.
inline constexpr double kBoundByMemoryNs = 0.5;  // per element. Cheaper loops are limited by memory
inline constexpr int64_t kBytesAhead = 16 * kLineBytes;
template <typename Out>
struct LinesAhead {
  static constexpr int64_t kLine = kLineBytes / static_cast<int64_t>(sizeof(Out));
  static constexpr int64_t kChunk = 4 * kLine;
  static constexpr int64_t kAhead = kBytesAhead / static_cast<int64_t>(sizeof(Out));
  // The loop prefetches while it computes elements [0, End(n)). It computes the remaining elements
  // without prefetching. 0 for short loops, which run over tiles that are in the L1 cache already.
  SLUICE_INLINE_IN_CLONES static int64_t End(int64_t n) {
    constexpr int64_t kLeast = 4096 / static_cast<int64_t>(sizeof(Out));
    return n < kLeast ? 0 : (n - kAhead) / kChunk * kChunk;
  }
  SLUICE_INLINE_IN_CLONES static void PrefetchAhead(const Out* chunk) {
    for (int64_t line = 0; line < kChunk; line += kLine) Prefetch<true>(chunk, kAhead + line);
  }
};

// The vector library rounds differently from the scalar functions. The elements left over at the
// end, which do not fill a vector, are therefore computed as a vector too, so that no bits depend
// on an element's position.
inline constexpr int64_t kLanes = 16;
template <typename F>
concept UsesLibrary = F::kCallsLibrary;
template <typename F>
constexpr int64_t EndOfVectors(int64_t n) {
  return UsesLibrary<F> ? n / kLanes * kLanes : n;
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
  if constexpr (F::kCost <= kBoundByMemoryNs) {
    using Ahead = LinesAhead<Out>;
    for (const int64_t end = Ahead::End(n); i < end; i += Ahead::kChunk) {
      Ahead::PrefetchAhead(y + i);
      SLUICE_INDEPENDENT
      for (int64_t j = 0; j < Ahead::kChunk; ++j) y[i + j] = f(x[i + j]);
    }
  }
  SLUICE_INDEPENDENT
  for (const int64_t end = EndOfVectors<F>(n); i < end; ++i) y[i] = f(x[i]);
  if constexpr (UsesLibrary<F>) RestOfLoop<F>(x + i, y + i, n - i);
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

// Widen converts 16-bit floating point numbers to float exactly. Narrow converts back and rounds.
template <typename H>
SLUICE_TARGET_CLONES void Widen(const H* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(x[i]);
}
template <typename H>
SLUICE_TARGET_CLONES void Narrow(const float* x, H* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = H(x[i]);
}

template <typename F, typename T>
using UnaryResult = decltype(std::declval<F>()(std::declval<Wide<T>>()));

template <typename F, typename T>
void RunUnary(const void* x_raw, void* y_raw, int64_t n) {
  using Out = UnaryResult<F, T>;
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

// The bytes of an output element. If the functor returns float for a 16-bit T, the output has type
// T.
template <typename T, typename Out>
constexpr size_t OutputSize() {
  return kIsFloat16<T> && std::is_same_v<Out, float> ? sizeof(T) : sizeof(Out);
}

}  // namespace elementwise

template <typename F>
struct Elementwise {
  template <typename T>
  class Kernel : public ElementwiseKernel {
   public:
    Kernel()
        : ElementwiseKernel(
              {.one = elementwise::RunUnary<F, T>,
               .in_size = sizeof(T),
               .out_size = elementwise::OutputSize<T, elementwise::UnaryResult<F, T>>(),
               .cost = F::kCost + (kIsFloat16<T> ? 0.5 : 0)}) {}
  };
};

}  // namespace sluice

#endif  // SLUICE_OPS_LOOPS_ELEMENTWISE_H_
