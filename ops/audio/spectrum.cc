// Ops that compute spectra of sound over time.
#include "ops/op.h"

namespace sluice {
namespace {

// Returns the smallest power of two that is at least n.
int64_t PowerOfTwo(int64_t n) {
  int64_t power = 1;
  while (power < n) power *= 2;
  return power;
}

OP(AudioSpectrogram,
   "Computes the magnitudes [channels, windows, frequencies] of the Fourier transforms of Hann "
   "windows over [samples, channels]. A window of `window_size` samples begins every `stride` "
   "samples, and is padded with zeros to a power of two.")
    .Input("input", DT_FLOAT)
    .Output("spectrogram", DT_FLOAT)
    .Attr("window_size", IntAttr())
    .Attr("stride", IntAttr())
    .Attr("magnitude_squared", BoolAttr(false))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(const PartialShape in, c.WithRank(0, 2));
      const int64_t size = c.attr<int64_t>("window_size"), stride = c.attr<int64_t>("stride");
      SLUICE_INVALID_IF(size < 2 || size > (1 << 30), "window size must be > 1, got ", size);
      SLUICE_INVALID_IF(stride < 1, "stride must be strictly positive, got ", stride);
      const int64_t samples = in.dim(0);
      int64_t windows = -1;
      if (samples >= 0) windows = samples < size ? 0 : 1 + (samples - size) / stride;
      return c.SetOutput(0, {in.dim(1), windows, 1 + PowerOfTwo(size) / 2});
    });

OP(Mfcc,
   "Computes the mel-frequency cepstral coefficients of squared magnitudes: the cosine transform "
   "of the logarithms of the energies in bands of the mel scale.")
    .Input("spectrogram", DT_FLOAT)
    .Input("sample_rate", DT_INT32)
    .Output("output", DT_FLOAT)
    .Attr("upper_frequency_limit", FloatAttr(4000))
    .Attr("lower_frequency_limit", FloatAttr(20))
    .Attr("filterbank_channel_count", IntAttr(40))
    .Attr("dct_coefficient_count", IntAttr(13))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(const PartialShape in, c.WithRank(0, 3));
      SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
      return c.SetOutput(0, {in.dim(0), in.dim(1), c.attr<int64_t>("dct_coefficient_count")});
    });

}  // namespace
}  // namespace sluice
