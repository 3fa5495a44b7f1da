// Kernels of all versions of QuantizeAndDequantize, and of the gradient of V4.
#include <algorithm>
#include <cmath>
#include <limits>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/quantize/channels.h"

namespace sluice {
namespace {

// The numbers that integers of `bits` bits represent: multiples of `step` from `low` to `high`.
template <typename T>
struct Grid {
  T low, high, scale, step;  // scale is 1 / step

  // Makes the finest grid that contains 0 and covers [from, to].
  Grid(T from, T to, bool is_signed, bool is_narrow, int64_t bits) : low(from), high(to) {
    const int64_t half = int64_t{1} << (bits - 1);
    const T least = static_cast<T>(is_signed ? -half + (is_narrow ? 1 : 0) : 0);
    const T most = static_cast<T>(is_signed ? half - 1 : 2 * half - 1);
    constexpr T kNone = std::numeric_limits<T>::max();
    const T by_low = least * low > 0 ? least / low : kNone;
    const T by_high = most * high > 0 ? most / high : kNone;
    if (by_low < by_high) {
      scale = by_low;
      step = low / least;
      high = most * step;
    } else {
      scale = by_high;
      step = high / most;
      low = least * step;
    }
  }
};

struct Settings {
  explicit Settings(const KernelInit& init)
      : is_signed(init.attr<bool>("signed_input")),
        range_given(init.attr<bool>("range_given")),
        is_narrow(init.AttrOr<bool>("narrow_range", false)),
        rounds_up(init.AttrOr<std::string>("round_mode", "HALF_TO_EVEN") == "HALF_UP"),
        axis(init.AttrOr<int64_t>("axis", -1)),
        bits(init.AttrOr<int64_t>("num_bits", 8)) {}

  absl::Status CheckBits(int64_t n) const {
    if (n > 0 && n < (is_signed ? 62 : 63)) return absl::OkStatus();
    return InvalidArgument("num_bits is out of range: ", n, " with signed_input ",
                           is_signed ? "true" : "false");
  }

  bool is_signed, range_given, is_narrow, rounds_up;
  int64_t axis, bits;
};

absl::Status CheckRange(const Tensor& t, const ChannelSlices& slices, int64_t axis,
                        const char* name) {
  if (axis == -1 ? t.rank() == 0 : t.rank() == 1 && t.dim(0) == slices.channels) {
    return absl::OkStatus();
  }
  return InvalidArgument(name, " has incorrect size: expected ",
                         axis == -1 ? "a scalar" : StrCat("[", slices.channels, "]"),
                         ", got shape ", t.shape().ToString());
}

template <typename T>
class EmulateKernel : public Kernel {
 public:
  explicit EmulateKernel(KernelInit& init)
      : settings_(init),
        low_(init.AttrOr<float>("input_min", 0)),
        high_(init.AttrOr<float>("input_max", 0)) {}

  absl::Status Compute(KernelContext& c) override {
    const Tensor& in = c.input(0);
    SLUICE_ASSIGN_OR_RETURN(const ChannelSlices slices,
                            ChannelSlices::Of(in.shape(), settings_.axis));
    int64_t bits = settings_.bits;
    if (c.num_inputs() == 4) {
      SLUICE_INVALID_IF(c.input(3).num_elements() != 1,
                        "num_bits must have one element, got shape ",
                        c.input(3).shape().ToString());
      bits = *c.input(3).data<int32_t>();
    }
    SLUICE_RETURN_IF_ERROR(settings_.CheckBits(bits));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.ForwardOrAllocate({0}, 0, in.shape()));
    if (settings_.range_given && c.num_inputs() > 1) {
      SLUICE_RETURN_IF_ERROR(CheckRange(c.input(1), slices, settings_.axis, "input_min"));
      SLUICE_RETURN_IF_ERROR(CheckRange(c.input(2), slices, settings_.axis, "input_max"));
    }
    if (in.num_elements() == 0 && settings_.axis != -1) return absl::OkStatus();
    for (int64_t k = 0; k < slices.channels; ++k) {
      T low, high;
      Bounds(c, slices, k, &low, &high);
      // TensorFlow does not check the ranges of channels.
      SLUICE_INVALID_IF(settings_.range_given && settings_.axis == -1 && !(low <= high),
                        "Invalid range: input_min ", low, " > input_max ", high);
      const Grid<T> grid(low, high, settings_.is_signed, settings_.is_narrow, bits);
      slices.ForChannel(k, [&](int64_t first, int64_t n) {
        c.ParallelFor(n, 2, [&](int64_t begin, int64_t end) {
          Round(grid, in.data<T>() + first + begin, out->data<T>() + first + begin, end - begin);
        });
      });
    }
    return absl::OkStatus();
  }

 private:
  void Bounds(KernelContext& c, const ChannelSlices& slices, int64_t k, T* low, T* high) const {
    if (settings_.range_given) {
      *low = c.num_inputs() > 1 ? c.input(1).data<T>()[k] : static_cast<T>(low_);
      *high = c.num_inputs() > 1 ? c.input(2).data<T>()[k] : static_cast<T>(high_);
      return;
    }
    const T* x = c.input(0).data<T>();
    *low = std::numeric_limits<T>::max();
    *high = std::numeric_limits<T>::lowest();
    slices.ForChannel(k, [&](int64_t first, int64_t n) {
      for (int64_t i = first; i < first + n; ++i) {
        *low = std::min(*low, x[i]);
        *high = std::max(*high, x[i]);
      }
    });
  }

  void Round(const Grid<T>& grid, const T* x, T* y, int64_t n) const {
    for (int64_t i = 0; i < n; ++i) {
      T v = x[i];
      if (settings_.range_given) v = std::max(std::min(v, grid.high), grid.low);
      v *= grid.scale;
      y[i] = (settings_.rounds_up ? std::floor(v + T(0.5)) : std::nearbyint(v)) * grid.step;
    }
  }

  const Settings settings_;
  const float low_, high_;
};
using FloatAndDouble = TypeList<float, double>;
KERNELS(QuantizeAndDequantize, "T", EmulateKernel, FloatAndDouble);
KERNELS(QuantizeAndDequantizeV2, "T", EmulateKernel, FloatAndDouble);
KERNELS(QuantizeAndDequantizeV3, "T", EmulateKernel, FloatAndDouble);
KERNELS(QuantizeAndDequantizeV4, "T", EmulateKernel, FloatAndDouble);

// Computes the gradient, which is 0 for elements outside the range.
template <typename T>
absl::Status EmulateGrad(KernelContext& c, Attr<int64_t, "axis"> axis) {
  const Tensor &grad = c.input(0), &in = c.input(1);
  SLUICE_INVALID_IF(!(grad.shape() == in.shape()), "gradient and input must be the same size, got ",
                    grad.shape().ToString(), " and ", in.shape().ToString());
  SLUICE_ASSIGN_OR_RETURN(const ChannelSlices slices, ChannelSlices::Of(in.shape(), axis));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, in.shape()));
  static const char* const kNames[] = {"input_min", "input_max"};
  for (int i : {0, 1}) {
    SLUICE_RETURN_IF_ERROR(CheckRange(c.input(2 + i), slices, axis, kNames[i]));
    SLUICE_ASSIGN_OR_RETURN(Tensor * zeros, c.AllocateOutput(1 + i, c.input(2 + i).shape()));
    std::fill_n(zeros->data<T>(), zeros->num_elements(), T(0));
  }
  for (int64_t k = 0; k < slices.channels; ++k) {
    const T low = c.input(2).data<T>()[k], high = c.input(3).data<T>()[k];
    slices.ForChannel(k, [&](int64_t first, int64_t n) {
      for (int64_t i = first; i < first + n; ++i) {
        const T x = in.data<T>()[i];
        out->data<T>()[i] = grad.data<T>()[i] * static_cast<T>(x >= low && x <= high);
      }
    });
  }
  return absl::OkStatus();
}
FUNCTION_KERNELS(QuantizeAndDequantizeV4Grad, "T", EmulateGrad, FloatAndDouble);

}  // namespace
}  // namespace sluice
