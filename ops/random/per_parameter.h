// Samples of many distributions of one kind, one distribution a parameter.
#ifndef SLUICE_OPS_RANDOM_PER_PARAMETER_H_
#define SLUICE_OPS_RANDOM_PER_PARAMETER_H_

#include <algorithm>

#include "executor/kernel/context.h"
#include "ops/random/samplers.h"

namespace sluice::random {

// out[s * parameters + p] = sample s of parameter p. Sample p * samples + s takes its bits
// S::kCallsPerSample calls after the one before it. `sampler(p)` makes the S of parameter p.
template <typename F>
void FillPerParameter(KernelContext& context, const Philox& start, int64_t parameters,
                      int64_t samples, double cost, Tensor* out, const F& sampler) {
  context.ParallelFor(parameters * samples, cost, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t p = begin / samples;
      const auto draw = sampler(p);
      const int64_t last = std::min(end, (p + 1) * samples);
      for (; begin < last; ++begin) {
        Philox own = start;
        own.Skip(static_cast<uint64_t>(begin) * draw.kCallsPerSample);
        SetNumberAt(*out, (begin - p * samples) * parameters + p, draw(own));
      }
    }
  });
}

inline void FillGamma(KernelContext& context, const Philox& start, const Tensor& alpha,
                      Tensor* out) {
  const int64_t n = alpha.num_elements();
  FillPerParameter(context, start, n, out->num_elements() / n, 100, out,
                   [&](int64_t p) { return GammaSampler(NumberAt(alpha, p)); });
}

inline void FillPoisson(KernelContext& context, const Philox& start, const Tensor& rate,
                        Tensor* out) {
  const int64_t n = rate.num_elements();
  const double greatest = GreatestOf(out->dtype());
  FillPerParameter(context, start, n, out->num_elements() / n, 100, out,
                   [&](int64_t p) { return PoissonSampler(NumberAt(rate, p), greatest); });
}

}  // namespace sluice::random

#endif  // SLUICE_OPS_RANDOM_PER_PARAMETER_H_
