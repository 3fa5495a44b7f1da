// The kernel of Mfcc.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "graph/tensor/room.h"
#include "graph/tensor/sizes.h"

namespace sluice {
namespace {

// Converts a frequency to the mel scale.
double Mel(double hertz) { return 1127.0 * std::log1p(hertz / 700.0); }

// A bank of triangular filters, whose bands overlap by half. Each frequency contributes to two
// bands: the one whose center is below it and the one whose center is above. The range of
// frequencies and the weights are those of TensorFlow.
class Bands {
 public:
  // Checks the arguments. `bins` is the number of frequencies from 0 to half the sample rate.
  static absl::Status Check(int64_t bins, double sample_rate, double lower, double upper) {
    SLUICE_INVALID_IF(bins < 2, "Input length must be at least 2, got ", bins);
    SLUICE_INVALID_IF(!(lower >= 0), "lower_frequency_limit must be at least 0, got ", lower);
    SLUICE_INVALID_IF(!(upper > lower), "upper_frequency_limit must be above the lower one, got ",
                      upper, " and ", lower);
    SLUICE_INVALID_IF(sample_rate <= 0, "sample_rate must be positive, got ", sample_rate);
    return absl::OkStatus();
  }
  // Makes bands of arguments that Check accepts.
  static Bands Make(int64_t count, int64_t bins, double sample_rate, double lower, double upper) {
    Bands bands;
    bands.count_ = count;
    const double low = Mel(lower), spacing = (Mel(upper) - low) / static_cast<double>(count + 1);
    const auto center = [&](int64_t i) { return low + spacing * static_cast<double>(i + 1); };
    const double step = 0.5 * sample_rate / static_cast<double>(bins - 1);
    constexpr double kFar = 1e15;  // greater than any bin, and exact
    bands.first_ = static_cast<int64_t>(std::min(1.5 + lower / step, kFar));
    bands.last_ = std::min(static_cast<int64_t>(std::min(upper / step, kFar)), bins - 1);
    int64_t band = 0;
    for (int64_t i = 0; i <= bands.last_; ++i) {
      const double mel = Mel(static_cast<double>(i) * step);
      if (i >= bands.first_) {
        while (band < count && center(band) < mel) ++band;
      }
      // `below` is the band whose center is below, or -1 before the first band.
      const int64_t below = band - 1;
      const double from = below < 0 ? low : center(below), to = center(below + 1);
      bands.below_.push_back(below);
      bands.weight_.push_back(i < bands.first_ ? 0 : (to - mel) / (to - from));
    }
    return bands;
  }

  // Returns the weighted sums of the magnitudes whose squares are `squares`.
  std::vector<double> Sum(const float* squares) const {
    std::vector<double> sums(static_cast<size_t>(count_), 0.0);
    for (int64_t i = first_; i <= last_; ++i) {
      const auto at = static_cast<size_t>(i);
      const double magnitude = std::sqrt(static_cast<double>(squares[i]));
      const double part = magnitude * weight_[at];
      const int64_t below = below_[at];
      if (below >= 0) sums[static_cast<size_t>(below)] += part;
      if (below + 1 < count_) sums[static_cast<size_t>(below) + 1] += magnitude - part;
    }
    return sums;
  }

 private:
  int64_t count_ = 0, first_ = 0, last_ = 0;
  std::vector<int64_t> below_;
  std::vector<double> weight_;
};

class MfccKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    const int64_t bands = init.attr<int64_t>("filterbank_channel_count");
    const int64_t coefficients = init.attr<int64_t>("dct_coefficient_count");
    SLUICE_INVALID_IF(bands < 1 || coefficients < 1 || coefficients > bands,
                      "expected 1 <= dct_coefficient_count <= filterbank_channel_count, got ",
                      coefficients, " and ", bands);
    SLUICE_RETURN_IF_ERROR(
        CheckRoom(SaturatedProduct(bands, coefficients), sizeof(double), "cosines"));
    return std::unique_ptr<Kernel>(new MfccKernel(init, bands, coefficients));
  }

  absl::Status Compute(KernelContext& c) override {
    const Tensor &in = c.input(0), &rate = c.input(1);
    SLUICE_RETURN_IF_ERROR(ExpectRank(in, 3, "spectrogram must be 3-dimensional, got shape "));
    SLUICE_RETURN_IF_ERROR(
        ExpectRank(rate, 0, "Input sample_rate should be a scalar tensor, got shape "));
    SLUICE_RETURN_IF_ERROR(Bands::Check(in.dim(2), rate.scalar<int32_t>(), lower_, upper_));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out,
                            c.AllocateOutput(0, {in.dim(0), in.dim(1), coefficients_}));
    // Returns early: without elements, the number of bins may be so large that the bands do not fit
    // in memory.
    if (out->num_elements() == 0) return absl::OkStatus();
    const Bands bands = Bands::Make(bands_, in.dim(2), rate.scalar<int32_t>(), lower_, upper_);
    const double cost = static_cast<double>(2 * in.dim(2) + bands_ * (coefficients_ + 10));
    c.ParallelFor(in.dim(0) * in.dim(1), cost, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        std::vector<double> energies = bands.Sum(in.data<float>() + i * in.dim(2));
        for (double& v : energies) v = std::log(std::max(v, 1e-12));
        for (int64_t k = 0; k < coefficients_; ++k) {
          double sum = 0;
          for (int64_t b = 0; b < bands_; ++b) sum += cosines_[k * bands_ + b] * energies[b];
          out->data<float>()[i * coefficients_ + k] = static_cast<float>(sum);
        }
      }
    });
    return absl::OkStatus();
  }

 private:
  MfccKernel(KernelInit& init, int64_t bands, int64_t coefficients)
      : bands_(bands),
        coefficients_(coefficients),
        lower_(init.attr<float>("lower_frequency_limit")),
        upper_(init.attr<float>("upper_frequency_limit")) {
    cosines_.reserve(static_cast<size_t>(bands * coefficients));
    const double n = static_cast<double>(bands);
    for (int64_t k = 0; k < coefficients; ++k) {
      for (int64_t b = 0; b < bands; ++b) {
        const double turn = std::numbers::pi / n * static_cast<double>(k);
        cosines_.push_back(std::sqrt(2.0 / n) * std::cos(turn * (static_cast<double>(b) + 0.5)));
      }
    }
  }

  const int64_t bands_, coefficients_;
  const double lower_, upper_;
  std::vector<double> cosines_;  // the rows of the cosine transform
};
KERNEL(Mfcc, MfccKernel);

}  // namespace
}  // namespace sluice
