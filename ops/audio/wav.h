// Sound as WAV files of 16-bit samples.
//
// Thread safety: a pure function. Errors: INVALID_ARGUMENT where the numbers do not fit the format.
#ifndef SLUICE_OPS_AUDIO_WAV_H_
#define SLUICE_OPS_AUDIO_WAV_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace sluice {

// `samples` in [-1, 1] (louder ones are cut off), channels interleaved, `rate` frames a second.
absl::StatusOr<std::string> EncodeWav(absl::Span<const float> samples, int64_t rate,
                                      int64_t channels);

struct Wav {
  std::vector<float> samples;  // channels interleaved
  int64_t channels = 0;
  int64_t rate = 0;
};
// PCM of 16 bits. Chunks between format and data are passed over. What the header says is checked
// against the bytes that are there.
absl::StatusOr<Wav> DecodeWav(std::string_view bytes);

}  // namespace sluice

#endif  // SLUICE_OPS_AUDIO_WAV_H_
