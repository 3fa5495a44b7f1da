#include <algorithm>
#include <numeric>
#include <vector>

#include "absl/functional/function_ref.h"
#include "ops/loops/elements.h"
#include "ops/random/sources.h"

namespace sluice {
namespace {

// Returns a random order of the rows. One position after the other takes one of the remaining rows,
// with TensorFlow's order of draws.
std::vector<int64_t> RandomOrder(int64_t n, Philox generator) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  SingleNumbers next(&generator);
  for (int64_t i = 0; i + 1 < n; ++i) {
    std::swap(order[i], order[i + next() % static_cast<uint32_t>(n - i)]);
  }
  return order;
}

// Shuffles the rows of input 0. `reserve` returns a generator for a number of calls. It is called
// only if there is something to shuffle.
absl::Status Shuffle(KernelContext& context, absl::FunctionRef<Philox(uint64_t)> reserve) {
  const Tensor& value = context.input(0);
  if (value.num_elements() <= 1 || value.dim(0) <= 1) {
    context.set_output(0, value);
    return absl::OkStatus();
  }
  const int64_t rows = value.dim(0), width = value.num_elements() / rows;
  const auto numbers = static_cast<uint64_t>(rows - 1);
  const std::vector<int64_t> order =
      RandomOrder(rows, reserve((numbers + Philox::kResults - 1) / Philox::kResults));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, context.AllocateOutput(0, value.shape()));
  WithElement(value.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = static_cast<const T*>(value.raw());
    T* to = static_cast<T*>(out->raw());
    for (int64_t row : order) to = std::copy_n(from + row * width, width, to);
  });
  return absl::OkStatus();
}

absl::Status RandomShuffle(KernelContext& context, NodeGenerator& generator) {
  return Shuffle(context, [&](uint64_t calls) { return generator.Reserve(calls); });
}
KERNEL(RandomShuffle, FunctionKernel<RandomShuffle>);

absl::Status ShuffleOfKey(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const Philox start, KeySource::Take(c, 0));
  return Shuffle(c, [&start](uint64_t) { return start; });
}
KERNEL(StatelessShuffle, FunctionKernel<ShuffleOfKey>);

}  // namespace
}  // namespace sluice
