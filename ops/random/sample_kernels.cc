#include <algorithm>

#include "ops/random/sample_shape.h"
#include "ops/random/samplers.h"
#include "ops/random/sources.h"

namespace sluice {
namespace {

using random::BinomialSampler;
using random::BroadcastIndex;
using random::GammaSampler;
using random::NumberAt;
using random::PoissonSampler;
using random::ShapeFromInput;

// Sets out[s * parameters + p] to sample s of parameter p, which sampler make_sampler(p) draws.
// Sample number i = p * samples + s begins i * calls_per_sample() calls after `start`.
template <typename F>
void FillSamples(KernelContext& context, const Philox& start, int64_t parameters, Tensor* out,
                 const F& make_sampler) {
  using Sampler = decltype(make_sampler(0));
  const int64_t samples = out->num_elements() / parameters;
  context.ParallelFor(out->num_elements(), Sampler::kCost, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t p = begin / samples;
      const Sampler draw = make_sampler(p);
      const int64_t last = std::min(end, (p + 1) * samples);
      for (; begin < last; ++begin) {
        Philox own = start;
        own.Skip(static_cast<uint64_t>(begin) * draw.calls_per_sample());
        random::SetNumberAt(*out, (begin - p * samples) * parameters + p, draw(own));
      }
    }
  });
}

void FillGamma(KernelContext& context, const Philox& start, const Tensor& alpha, Tensor* out) {
  FillSamples(context, start, alpha.num_elements(), out,
              [&](int64_t p) { return GammaSampler(NumberAt(alpha, p)); });
}

void FillPoisson(KernelContext& context, const Philox& start, const Tensor& rate, Tensor* out) {
  const double greatest = random::GreatestOf(out->dtype());
  FillSamples(context, start, rate.num_elements(), out,
              [&](int64_t p) { return PoissonSampler(NumberAt(rate, p), greatest); });
}

using FillFunction = void (*)(KernelContext&, const Philox&, const Tensor& parameters, Tensor*);

// Draws samples for each parameter. Input 0 is the shape of the samples. The output has this shape,
// followed by the shape of the parameters.
template <FillFunction kFill>
class SamplesPerParameter : public Kernel {
 public:
  explicit SamplesPerParameter(KernelInit& init) : generator_(init) {}

  absl::Status Compute(KernelContext& context) override {
    const Tensor& parameters = context.input(1);
    SLUICE_ASSIGN_OR_RETURN(TensorShape shape, ShapeFromInput(context.input(0)));
    std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
    dims.insert(dims.end(), parameters.shape().dims().begin(), parameters.shape().dims().end());
    SLUICE_ASSIGN_OR_RETURN(shape, TensorShape::Make(dims));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, context.AllocateOutput(0, shape));
    if (out->num_elements() == 0) return absl::OkStatus();
    kFill(context, generator_.ReserveOutputs(out->num_elements()), parameters, out);
    return absl::OkStatus();
  }

 private:
  NodeGenerator generator_;
};
constexpr TypeSet kCounts = {DT_HALF, DT_FLOAT, DT_DOUBLE, DT_INT32, DT_INT64};
KERNEL(RandomGamma, SamplesPerParameter<FillGamma>, {"T", FloatTypes()});
KERNEL(RandomPoisson, SamplesPerParameter<FillPoisson>,
       {"dtype", TypeSet{DT_HALF, DT_FLOAT, DT_DOUBLE}});
KERNEL(RandomPoissonV2, SamplesPerParameter<FillPoisson>, {"R", kCounts}, {"dtype", kCounts});

// Draws samples for each parameter. Input 0 is the shape of the output, which ends with the shape
// of the parameters.
template <typename Source>
struct From {
  template <FillFunction kFill>
  static absl::Status Samples(KernelContext& c) {
    const Tensor& parameters = c.input(Source::kArguments);
    SLUICE_ASSIGN_OR_RETURN(const Philox start, Source::Take(c, 0));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out,
                            random::AllocateSamples(c, c.input(0), parameters.shape()));
    if (out->num_elements() > 0) kFill(c, start, parameters, out);
    return absl::OkStatus();
  }
};
KERNEL(StatelessRandomGammaV2, FunctionKernel<From<SeedSource>::Samples<FillGamma>>,
       {"dtype", FloatTypes()});
KERNEL(StatelessRandomGammaV3, FunctionKernel<From<KeySource>::Samples<FillGamma>>,
       {"dtype", FloatTypes()});
KERNEL(StatelessRandomPoisson, FunctionKernel<From<SeedSource>::Samples<FillPoisson>>,
       {"Rtype", kCounts}, {"dtype", kCounts});

void FillBinomial(KernelContext& c, const Philox& start, const Tensor& counts, const Tensor& probs,
                  const TensorShape& parameters, Tensor* out) {
  if (out->num_elements() == 0) return;
  FillSamples(c, start, parameters.num_elements(), out, [&](int64_t p) {
    return BinomialSampler(NumberAt(counts, BroadcastIndex(counts.shape(), parameters, p)),
                           NumberAt(probs, BroadcastIndex(probs.shape(), parameters, p)),
                           counts.dtype());
  });
}

absl::Status BinomialOfSeed(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const Philox start, random::FromSeed(c.input(1)));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape parameters, random::BroadcastOfInputs(c, 2, 4));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, random::AllocateSamples(c, c.input(0), parameters));
  FillBinomial(c, start, c.input(2), c.input(3), parameters, out);
  return absl::OkStatus();
}
constexpr TypeSet kProbability = {DT_HALF, DT_FLOAT, DT_DOUBLE};
KERNEL(StatelessRandomBinomial, FunctionKernel<BinomialOfSeed>, {"T", kProbability},
       {"dtype", kCounts});

absl::Status BinomialOfState(KernelContext& c) {
  SLUICE_RETURN_IF_ERROR(ExpectRank(c.input(1), 0, "algorithm must be of shape [], not "));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape parameters, random::BroadcastOfInputs(c, 3, 5));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, random::AllocateSamples(c, c.input(2), parameters));
  const int64_t n = parameters.num_elements();
  const int64_t samples = n == 0 ? 0 : out->num_elements() / n;
  SLUICE_ASSIGN_OR_RETURN(
      const Philox start,
      TakeFromState(c, c.input(1).scalar<int64_t>(), 0,
                    static_cast<uint64_t>(n) * 2 * 100 * static_cast<uint64_t>(samples + 3) / 4));
  FillBinomial(c, start, c.input(3), c.input(4), parameters, out);
  return absl::OkStatus();
}
KERNEL(StatefulRandomBinomial, FunctionKernel<BinomialOfState>, {"T", kProbability},
       {"dtype", kCounts});

}  // namespace
}  // namespace sluice
