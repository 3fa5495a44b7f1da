#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/mutex.h"
#include "graph/status.h"
#include "ops/random/class_sampler.h"
#include "ops/random/distributions.h"
#include "ops/random/philox.h"
#include "ops/state/variable_resource.h"
#include "ops/strings/hash.h"
#include "ops/update/dual_loss.h"
#include "ops/update/examples.h"

namespace sluice {
namespace {

using linear::Examples;
using linear::Shrinkage;

class SdcaOptimizerKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<DualLoss> loss,
                            DualLoss::Make(init.attr<std::string>("loss_type")));
    SLUICE_INVALID_IF(
        init.attr<int64_t>("num_sparse_features") + init.attr<int64_t>("num_dense_features") == 0,
        "Requires at least one feature to train.");
    return std::unique_ptr<Kernel>(new SdcaOptimizerKernel(init, std::move(loss)));
  }

  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(Examples examples, Examples::Read(c, places_));
    const Tensor& state = c.input(places_.state);
    SLUICE_INVALID_IF(state.rank() != 2, "example_state_data must be rank 2 but is rank ",
                      state.rank());
    SLUICE_INVALID_IF(!(state.shape() == TensorShape({examples.size(), 4})), "Expected shape ",
                      TensorShape({examples.size(), 4}).ToString(), " for example_state_data, got ",
                      state.shape().ToString());
    std::vector<float> labels;
    for (int64_t i = 0; i < examples.size(); ++i) {
      SLUICE_ASSIGN_OR_RETURN(const float label, loss_->Label(examples.label(i)));
      labels.push_back(label);
    }
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, state.shape()));
    std::copy_n(state.data<float>(), state.num_elements(), out->data<float>());
    for (int64_t i : Order(examples, labels, out->data<float>())) {
      Step(examples, i, labels[static_cast<size_t>(i)], out->data<float>() + 4 * i);
    }
    return absl::OkStatus();
  }

 private:
  SdcaOptimizerKernel(KernelInit& init, std::unique_ptr<DualLoss> loss)
      : places_(init),
        loss_(std::move(loss)),
        shrink_(init.attr<float>("l1"), init.attr<float>("l2")),
        l2_(init.attr<float>("l2")),
        partitions_(static_cast<int>(init.attr<int64_t>("num_loss_partitions"))),
        is_adaptive_(init.AttrOr<bool>("adaptative", init.AttrOr<bool>("adaptive", false))) {}

  // Sets the dual value of example i to the optimal one, and adapts the weights. `state` has four
  // elements: the dual value, the primal and the dual loss before the step, and the weight of the
  // example.
  void Step(Examples& examples, int64_t i, float label, float* state) const {
    const Examples::Predictions p = examples.Predict(i, shrink_, partitions_);
    const DualExample e{label, examples.weight(i), state[0], p.now, examples.squared_norm(i) / l2_};
    const double dual = loss_->NewDual(e, partitions_);
    examples.Add(i, (dual - e.dual) * e.weight / l2_);
    state[0] = static_cast<float>(dual);
    state[1] = static_cast<float>(loss_->Primal(p.before, label, e.weight));
    state[2] = static_cast<float>(loss_->Dual(e.dual, label, e.weight));
    state[3] = static_cast<float>(e.weight);
  }

  // Returns the order in which examples are processed: a random permutation, or AdaptiveOrder. The
  // random numbers change from call to call, but are the same in each run of a program.
  std::vector<int64_t> Order(const Examples& examples, const std::vector<float>& labels,
                             const float* state) {
    ScopedLock lock(&mutex_);
    SingleNumbers bits(&philox_);
    if (is_adaptive_) return AdaptiveOrder(examples, labels, state, bits);
    std::vector<int64_t> order(labels.size());
    std::iota(order.begin(), order.end(), 0);
    for (size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1], order[Below64(i, bits)]);
    }
    return order;
  }

  // Samples examples in proportion to the distance from their optimal dual values (Csiba, Qu &
  // Richtarik, 2015). Whenever an example is taken, the probability to take it again drops to a
  // tenth. Examples that were never taken fill the rest of the order.
  std::vector<int64_t> AdaptiveOrder(const Examples& examples, const std::vector<float>& labels,
                                     const float* state, SingleNumbers& bits) const {
    const auto count = static_cast<int64_t>(labels.size());
    std::vector<float> gains;
    for (int64_t i = 0; i < count; ++i) {
      const double now = examples.Predict(i, shrink_, partitions_).now;
      const double residue = state[4 * i] + loss_->PrimalDerivative(now, labels[i]);
      const double size = std::sqrt(examples.squared_norm(i) + l2_ * loss_->Smoothness());
      gains.push_back(static_cast<float>(examples.weight(i) * size * std::abs(residue)));
    }
    std::vector<int64_t> order;
    std::vector<int> taken(labels.size(), 0);
    const float total = std::accumulate(gains.begin(), gains.end(), 0.0f);
    if (total > 0 && std::isfinite(total)) {
      const auto sampler = WeightedClasses(count, gains);
      int64_t retries = 0;
      while (sampler.ok() && static_cast<int64_t>(order.size()) < count && retries < count) {
        const int64_t i = (*sampler)->Sample(bits);
        if (random::ToFloat(bits()) > std::pow(0.1, taken[i])) {
          ++retries;
          continue;
        }
        ++taken[i];
        order.push_back(i);
      }
    }
    std::vector<int64_t> rest;
    for (int64_t i = 0; i < count; ++i) {
      if (taken[i] == 0) rest.push_back(i);
    }
    std::stable_sort(rest.begin(), rest.end(),
                     [&](int64_t a, int64_t b) { return gains[a] > gains[b]; });
    rest.resize(std::min(rest.size(), labels.size() - order.size()));
    order.insert(order.end(), rest.begin(), rest.end());
    return order;
  }

  const linear::Places places_;
  const std::unique_ptr<DualLoss> loss_;
  const Shrinkage shrink_;
  const float l2_;
  const int partitions_;
  const bool is_adaptive_;
  Mutex mutex_;
  Philox philox_ ABSL_GUARDED_BY(mutex_){0, 0};
};
KERNEL(SdcaOptimizer, SdcaOptimizerKernel);
KERNEL(SdcaOptimizerV2, SdcaOptimizerKernel);

class SdcaShrinkL1Kernel : public Kernel {
 public:
  explicit SdcaShrinkL1Kernel(KernelInit& init)
      : shrink_(init.attr<float>("l1"), init.attr<float>("l2")) {}
  absl::Status Compute(KernelContext& c) override {
    for (int i = 0; i < c.num_inputs(); ++i) {
      const RefInput ref = c.ref_input(i);
      std::lock_guard lock(*ref.claim);
      SLUICE_RETURN_IF_ERROR(MakeWritable(ref.tensor, *c.step().allocator));
      for (float& w : ref.tensor->flat<float>()) w = static_cast<float>(shrink_(w));
    }
    return absl::OkStatus();
  }

 private:
  const Shrinkage shrink_;
};
KERNEL(SdcaShrinkL1, SdcaShrinkL1Kernel);

absl::Status SdcaFprint(KernelContext& c) {
  const Tensor& in = c.input(0);
  SLUICE_RETURN_IF_ERROR(ExpectRank(in, 1, "Input must be a vector, got shape "));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, {in.num_elements(), 2}));
  for (int64_t i = 0; i < in.num_elements(); ++i) {
    auto [low, high] = Fingerprint128(in.data<std::string>()[i]);
    // Avoids 0 and 1, which have other meanings in the tables that use these fingerprints.
    if (low < 2) low += ~uint64_t{1};
    out->data<int64_t>()[2 * i] = static_cast<int64_t>(low);
    out->data<int64_t>()[2 * i + 1] = static_cast<int64_t>(high);
  }
  return absl::OkStatus();
}
using SdcaFprintKernel = FunctionKernel<SdcaFprint>;
KERNEL(SdcaFprint, SdcaFprintKernel);

}  // namespace
}  // namespace sluice
