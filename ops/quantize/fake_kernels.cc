// Kernels of FakeQuantWithMinMaxArgs, Vars and VarsPerChannel, and of their gradients.
#include <algorithm>
#include <cmath>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/quantize/channels.h"

namespace sluice {
namespace {

// The numbers that integers of `bits` bits represent within a range. The range is shifted
// ("nudged") so that 0 is one of these numbers.
struct Nudged {
  float low, high, scale, inverse, zero;

  Nudged(float min, float max, int64_t bits, bool is_narrow) {
    const float least = is_narrow ? 1.0f : 0.0f;
    const auto most = static_cast<float>((1 << bits) - 1);
    scale = (max - min) / (most - least);
    inverse = (most - least) / (max - min);
    const float point = std::round(std::clamp(least - min / scale, least, most));
    low = (least - point) * scale;
    high = (most - point) * scale;
    zero = std::floor(-low * inverse + 0.5f);
  }
  float Steps(float x) const { return std::max(std::min(x, high), low) - low; }
};

struct Settings {
  explicit Settings(const KernelInit& init)
      : bits(init.attr<int64_t>("num_bits")), is_narrow(init.attr<bool>("narrow_range")) {}
  absl::Status Check() const {
    if (bits >= 2 && bits <= 16) return absl::OkStatus();
    return InvalidArgument("num_bits must be between 2 and 16, inclusive, got ", bits);
  }
  int64_t bits;
  bool is_narrow;
};

absl::Status CheckSameShape(const Tensor& gradients, const Tensor& inputs) {
  if (gradients.shape() == inputs.shape()) return absl::OkStatus();
  return InvalidArgument("gradient and input must be the same size, got shapes ",
                         gradients.shape().ToString(), " and ", inputs.shape().ToString());
}

// The kernel of ops whose range is given by attributes.
class FixedRangeKernel : public Kernel {
 public:
  explicit FixedRangeKernel(KernelInit& init)
      : settings_(init),
        min_(init.attr<float>("min")),
        max_(init.attr<float>("max")),
        is_gradient_(init.num_inputs() == 2) {}

  absl::Status Compute(KernelContext& c) override {
    SLUICE_RETURN_IF_ERROR(settings_.Check());
    SLUICE_INVALID_IF(!(min_ < max_), "min has to be smaller than max, was: ", min_, " >= ", max_);
    const Nudged range(min_, max_, settings_.bits, settings_.is_narrow);
    const Tensor& in = c.input(is_gradient_ ? 1 : 0);
    if (is_gradient_) SLUICE_RETURN_IF_ERROR(CheckSameShape(c.input(0), in));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.ForwardOrAllocate({0}, 0, in.shape()));
    const float *x = in.data<float>(), *dy = c.input(0).data<float>();
    float* to = out->data<float>();
    c.ParallelFor(in.num_elements(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        if (is_gradient_) {
          to[i] = dy[i] * static_cast<float>(x[i] >= range.low && x[i] <= range.high);
        } else {
          to[i] = std::floor(range.Steps(x[i]) * range.inverse - range.zero + 0.5f) * range.scale;
        }
      }
    });
    return absl::OkStatus();
  }

 private:
  const Settings settings_;
  const float min_, max_;
  const bool is_gradient_;
};
KERNEL(FakeQuantWithMinMaxArgs, FixedRangeKernel);
KERNEL(FakeQuantWithMinMaxArgsGradient, FixedRangeKernel);

absl::Status CheckRanges(const Tensor& in, const Tensor& min, const Tensor& max,
                         bool is_by_channel) {
  SLUICE_INVALID_IF(is_by_channel && in.rank() == 0, "inputs must have at least one dimension");
  const int64_t channels = is_by_channel ? in.dim(in.rank() - 1) : 1;
  for (const Tensor* t : {&min, &max}) {
    if (t->rank() == (is_by_channel ? 1 : 0) && t->num_elements() == channels) continue;
    const char* name = t == &min ? "min" : "max";
    SLUICE_INVALID_IF(!is_by_channel, "`", name, "` must be rank 0 but is rank ", t->rank());
    return InvalidArgument(name, " has incorrect size, expected ", channels, ", got shape ",
                           t->shape().ToString());
  }
  return absl::OkStatus();
}

// The kernel of ops whose ranges are inputs. There is one range, or (PerChannel) one for each
// element of the last dimension.
class RangeKernel : public Kernel {
 public:
  explicit RangeKernel(KernelInit& init)
      : settings_(init),
        is_by_channel_(init.node().op().find("PerChannel") != std::string::npos),
        is_gradient_(init.num_inputs() == 4) {}

  absl::Status Compute(KernelContext& c) override {
    SLUICE_RETURN_IF_ERROR(settings_.Check());
    const int first = is_gradient_ ? 1 : 0;
    const Tensor &in = c.input(first), &min = c.input(first + 1), &max = c.input(first + 2);
    if (is_gradient_) SLUICE_RETURN_IF_ERROR(CheckSameShape(c.input(0), in));
    SLUICE_RETURN_IF_ERROR(CheckRanges(in, min, max, is_by_channel_));
    const int64_t channels = is_by_channel_ ? in.dim(in.rank() - 1) : 1;
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, in.shape()));
    if (!is_gradient_) {
      for (int64_t k = 0; k < channels; ++k) {
        Forward(min.data<float>()[k], max.data<float>()[k], in.data<float>() + k, channels,
                in.num_elements() / std::max<int64_t>(channels, 1), out->data<float>() + k);
      }
      return absl::OkStatus();
    }
    SLUICE_ASSIGN_OR_RETURN(Tensor * by_min, c.AllocateOutput(1, min.shape()));
    SLUICE_ASSIGN_OR_RETURN(Tensor * by_max, c.AllocateOutput(2, max.shape()));
    for (int64_t k = 0; k < channels; ++k) {
      Backward(min.data<float>()[k], max.data<float>()[k], c.input(0).data<float>() + k,
               in.data<float>() + k, channels, in.num_elements() / std::max<int64_t>(channels, 1),
               out->data<float>() + k, by_min->data<float>() + k, by_max->data<float>() + k);
    }
    return absl::OkStatus();
  }

 private:
  // Quantizes n elements, which are `step` apart.
  void Forward(float min, float max, const float* x, int64_t step, int64_t n, float* y) const {
    if (min == 0 && max == 0) {
      for (int64_t i = 0; i < n; ++i) y[i * step] = 0;
      return;
    }
    const Nudged range(min, max, settings_.bits, settings_.is_narrow);
    for (int64_t i = 0; i < n; ++i) {
      const float steps = range.Steps(x[i * step]);
      const float v = is_by_channel_ ? steps * range.inverse : steps / range.scale;
      y[i * step] = std::floor(v - range.zero + 0.5f) * range.scale;
    }
  }

  void Backward(float min, float max, const float* dy, const float* x, int64_t step, int64_t n,
                float* dx, float* by_min, float* by_max) const {
    *by_min = *by_max = 0;
    if (min == 0 && max == 0) {
      for (int64_t i = 0; i < n; ++i) dx[i * step] = dy[i * step];
      return;
    }
    const Nudged range(min, max, settings_.bits, settings_.is_narrow);
    double below = 0, above = 0;
    for (int64_t i = 0; i < n * step; i += step) {
      dx[i] = dy[i] * static_cast<float>(x[i] >= range.low && x[i] <= range.high);
      if (x[i] < range.low) below += dy[i];
      if (x[i] > range.high) above += dy[i];
    }
    *by_min = static_cast<float>(below);
    *by_max = static_cast<float>(above);
  }

  const Settings settings_;
  const bool is_by_channel_, is_gradient_;
};
KERNEL(FakeQuantWithMinMaxVars, RangeKernel);
KERNEL(FakeQuantWithMinMaxVarsGradient, RangeKernel);
KERNEL(FakeQuantWithMinMaxVarsPerChannel, RangeKernel);
KERNEL(FakeQuantWithMinMaxVarsPerChannelGradient, RangeKernel);

}  // namespace
}  // namespace sluice
