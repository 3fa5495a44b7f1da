// The kernel of AudioSpectrogram.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "graph/tensor/room.h"
#include "ops/audio/transform.h"

namespace sluice {
namespace {

class AudioSpectrogramKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    const int64_t size = init.attr<int64_t>("window_size"), stride = init.attr<int64_t>("stride");
    SLUICE_INVALID_IF(size < 2 || size > (1 << 30), "window size must be > 1, got ", size);
    SLUICE_INVALID_IF(stride < 1, "stride must be strictly positive, got ", stride);
    SLUICE_RETURN_IF_ERROR(CheckRoom(size, sizeof(double), "samples of a window"));
    return std::unique_ptr<Kernel>(
        new AudioSpectrogramKernel(size, stride, init.attr<bool>("magnitude_squared")));
  }

  absl::Status Compute(KernelContext& c) override {
    const Tensor& in = c.input(0);
    SLUICE_RETURN_IF_ERROR(ExpectRank(in, 2, "input must be 2-dimensional, got shape "));
    const int64_t samples = in.dim(0), channels = in.dim(1), size = Size();
    const int64_t windows = samples < size ? 0 : 1 + (samples - size) / stride_;
    const int64_t bins = 1 + length_ / 2;
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, {channels, windows, bins}));
    const double cost = 10.0 * static_cast<double>(length_) * std::log2(length_);
    c.ParallelFor(channels * windows, cost, [&](int64_t begin, int64_t end) {
      Transform transform(length_);
      std::vector<std::complex<double>> window(static_cast<size_t>(length_));
      for (int64_t i = begin; i < end; ++i) {
        const int64_t channel = i / windows, first = i % windows * stride_;
        std::fill(window.begin(), window.end(), 0.0);
        for (int64_t k = 0; k < size; ++k) {
          window[static_cast<size_t>(k)] =
              weights_[static_cast<size_t>(k)] * in.data<float>()[(first + k) * channels + channel];
        }
        transform.Run(Direction::kForward, window.data());
        for (int64_t k = 0; k < bins; ++k) {
          const double square = std::norm(window[static_cast<size_t>(k)]);
          out->data<float>()[i * bins + k] =
              static_cast<float>(is_squared_ ? square : std::sqrt(square));
        }
      }
    });
    return absl::OkStatus();
  }

 private:
  AudioSpectrogramKernel(int64_t size, int64_t stride, bool is_squared)
      : stride_(stride), is_squared_(is_squared) {
    while (length_ < size) length_ *= 2;
    weights_.reserve(static_cast<size_t>(size));
    for (int64_t i = 0; i < size; ++i) {
      const double turn = static_cast<double>(i) / static_cast<double>(size);
      weights_.push_back(0.5 - 0.5 * std::cos(2 * std::numbers::pi * turn));
    }
  }
  int64_t Size() const { return static_cast<int64_t>(weights_.size()); }

  const int64_t stride_;
  const bool is_squared_;
  int64_t length_ = 1;           // length of the transforms
  std::vector<double> weights_;  // the Hann window
};
KERNEL(AudioSpectrogram, AudioSpectrogramKernel);

}  // namespace
}  // namespace sluice
