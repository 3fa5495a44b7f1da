#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/embedding/class_sampler.h"
#include "ops/random/philox.h"
#include "ops/state/variable_resource.h"
#include "ops/state/wait.h"

namespace sluice {
namespace {

class NegTrainKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    std::vector<float> weights;
    for (int64_t count : init.attr<std::vector<int64_t>>("vocab_count")) {
      weights.push_back(std::pow(static_cast<float>(count), 0.75f));
    }
    const auto words = static_cast<int64_t>(weights.size());
    SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<ClassSampler> words_by_count,
                            WeightedClasses(words, std::move(weights)));
    return std::unique_ptr<Kernel>(
        new NegTrainKernel(std::move(words_by_count), init.attr<int64_t>("num_negative_samples")));
  }

  absl::Status Compute(KernelContext& c) override {
    const RefInput in = c.ref_input(0), out = c.ref_input(1);
    SLUICE_INVALID_IF(in.claim == out.claim, "w_in and w_out must be two variables, got one");
    const auto [first, last] = std::minmax(in.claim, out.claim);
    std::array<std::unique_lock<Claim>, 2> locks;
    if (Claim* taken = TryLockAll<Claim>({first, last}, locks.data())) {
      return c.RunAgainAfter(taken);
    }
    SLUICE_RETURN_IF_ERROR(Check(c, *in.tensor, *out.tensor));
    SLUICE_RETURN_IF_ERROR(MakeWritable(in.tensor, *c.step().allocator));
    SLUICE_RETURN_IF_ERROR(MakeWritable(out.tensor, *c.step().allocator));
    const Tensor &examples = c.input(2), &labels = c.input(3);
    const int64_t batch = examples.num_elements(), dims = in.tensor->dim(1);
    const float rate = c.input(4).scalar<float>();
    // Reserves two numbers of 32 bits per sample, and more because some are drawn again.
    Philox philox = generator_.Reserve(
        (static_cast<uint64_t>(batch) * static_cast<uint64_t>(samples_) * 8 + 3) / 4);
    SingleNumbers bits(&philox);
    std::vector<float> step(static_cast<size_t>(dims));
    // The number of samples has no bound, so cancellation is checked once per kLook samples.
    constexpr int64_t kLook = 1 << 12;
    const Caller caller = CallerOf(c);
    for (int64_t i = 0; i < batch; ++i) {
      const int32_t label = labels.data<int32_t>()[i];
      float* v_in = in.tensor->data<float>() + examples.data<int32_t>()[i] * dims;
      std::fill(step.begin(), step.end(), 0.0f);
      Move(v_in, out.tensor->data<float>() + label * dims, 1, rate, step);
      for (int64_t k = 0; k < samples_; ++k) {
        if (k % kLook == kLook - 1) SLUICE_RETURN_IF_ERROR(caller.CheckNotCancelled());
        const int64_t sample = sampler_->Sample(bits);
        if (sample == label) continue;
        Move(v_in, out.tensor->data<float>() + sample * dims, -1, rate, step);
      }
      for (int64_t d = 0; d < dims; ++d) v_in[d] += step[static_cast<size_t>(d)];
    }
    return absl::OkStatus();
  }

 private:
  NegTrainKernel(std::unique_ptr<ClassSampler> sampler, int64_t samples)
      : sampler_(std::move(sampler)), samples_(samples) {}

  absl::Status Check(KernelContext& c, const Tensor& w_in, const Tensor& w_out) const {
    const Tensor &examples = c.input(2), &labels = c.input(3), &rate = c.input(4);
    SLUICE_INVALID_IF(w_in.rank() != 2, "Must be a matrix");
    SLUICE_INVALID_IF(!(w_in.shape() == w_out.shape()), "w_in.shape == w_out.shape");
    SLUICE_INVALID_IF(examples.rank() != 1, "Must be a vector");
    SLUICE_INVALID_IF(!(examples.shape() == labels.shape()), "examples.shape == labels.shape");
    SLUICE_INVALID_IF(rate.rank() != 0, "Must be a scalar");
    SLUICE_INVALID_IF(w_in.dim(0) != sampler_->range(), "vocab_size mismatches: ", w_in.dim(0),
                      " vs. ", sampler_->range());
    for (const Tensor* words : {&examples, &labels}) {
      for (int32_t word : words->flat<int32_t>()) {
        if (word >= 0 && word < w_in.dim(0)) continue;
        return InvalidArgument("expected words in [0, ", w_in.dim(0), "), got ", word);
      }
    }
    return absl::OkStatus();
  }

  // Moves v_out along the gradient of log sigmoid(sign v_in v_out). Adds the move of v_in to
  // `step`.
  static void Move(const float* v_in, float* v_out, float sign, float rate,
                   std::vector<float>& step) {
    float dot = 0;
    for (size_t d = 0; d < step.size(); ++d) dot += v_in[d] * v_out[d];
    const float g = sign / (std::exp(sign * dot) + 1.0f) * rate;
    for (size_t d = 0; d < step.size(); ++d) {
      step[d] += v_out[d] * g;
      v_out[d] += v_in[d] * g;
    }
  }

  const std::unique_ptr<ClassSampler> sampler_;
  const int64_t samples_;
  ReservedGenerator generator_{0, 0};
};
KERNEL(NegTrain, NegTrainKernel);

}  // namespace
}  // namespace sluice
