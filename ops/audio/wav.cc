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

// Reads parts of a file from front to back.
class Parts {
 public:
  explicit Parts(std::string_view bytes) : rest_(bytes) {}
  bool empty() const { return rest_.empty(); }
  absl::StatusOr<std::string_view> Take(size_t size) {
    SLUICE_INVALID_IF(rest_.size() < size, "Data too short when trying to read string");
    const std::string_view part = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return part;
  }
  absl::Status Expect(std::string_view text) {
    SLUICE_ASSIGN_OR_RETURN(const std::string_view part, Take(text.size()));
    if (part == text) return absl::OkStatus();
    return InvalidArgument("Header mismatch: Expected ", text, " but found ", part);
  }
  absl::StatusOr<uint32_t> Number(size_t bytes) {
    SLUICE_ASSIGN_OR_RETURN(const std::string_view part, Take(bytes));
    uint32_t value = 0;
    for (size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(part[i]);
    return value;
  }

 private:
  std::string_view rest_;
};

}  // namespace

absl::StatusOr<std::string> EncodeWav(absl::Span<const float> samples, int64_t rate,
                                      int64_t channels) {
  constexpr int64_t kMost = std::numeric_limits<uint32_t>::max();
  SLUICE_INVALID_IF(rate <= 0 || rate > kMost, "sample_rate must be in (0, 2^32), got: ", rate);
  SLUICE_INVALID_IF(channels <= 0 || channels >= std::numeric_limits<uint16_t>::max(),
                    "num_channels must be in (0, 2^16), got: ", channels);
  const auto size = static_cast<int64_t>(samples.size()) * 2;
  SLUICE_INVALID_IF(size + 36 > kMost || rate * channels * 2 > kMost,
                    "Provided channels and rate cannot be encoded as WAV: ", samples.size(),
                    " samples, ", channels, " channels, ", rate, " frames per second");
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

namespace {

// Reads the header and the format chunk.
absl::Status ReadFormat(Parts& parts, Wav* wav) {
  SLUICE_RETURN_IF_ERROR(parts.Expect("RIFF"));
  SLUICE_RETURN_IF_ERROR(parts.Take(4).status());  // size of the file
  SLUICE_RETURN_IF_ERROR(parts.Expect("WAVE"));
  SLUICE_RETURN_IF_ERROR(parts.Expect("fmt "));
  SLUICE_ASSIGN_OR_RETURN(const uint32_t size, parts.Number(4));
  SLUICE_INVALID_IF(size != 16 && size != 18,
                    "Bad format chunk size for WAV: Expected 16 or 18, but got", size);
  SLUICE_ASSIGN_OR_RETURN(const uint32_t format, parts.Number(2));
  SLUICE_INVALID_IF(format != 1, "Bad audio format for WAV: Expected 1 (PCM), but got", format);
  SLUICE_ASSIGN_OR_RETURN(const uint32_t channels, parts.Number(2));
  SLUICE_INVALID_IF(channels < 1, "Bad number of channels for WAV: Expected at least 1, but got ",
                    channels);
  SLUICE_ASSIGN_OR_RETURN(const uint32_t rate, parts.Number(4));
  SLUICE_ASSIGN_OR_RETURN(const uint32_t bytes_per_second, parts.Number(4));
  SLUICE_ASSIGN_OR_RETURN(const uint32_t bytes_per_frame, parts.Number(2));
  SLUICE_ASSIGN_OR_RETURN(const uint32_t bits, parts.Number(2));
  SLUICE_INVALID_IF(bits != 16, "Can only read 16-bit WAV files, but received ", bits);
  SLUICE_INVALID_IF(bytes_per_frame != 2 * channels,
                    "Bad bytes per sample in WAV header: Expected ", 2 * channels, " but got ",
                    bytes_per_frame);
  SLUICE_INVALID_IF(bytes_per_second != int64_t{bytes_per_frame} * rate,
                    "Bad bytes per second in WAV header: Expected ",
                    int64_t{bytes_per_frame} * rate, " but got ", bytes_per_second,
                    " (sample_rate=", rate, ", bytes_per_sample=", bytes_per_frame, ")");
  if (size == 18) SLUICE_RETURN_IF_ERROR(parts.Take(2).status());
  wav->channels = channels;
  wav->rate = rate;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Wav> DecodeWav(std::string_view bytes) {
  Parts parts(bytes);
  Wav wav;
  SLUICE_RETURN_IF_ERROR(ReadFormat(parts, &wav));
  while (!parts.empty()) {
    SLUICE_ASSIGN_OR_RETURN(const std::string_view name, parts.Take(4));
    SLUICE_ASSIGN_OR_RETURN(const uint32_t size, parts.Number(4));
    if (name != "data") {
      // As in TensorFlow, a truncated chunk ends the file.
      if (!parts.Take(size).ok()) break;
      continue;
    }
    const int64_t frames = int64_t{size} / (2 * wav.channels);
    SLUICE_ASSIGN_OR_RETURN(const std::string_view data,
                            parts.Take(static_cast<size_t>(frames * 2 * wav.channels)));
    wav.samples.reserve(data.size() / 2);
    for (size_t i = 0; i + 1 < data.size(); i += 2) {
      const auto low = static_cast<unsigned char>(data[i]);
      const auto high = static_cast<unsigned char>(data[i + 1]);
      const auto sample = static_cast<int16_t>(static_cast<uint16_t>(low | high << 8));
      wav.samples.push_back(static_cast<float>(sample) / 32768.0f);
    }
    return wav;
  }
  return InvalidArgument("No data chunk found in WAV");
}

}  // namespace sluice
