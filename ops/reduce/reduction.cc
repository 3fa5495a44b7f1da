#include "ops/reduce/reduction.h"

#include "executor/cpu/loop_costs.h"
#include "executor/kernel/scratch.h"
#include "graph/tensor/sizes.h"

namespace sluice {
namespace {

using Dims = absl::Span<const ReductionPlan::Dim>;
using DimList = absl::InlinedVector<ReductionPlan::Dim, 4>;

// The number of rows in a block. The rows of a block are combined one after the other, and so are
// the results of the blocks. This limits rounding errors, because fewer results than rows are added
// to one accumulator.
constexpr int64_t kRowsPerBlock = 512;

int64_t Elements(Dims dims) {
  int64_t n = 1;
  for (const auto& d : dims) n *= d.size;
  return n;
}
int64_t KeptElements(Dims dims) {
  int64_t n = 1;
  for (const auto& d : dims) n *= d.reduced ? 1 : d.size;
  return n;
}

// Applies the loops of a reduction to a plan. Sizes are in elements.
class Reducer {
 public:
  Reducer(KernelContext& context, const ReductionLoops& loops) : context_(context), loops_(loops) {}

  // Combines x into acc, which has KeptElements(dims) accumulators.
  void Run(const char* x, char* acc, Dims dims) const;

 private:
  const char* At(const char* x, int64_t i) const { return x + i * loops_.x_size; }
  char* Acc(char* acc, int64_t i) const { return acc + i * loops_.acc_size; }

  void InCaller(const char* x, char* acc, Dims dims) const;
  void LongRow(const char* x, char* acc, int64_t n) const;
  void ManyRows(const char* x, char* acc, int64_t rows, int64_t columns, int64_t stride) const;
  void InParts(const char* x, char* acc, Dims dims) const;

  KernelContext& context_;
  const ReductionLoops& loops_;
};

// Reduces a row of any length by combining the results of its halves recursively. One call of a
// loop reduces 16 runs, because the overhead of a call per run would exceed the time to read
// memory.
void Reducer::LongRow(const char* x, char* acc, int64_t n) const {
  constexpr int64_t kRuns = 16, kMostAccBytes = 16;
  if (n <= reduction::kRun) return loops_.rows(x, acc, 1, n);
  alignas(16) char sums[kRuns * kMostAccBytes];
  if (n == kRuns * reduction::kRun) {
    loops_.fill(sums, kRuns);
    loops_.rows(x, sums, kRuns, reduction::kRun);
    for (int64_t width = 1; width < kRuns; width *= 2) {
      for (int64_t i = 0; i < kRuns; i += 2 * width) {
        loops_.combine(Acc(sums, i + width), Acc(sums, i), 1);
      }
    }
    return loops_.combine(sums, acc, 1);
  }
  const int64_t half = (n / reduction::kRun + 1) / 2 * reduction::kRun;
  LongRow(x, acc, half);
  loops_.fill(sums, 1);
  LongRow(At(x, half), sums, n - half);
  loops_.combine(sums, acc, 1);
}

void Reducer::ManyRows(const char* x, char* acc, int64_t rows, int64_t columns,
                       int64_t stride) const {
  if (rows <= kRowsPerBlock) return loops_.columns(x, acc, rows, columns, stride);
  auto block = Scratch<char>(context_, columns * static_cast<int64_t>(loops_.acc_size));
  for (int64_t r = 0; r < rows; r += kRowsPerBlock) {
    loops_.fill(block.data(), columns);
    loops_.columns(At(x, r * stride), block.data(), std::min(kRowsPerBlock, rows - r), columns,
                   stride);
    loops_.combine(block.data(), acc, columns);
  }
}

void Reducer::InCaller(const char* x, char* acc, Dims dims) const {
  if (dims.empty()) return loops_.rows(x, acc, 1, 1);
  const int64_t size = dims[0].size;
  const Dims rest = dims.subspan(1);
  if (rest.empty()) {
    return dims[0].reduced ? LongRow(x, acc, size) : loops_.rows(x, acc, size, 1);
  }
  if (rest.size() == 1 && dims[0].reduced) {
    return ManyRows(x, acc, size, rest[0].size, rest[0].size);
  }
  if (rest.size() == 1 && rest[0].size <= reduction::kRun) {
    return loops_.rows(x, acc, size, rest[0].size);
  }
  const int64_t x_step = Elements(rest);
  const int64_t acc_step = dims[0].reduced ? 0 : KeptElements(rest);
  for (int64_t i = 0; i < size; ++i) InCaller(At(x, i * x_step), Acc(acc, i * acc_step), rest);
}

// Cuts the leading dimension, which is reduced, into parts with separate accumulators.
void Reducer::InParts(const char* x, char* acc, Dims dims) const {
  const int64_t size = dims[0].size, step = Elements(dims.subspan(1)), kept = KeptElements(dims);
  const int64_t parts = std::clamp<int64_t>(size * step / 65536, 1, std::min<int64_t>(size, 32));
  auto partial = Scratch<char>(context_, parts * kept * static_cast<int64_t>(loops_.acc_size));
  loops_.fill(partial.data(), parts * kept);
  const double cost = loops_.cost * static_cast<double>(size * step / parts);
  context_.ParallelFor(parts, cost, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const int64_t first = size * p / parts;
      DimList part(dims.begin(), dims.end());
      part[0].size = size * (p + 1) / parts - first;
      InCaller(At(x, first * step), Acc(partial.data(), p * kept), part);
    }
  });
  for (int64_t width = 1; width < parts; width *= 2) {
    for (int64_t p = 0; p + width < parts; p += 2 * width) {
      loops_.combine(Acc(partial.data(), (p + width) * kept), Acc(partial.data(), p * kept), kept);
    }
  }
  loops_.combine(partial.data(), acc, kept);
}

void Reducer::Run(const char* x, char* acc, Dims dims) const {
  const int64_t total = Elements(dims);
  if (static_cast<double>(total) * loops_.cost < kWorthSharingNs) return InCaller(x, acc, dims);
  const Dims rest = dims.subspan(1);
  const int64_t size = dims[0].size, step = Elements(rest), kept = KeptElements(rest);
  if (!dims[0].reduced) {
    context_.ParallelFor(size, loops_.cost * static_cast<double>(step),
                         [&](int64_t begin, int64_t end) {
                           DimList part(dims.begin(), dims.end());
                           part[0].size = end - begin;
                           InCaller(At(x, begin * step), Acc(acc, begin * kept), part);
                         });
  } else if (dims.size() == 2 && kept >= 2048) {
    constexpr int64_t kColumns = 256;
    context_.ParallelFor((kept + kColumns - 1) / kColumns,
                         loops_.cost * static_cast<double>(size * kColumns),
                         [&](int64_t begin, int64_t end) {
                           const int64_t first = begin * kColumns;
                           ManyRows(At(x, first), Acc(acc, first), size,
                                    std::min(end * kColumns, kept) - first, kept);
                         });
  } else if (kept <= total / 64) {
    InParts(x, acc, dims);
  } else {
    InCaller(x, acc, dims);
  }
}

}  // namespace

absl::StatusOr<ReductionPlan> PlanReduction(const TensorShape& input, const Tensor& axes,
                                            bool keep_dims) {
  const int rank = input.rank();
  absl::InlinedVector<bool, 8> reduced(rank, false);
  for (int64_t i = 0; i < axes.num_elements(); ++i) {
    const int64_t axis =
        axes.dtype() == DT_INT32 ? axes.data<int32_t>()[i] : axes.data<int64_t>()[i];
    SLUICE_INVALID_IF(axis < -rank || axis >= rank, "Invalid reduction dimension (", axis,
                      " for input with ", rank, " dimension(s)");
    const int64_t dim = axis < 0 ? axis + rank : axis;
    SLUICE_INVALID_IF(reduced[dim],
                      "Invalid reduction arguments: Axes contains duplicate dimension: ", dim);
    reduced[dim] = true;
  }
  ReductionPlan plan;
  for (int i = 0; i < rank; ++i) {
    const int64_t size = input.dim(i);
    if (reduced[i]) {
      plan.count = SaturatedProduct(plan.count, size);
      if (keep_dims) plan.output.AddDim(1);
    } else {
      plan.output.AddDim(size);
    }
    if (size == 1) continue;
    if (!plan.dims.empty() && plan.dims.back().reduced == reduced[i]) {
      plan.dims.back().size = SaturatedProduct(plan.dims.back().size, size);
    } else {
      plan.dims.push_back({size, static_cast<bool>(reduced[i])});
    }
  }
  return plan;
}

absl::Status ReductionKernel::Compute(KernelContext& context) {
  const Tensor& input = context.input(0);
  SLUICE_ASSIGN_OR_RETURN(const ReductionPlan plan,
                          PlanReduction(input.shape(), context.input(1), keep_dims_));
  SLUICE_ASSIGN_OR_RETURN(Tensor * output, context.AllocateOutput(0, plan.output));
  const int64_t n = plan.output.num_elements();
  Tensor scratch;
  if (!loops_.in_place) {
    SLUICE_ASSIGN_OR_RETURN(
        scratch,
        context.AllocateTemp(DT_UINT8, TensorShape({n * static_cast<int64_t>(loops_.acc_size)})));
  }
  char* acc = static_cast<char*>(loops_.in_place ? output->raw() : scratch.raw());
  loops_.fill(acc, n);
  if (input.num_elements() > 0) {
    Reducer(context, loops_).Run(static_cast<const char*>(input.raw()), acc, plan.dims);
  }
  loops_.finish(acc, output->raw(), n, plan.count);
  return absl::OkStatus();
}

void ReductionKernel::MakeRows(const void* x, void* z, int64_t rows, int64_t n) const {
  loops_.fill(z, rows);
  loops_.rows(x, z, rows, n);
  loops_.finish(z, z, rows, n);
}

TensorShape ReductionKernel::ShapeOfRows(const TensorShape& x) const {
  TensorShape shape;
  for (int i = 0; i + 1 < x.rank(); ++i) shape.AddDim(x.dim(i));
  if (keep_dims_) shape.AddDim(1);
  return shape;
}

}  // namespace sluice
