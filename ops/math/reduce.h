// Reductions over any axes, from a functor of two accumulators.
//
// The shape is folded into alternating kept and reduced dimensions (ReductionPlan); a few loops do
// the rest. Long sums are cut into fixed blocks that are added pairwise: exact to a few ulp, and
// the same bits whatever the number of threads, since the cuts follow from sizes alone.
//
// A functor says what is accumulated, in which type:
//
//   struct SumOp {
//     template <typename T> using Acc = …;
//     template <typename A> static A Identity();
//     template <typename A, typename T> static A Load(T x);
//     template <typename A> static A Combine(A a, A b);
//     template <typename T, typename A> static T Finish(A a, int64_t count);
//   };
#ifndef SLUICE_OPS_MATH_REDUCE_H_
#define SLUICE_OPS_MATH_REDUCE_H_

#include <vector>

#include "absl/container/inlined_vector.h"
#include "ops/math/elementwise.h"

namespace sluice {

struct ReductionPlan {
  struct Dim {
    int64_t size;
    bool reduced;
  };
  absl::InlinedVector<Dim, 4> dims;  // kept and reduced in turn; sizes other than 1
  TensorShape output;                // keep_dims heeded
  int64_t count = 1;                 // elements that make one of the result
};
// INVALID_ARGUMENT "Invalid reduction dimension (…)" for an axis outside the rank.
absl::StatusOr<ReductionPlan> PlanReduction(const TensorShape& input, const Tensor& axes,
                                            bool keep_dims);

namespace reduction {

using Dims = absl::Span<const ReductionPlan::Dim>;

inline int64_t Elements(Dims dims) {
  int64_t n = 1;
  for (const auto& d : dims) n *= d.size;
  return n;
}
inline int64_t KeptElements(Dims dims) {
  int64_t n = 1;
  for (const auto& d : dims) n *= d.reduced ? 1 : d.size;
  return n;
}

// Numbers added one after the other in one lane before sums meet pairwise.
inline constexpr int64_t kLanes = 32;
inline constexpr int64_t kRun = 64 * kLanes;

template <typename Op, typename A, typename T>
SLUICE_INLINE_IN_CLONES A ReduceRun(const T* x, int64_t n) {
  if (n < kLanes) {
    A total = Op::template Identity<A>();
    for (int64_t i = 0; i < n; ++i) total = Op::template Combine<A>(total, Op::template Load<A>(x[i]));
    return total;
  }
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

// acc[r] = reduction of the n elements of row r, for rows of at most kRun.
template <typename Op, typename A, typename T>
SLUICE_TARGET_CLONES void ReduceShortRows(const T* x, A* acc, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r) {
    acc[r] = Op::template Combine<A>(acc[r], ReduceRun<Op, A>(x + r * n, n));
  }
}

template <typename Op, typename A, typename T>
A ReduceLong(const T* x, int64_t n) {
  if (n <= kRun) {
    A acc = Op::template Identity<A>();
    ReduceShortRows<Op, A>(x, &acc, 1, n);
    return acc;
  }
  const int64_t half = (n / kRun + 1) / 2 * kRun;
  const A left = ReduceLong<Op, A>(x, half);
  return Op::template Combine<A>(left, ReduceLong<Op, A>(x + half, n - half));
}

// acc[c] takes column c of `rows` rows that are `stride` apart, four at a time.
template <typename Op, typename A, typename T>
SLUICE_TARGET_CLONES void AccumulateRows(const T* x, A* acc, int64_t rows, int64_t columns,
                                         int64_t stride) {
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    const T* x0 = x + r * stride;
    const T* x1 = x0 + stride;
    const T* x2 = x1 + stride;
    const T* x3 = x2 + stride;
    SLUICE_INDEPENDENT
    for (int64_t c = 0; c < columns; ++c) {
      const A a = Op::template Combine<A>(Op::template Load<A>(x0[c]), Op::template Load<A>(x1[c]));
      const A b = Op::template Combine<A>(Op::template Load<A>(x2[c]), Op::template Load<A>(x3[c]));
      acc[c] = Op::template Combine<A>(acc[c], Op::template Combine<A>(a, b));
    }
  }
  for (; r < rows; ++r) {
    const T* row = x + r * stride;
    SLUICE_INDEPENDENT
    for (int64_t c = 0; c < columns; ++c) {
      acc[c] = Op::template Combine<A>(acc[c], Op::template Load<A>(row[c]));
    }
  }
}

template <typename Op, typename A>
void CombineInto(const A* from, A* acc, int64_t n) {
  for (int64_t i = 0; i < n; ++i) acc[i] = Op::template Combine<A>(acc[i], from[i]);
}

// The same for many rows: in blocks, so that no sum is a chain of more than a few hundred.
template <typename Op, typename A, typename T>
void AccumulateManyRows(const T* x, A* acc, int64_t rows, int64_t columns, int64_t stride) {
  constexpr int64_t kRowsPerBlock = 512;
  if (rows <= kRowsPerBlock) return AccumulateRows<Op, A>(x, acc, rows, columns, stride);
  std::vector<A> block(columns);
  for (int64_t r = 0; r < rows; r += kRowsPerBlock) {
    std::fill(block.begin(), block.end(), Op::template Identity<A>());
    AccumulateRows<Op, A>(x + r * stride, block.data(), std::min(kRowsPerBlock, rows - r), columns,
                          stride);
    CombineInto<Op, A>(block.data(), acc, columns);
  }
}

// Takes all of x into acc (KeptElements(dims) of them), in the caller.
template <typename Op, typename A, typename T>
void ReduceInto(const T* x, A* acc, Dims dims) {
  if (dims.empty()) {
    *acc = Op::template Combine<A>(*acc, Op::template Load<A>(*x));
  } else if (dims.size() == 1 && dims[0].reduced) {
    *acc = Op::template Combine<A>(*acc, ReduceLong<Op, A>(x, dims[0].size));
  } else if (dims.size() == 1) {
    AccumulateRows<Op, A>(x, acc, 1, dims[0].size, 0);
  } else if (dims.size() == 2 && dims[0].reduced) {
    AccumulateManyRows<Op, A>(x, acc, dims[0].size, dims[1].size, dims[1].size);
  } else if (dims.size() == 2 && dims[1].size <= kRun) {
    ReduceShortRows<Op, A>(x, acc, dims[0].size, dims[1].size);
  } else {
    const Dims rest = dims.subspan(1);
    const int64_t x_step = Elements(rest);
    const int64_t acc_step = dims[0].reduced ? 0 : KeptElements(rest);
    for (int64_t i = 0; i < dims[0].size; ++i) {
      ReduceInto<Op, A>(x + i * x_step, acc + i * acc_step, rest);
    }
  }
}

// The leading, reduced dimension in a few parts, each with accumulators of its own.
template <typename Op, typename A, typename T>
void ReduceInParts(KernelContext& context, const T* x, A* acc, Dims dims, double cost) {
  const int64_t size = dims[0].size, step = Elements(dims.subspan(1)), kept = KeptElements(dims);
  const int64_t parts = std::clamp<int64_t>(size * step / 65536, 1, std::min<int64_t>(size, 32));
  std::vector<A> partial(parts * kept, Op::template Identity<A>());
  context.ParallelFor(
      parts, cost * static_cast<double>(size * step / parts), [&](int64_t begin, int64_t end) {
        for (int64_t p = begin; p < end; ++p) {
          const int64_t first = size * p / parts, last = size * (p + 1) / parts;
          absl::InlinedVector<ReductionPlan::Dim, 4> part(dims.begin(), dims.end());
          part[0].size = last - first;
          ReduceInto<Op, A>(x + first * step, partial.data() + p * kept, part);
        }
      });
  for (int64_t width = 1; width < parts; width *= 2) {
    for (int64_t p = 0; p + width < parts; p += 2 * width) {
      CombineInto<Op, A>(partial.data() + (p + width) * kept, partial.data() + p * kept, kept);
    }
  }
  CombineInto<Op, A>(partial.data(), acc, kept);
}

// Takes all of x into acc, which holds identities.
template <typename Op, typename A, typename T>
void Reduce(KernelContext& context, const T* x, A* acc, Dims dims, double cost) {
  const int64_t total = Elements(dims);
  if (static_cast<double>(total) * cost < 20'000) return ReduceInto<Op, A>(x, acc, dims);
  const Dims rest = dims.subspan(1);
  const int64_t step = Elements(rest), kept = KeptElements(rest);
  if (!dims[0].reduced) {
    context.ParallelFor(dims[0].size, cost * static_cast<double>(step),
                        [&](int64_t begin, int64_t end) {
                          absl::InlinedVector<ReductionPlan::Dim, 4> part(dims.begin(), dims.end());
                          part[0].size = end - begin;
                          ReduceInto<Op, A>(x + begin * step, acc + begin * kept, part);
                        });
  } else if (dims.size() == 2 && kept >= 2048) {
    constexpr int64_t kColumns = 256;
    context.ParallelFor((kept + kColumns - 1) / kColumns,
                        cost * static_cast<double>(dims[0].size * kColumns),
                        [&](int64_t begin, int64_t end) {
                          const int64_t first = begin * kColumns;
                          AccumulateManyRows<Op, A>(x + first, acc + first, dims[0].size,
                                                    std::min(end * kColumns, kept) - first, kept);
                        });
  } else if (kept <= total / 64) {
    ReduceInParts<Op, A>(context, x, acc, dims, cost);
  } else {
    ReduceInto<Op, A>(x, acc, dims);
  }
}

}  // namespace reduction

template <typename Op>
struct Reduction {
  template <typename T>
  class Kernel : public sluice::Kernel {
   public:
    explicit Kernel(KernelInit& init) : keep_dims_(init.attr<bool>("keep_dims")) {}

    absl::Status Compute(KernelContext& context) override {
      using A = typename Op::template Acc<T>;
      const Tensor& input = context.input(0);
      SLUICE_ASSIGN_OR_RETURN(const ReductionPlan plan,
                              PlanReduction(input.shape(), context.input(1), keep_dims_));
      Tensor* output;
      SLUICE_RETURN_IF_ERROR(context.AllocateOutput(0, plan.output, &output));
      const int64_t n = plan.output.num_elements();
      T* out = output->template data<T>();
      A* acc;
      Tensor scratch;
      if constexpr (std::is_same_v<A, T>) {
        acc = out;
      } else {
        SLUICE_ASSIGN_OR_RETURN(
            scratch, context.AllocateTemp(kDataTypeOf<A>, TensorShape({n})));
        acc = scratch.template data<A>();
      }
      std::fill_n(acc, n, Op::template Identity<A>());
      if (input.num_elements() > 0) {
        reduction::Reduce<Op, A>(context, input.template data<T>(), acc, plan.dims, kCost);
      }
      for (int64_t i = 0; i < n; ++i) out[i] = Op::template Finish<T>(acc[i], plan.count);
      return absl::OkStatus();
    }

   private:
    static constexpr double kCost = kIsFloat16<T> ? 0.6 : 0.15;
    const bool keep_dims_;
  };
};

}  // namespace sluice

#endif  // SLUICE_OPS_MATH_REDUCE_H_
