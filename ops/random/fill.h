// Fills an output with numbers of a distribution. The numbers do not depend on the number of
// threads.
#ifndef SLUICE_OPS_RANDOM_FILL_H_
#define SLUICE_OPS_RANDOM_FILL_H_

#include <algorithm>

#include "executor/kernel/context.h"
#include "ops/random/philox.h"

namespace sluice::random {

// `distribution` is one of those in distributions.h. Each call of it writes a group of D::kCount
// numbers. The generator of group g has the state of `start` after g * D::kCallsPerGroup calls.
template <typename D, typename T>
void Fill(KernelContext& context, const Philox& start, const D& distribution, T* out,
          int64_t size) {
  constexpr int kCount = D::kCount;
  const int64_t groups = (size + kCount - 1) / kCount;
  context.ParallelFor(groups, D::kCost * kCount, [&](int64_t begin, int64_t end) {
    Philox generator = start;
    generator.Skip(static_cast<uint64_t>(begin) * D::kCallsPerGroup);
    for (int64_t g = begin; g < end; ++g) {
      Philox own = generator;
      generator.Skip(D::kCallsPerGroup);
      const int64_t left = size - g * kCount;
      if (left >= kCount) {
        distribution(own, out + g * kCount);
      } else {
        T last[kCount];
        distribution(own, last);
        std::copy_n(last, left, out + g * kCount);
      }
    }
  });
}

}  // namespace sluice::random

#endif  // SLUICE_OPS_RANDOM_FILL_H_
