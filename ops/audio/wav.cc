#include "ops/audio/wav.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/status.h"

namespace sluice {
namespace {

void Append(std::string* out, uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

}  // namespace

absl::StatusOr<std::string> EncodeWav(absl::Span<const float> samples, int64_t rate,
                                      int64_t channels) {
  constexpr int64_t kMost = std::numeric_limits<uint32_t>::max();
  if (rate <= 0 || rate > kMost)
    return InvalidArgument("sample_rate must be in (0, 2^32), got: ", rate);
  if (channels <= 0 || channels >= std::numeric_limits<uint16_t>::max()) {
    return InvalidArgument("num_channels must be in (0, 2^16), got: ", channels);
  }
  const auto size = static_cast<int64_t>(samples.size()) * 2;
  if (size + 36 > kMost || rate * channels * 2 > kMost) {
    return InvalidArgument("Provided channels and rate cannot be encoded as WAV: ", samples.size(),
                           " samples, ", channels, " channels, ", rate, " frames a second");
  }
  std::string out = "RIFF";
  Append(&out, static_cast<uint32_t>(size + 36), 4);
  out += "WAVEfmt ";
  Append(&out, 16, 4);
  Append(&out, 1, 2);  // PCM
  Append(&out, static_cast<uint32_t>(channels), 2);
  Append(&out, static_cast<uint32_t>(rate), 4);
  Append(&out, static_cast<uint32_t>(rate * channels * 2), 4);
  Append(&out, static_cast<uint32_t>(channels * 2), 2);
  Append(&out, 16, 2);
  out += "data";
  Append(&out, static_cast<uint32_t>(size), 4);
  for (float sample : samples) {
    const float scaled = std::round(sample * 32768.0f);
    const float cut = std::isnan(scaled) ? 0.0f : std::clamp(scaled, -32768.0f, 32767.0f);
    Append(&out, static_cast<uint16_t>(static_cast<int16_t>(cut)), 2);
  }
  return out;
}

}  // namespace sluice
