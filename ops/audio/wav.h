// Encodes and decodes WAV files of 16-bit samples.
//
// Thread safety: pure functions. Errors: INVALID_ARGUMENT if `rate`, `channels` or the number of
// samples exceeds what the format can store, or if a file is damaged or not 16-bit PCM.
#ifndef SLUICE_OPS_AUDIO_WAV_H_
#define SLUICE_OPS_AUDIO_WAV_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace sluice {

// Encodes `samples` with interleaved channels, clamped to [-1, 1]. `rate` is in frames per second.
absl::StatusOr<std::string> EncodeWav(absl::Span<const float> samples, int64_t rate,
                                      int64_t channels);

struct Wav {
  std::vector<float> samples;  // with interleaved channels
  int64_t channels = 0;
  int64_t rate = 0;
};
// Decodes 16-bit PCM. Skips chunks between the format and the data. Ignores the file size in the
// header. INVALID_ARGUMENT if `bytes` ends before the data does.
absl::StatusOr<Wav> DecodeWav(std::string_view bytes);

}  // namespace sluice

#endif  // SLUICE_OPS_AUDIO_WAV_H_
