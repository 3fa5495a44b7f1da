// Makes kernels that reduce a tensor over any axes, from a functor that combines accumulators.
//
//   REDUCTION_KERNELS(Sum, NumberList, A(0), WrappingAdd(a, b));
//
// registers kernels of op Sum for each type T of the list. A is the type of the accumulators: float
// for 16-bit floating point numbers, T otherwise. The kernel takes part in fusion without further
// code, because it is a RowKernel. The functor may also be written out, as for Mean. Its member
// `Loops` is the functor for which the loops are compiled, so that ops that differ only in Finish
// share them:
//
//   struct MeanReduction {
//     using Loops = SumReduction;
//     template <typename T> using Acc = …;
//     template <typename A> static A Identity();
//     template <typename A, typename T> static A Load(T x);
//     template <typename A> static A Combine(A a, A b);
//     template <typename T, typename A> static T Finish(A a, int64_t count);
//   };
//   KERNELS(Mean, "T", Reduction<MeanReduction>::Kernel, NumberList);
//
// Neighboring dimensions are merged, so that kept and reduced dimensions alternate. Long sums are
// cut into blocks whose sizes depend on the shape alone. So results have the same bits for any
// number of threads. The sums of the blocks of a row are added pairwise, so that the error is a few
// ulp.
#ifndef SLUICE_OPS_REDUCE_REDUCTION_H_
#define SLUICE_OPS_REDUCE_REDUCTION_H_

#include "absl/container/inlined_vector.h"
#include "executor/kernel/row_kernel.h"
#include "ops/loops/elementwise.h"

// Defines a functor that accumulates in type A, starts with `identity`, and combines a and b.
#define SLUICE_REDUCTION(name, identity, ...)            \
  struct name : ::sluice::ReductionDefaults {            \
    using Loops = name;                                  \
    template <typename A>                                \
    static constexpr A Identity() {                      \
      return identity;                                   \
    }                                                    \
    template <typename A>                                \
    static SLUICE_INLINE_IN_CLONES A Combine(A a, A b) { \
      return __VA_ARGS__;                                \
    }                                                    \
  }

// Registers kernels of a reduction. Their functor is called <op>Reduction.
#define REDUCTION_KERNELS(op, types, identity, ...)       \
  SLUICE_REDUCTION(op##Reduction, identity, __VA_ARGS__); \
  KERNELS(op, "T", ::sluice::Reduction<op##Reduction>::Kernel, types)

namespace sluice {

struct ReductionDefaults {
  template <typename T>
  using Acc = Wide<T>;
  template <typename A, typename T>
  static SLUICE_INLINE_IN_CLONES A Load(T x) {
    return static_cast<A>(x);
  }
  template <typename T, typename A>
  static T Finish(A a, int64_t) {
    return static_cast<T>(a);
  }
};

struct ReductionPlan {
  struct Dim {
    int64_t size;
    bool reduced;
  };
  absl::InlinedVector<Dim, 4> dims;  // alternately kept and reduced, without sizes of 1
  TensorShape output;                // depends on keep_dims
  int64_t count = 1;                 // input elements per output element
};
// Returns the plan of a reduction of a tensor of shape `input` over `axes`. INVALID_ARGUMENT if an
// axis is given twice. If an axis is out of range: INVALID_ARGUMENT "Invalid reduction dimension (3
// for input with 2 dimension(s)".
absl::StatusOr<ReductionPlan> PlanReduction(const TensorShape& input, const Tensor& axes,
                                            bool keep_dims);

// The loops of one op and type. Accumulators have `acc_size` bytes each.
struct ReductionLoops {
  void (*fill)(void* acc, int64_t n);  // with the identity
  // Combines acc[r] with the n elements of row r. n <= kRun.
  void (*rows)(const void* x, void* acc, int64_t rows, int64_t n);
  // Combines acc[c] with column c of rows that are `stride` elements apart.
  void (*columns)(const void* x, void* acc, int64_t rows, int64_t columns, int64_t stride);
  void (*combine)(const void* from, void* acc, int64_t n);
  void (*finish)(const void* acc, void* out, int64_t n, int64_t count);
  size_t x_size;
  size_t acc_size;
  bool in_place;  // accumulators are the elements of the output
  double cost;    // in nanoseconds per element
};

class ReductionKernel : public Kernel, public RowKernel {
 public:
  ReductionKernel(KernelInit& init, const ReductionLoops& loops)
      : loops_(loops), keep_dims_(init.attr<bool>("keep_dims")) {}
  absl::Status Compute(KernelContext& context) override;

  bool CanMakeRows() const override { return loops_.in_place; }
  bool IsReduction() const override { return true; }
  void MakeRows(const void* x, void* z, int64_t rows, int64_t n) const override;
  TensorShape ShapeOfRows(const TensorShape& x) const override;
  double CostOfRows() const override { return loops_.cost; }

 private:
  const ReductionLoops loops_;
  const bool keep_dims_;
};

namespace reduction {

// A run is a part of a row that is reduced in kLanes lanes. kRun is its largest number of elements.
// The results of runs are combined pairwise.
inline constexpr int64_t kLanes = 32;
inline constexpr int64_t kRun = 64 * kLanes;

template <typename Op, typename A, typename T>
SLUICE_INLINE_IN_CLONES A ReduceRun(const T* x, int64_t n) {
  A lanes[kLanes];
  for (int64_t j = 0; j < kLanes; ++j) lanes[j] = Op::template Load<A>(x[j]);
  int64_t i = kLanes;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t j = 0; j < kLanes; ++j) {
      lanes[j] = Op::template Combine<A>(lanes[j], Op::template Load<A>(x[i + j]));
    }
  }
  for (int64_t j = 0; i < n; ++i, ++j) {
    lanes[j] = Op::template Combine<A>(lanes[j], Op::template Load<A>(x[i]));
  }
  for (int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (int64_t j = 0; j < half; ++j) {
      lanes[j] = Op::template Combine<A>(lanes[j], lanes[j + half]);
    }
  }
  return lanes[0];
}

// Reduces rows of few elements, four at a time, because each row alone is one chain of dependent
// instructions.
template <typename Op, typename A, typename T>
SLUICE_INLINE_IN_CLONES void ShortRows(const T* x, A* acc, int64_t rows, int64_t n) {
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4, x += 4 * n) {
    A a = acc[r], b = acc[r + 1], c = acc[r + 2], d = acc[r + 3];
    for (int64_t i = 0; i < n; ++i) {
      a = Op::template Combine<A>(a, Op::template Load<A>(x[i]));
      b = Op::template Combine<A>(b, Op::template Load<A>(x[i + n]));
      c = Op::template Combine<A>(c, Op::template Load<A>(x[i + 2 * n]));
      d = Op::template Combine<A>(d, Op::template Load<A>(x[i + 3 * n]));
    }
    acc[r] = a, acc[r + 1] = b, acc[r + 2] = c, acc[r + 3] = d;
  }
  for (; r < rows; ++r, x += n) {
    for (int64_t i = 0; i < n; ++i) {
      acc[r] = Op::template Combine<A>(acc[r], Op::template Load<A>(x[i]));
    }
  }
}

template <typename Op, typename A, typename T>
SLUICE_INLINE_IN_CLONES void Rows(const T* x, A* acc, int64_t rows, int64_t n) {
  if (n < kLanes) return ShortRows<Op>(x, acc, rows, n);
  for (int64_t r = 0; r < rows; ++r, x += n) {
    acc[r] = Op::template Combine<A>(acc[r], ReduceRun<Op, A>(x, n));
  }
}

// Reduces four rows at a time, which needs a quarter of the accumulator's memory traffic and
// shortens the chains of dependent instructions.
template <typename Op, typename A, typename T>
SLUICE_INLINE_IN_CLONES void Columns(const T* x, A* acc, int64_t rows, int64_t columns,
                                     int64_t stride) {
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4, x += 4 * stride) {
    SLUICE_INDEPENDENT
    for (int64_t c = 0; c < columns; ++c) {
      const A a =
          Op::template Combine<A>(Op::template Load<A>(x[c]), Op::template Load<A>(x[c + stride]));
      const A b = Op::template Combine<A>(Op::template Load<A>(x[c + 2 * stride]),
                                          Op::template Load<A>(x[c + 3 * stride]));
      acc[c] = Op::template Combine<A>(acc[c], Op::template Combine<A>(a, b));
    }
  }
  for (; r < rows; ++r, x += stride) {
    SLUICE_INDEPENDENT
    for (int64_t c = 0; c < columns; ++c) {
      acc[c] = Op::template Combine<A>(acc[c], Op::template Load<A>(x[c]));
    }
  }
}

template <typename Op, typename A, typename T>
SLUICE_TARGET_CLONES void ClonedRows(const T* x, A* acc, int64_t rows, int64_t n) {
  Rows<Op, A>(x, acc, rows, n);
}
template <typename Op, typename A, typename T>
SLUICE_TARGET_CLONES void ClonedColumns(const T* x, A* acc, int64_t rows, int64_t columns,
                                        int64_t stride) {
  Columns<Op, A>(x, acc, rows, columns, stride);
}

template <typename Op, typename T>
struct LoopsFor {
  using A = typename Op::template Acc<T>;
  using Loops = typename Op::Loops;

  static void Fill(void* acc, int64_t n) {
    std::fill_n(static_cast<A*>(acc), n, Loops::template Identity<A>());
  }
  static void RunRows(const void* x, void* acc, int64_t rows, int64_t n) {
    if constexpr (std::is_floating_point_v<A>) {
      ClonedRows<Loops, A>(static_cast<const T*>(x), static_cast<A*>(acc), rows, n);
    } else {
      Rows<Loops, A>(static_cast<const T*>(x), static_cast<A*>(acc), rows, n);
    }
  }
  static void RunColumns(const void* x, void* acc, int64_t rows, int64_t columns, int64_t stride) {
    if constexpr (std::is_floating_point_v<A>) {
      ClonedColumns<Loops, A>(static_cast<const T*>(x), static_cast<A*>(acc), rows, columns,
                              stride);
    } else {
      Columns<Loops, A>(static_cast<const T*>(x), static_cast<A*>(acc), rows, columns, stride);
    }
  }
  static void Combine(const void* from_raw, void* acc_raw, int64_t n) {
    const A* from = static_cast<const A*>(from_raw);
    A* acc = static_cast<A*>(acc_raw);
    for (int64_t i = 0; i < n; ++i) acc[i] = Loops::template Combine<A>(acc[i], from[i]);
  }
  static void Finish(const void* acc_raw, void* out_raw, int64_t n, int64_t count) {
    const A* acc = static_cast<const A*>(acc_raw);
    T* out = static_cast<T*>(out_raw);
    for (int64_t i = 0; i < n; ++i) out[i] = Op::template Finish<T>(acc[i], count);
  }
  static ReductionLoops Get() {
    return {.fill = Fill,
            .rows = RunRows,
            .columns = RunColumns,
            .combine = Combine,
            .finish = Finish,
            .x_size = sizeof(T),
            .acc_size = sizeof(A),
            .in_place = std::is_same_v<A, T>,
            .cost = kIsFloat16<T> ? 0.6 : 0.1};
  }
};

}  // namespace reduction

template <typename Op>
struct Reduction {
  template <typename T>
  class Kernel : public ReductionKernel {
   public:
    explicit Kernel(KernelInit& init) : ReductionKernel(init, reduction::LoopsFor<Op, T>::Get()) {}
  };
};

}  // namespace sluice

#endif  // SLUICE_OPS_REDUCE_REDUCTION_H_
