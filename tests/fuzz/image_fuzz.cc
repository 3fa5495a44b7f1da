// Arbitrary bytes as an image are decoded into memory of the requested size, or rejected.

#include <cstdint>
#include <string_view>
#include <vector>

#include "ops/image/bmp.h"
#include "ops/image/gif.h"
#include "ops/image/jpeg.h"
#include "ops/image/png.h"

namespace {

// Small enough that a header alone cannot request gigabytes.
constexpr int64_t kMost = int64_t{1} << 22;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using sluice::ImageSize;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::vector<uint8_t> memory;
  const auto room = [&](int64_t elements) -> absl::StatusOr<void*> {
    if (elements > kMost) return absl::ResourceExhaustedError("large");
    memory.assign(static_cast<size_t>(elements), 0);
    return memory.data();
  };
  for (int bits : {8, 16}) {
    const auto place = [&](const ImageSize& s) {
      return room(s.height * s.width * s.channels * (bits / 8));
    };
    for (int channels : {0, 1, 3, 4}) {
      sluice::DecodePng(bytes, channels, bits, place).IgnoreError();
      if (bits == 16) continue;
      sluice::DecodeBmp(bytes, channels, place).IgnoreError();
      if (channels == 4) continue;
      sluice::JpegDecodeOptions options;
      options.channels = channels;
      options.try_recover_truncated = channels == 1;
      options.acceptable_fraction = 0.1f;
      sluice::DecodeJpeg(bytes, options, place).IgnoreError();
    }
  }
  const auto frames = [&](int64_t n, const ImageSize& s) -> absl::StatusOr<uint8_t*> {
    absl::StatusOr<void*> all = room(n * s.height * s.width * 3);
    if (!all.ok()) return all.status();
    return static_cast<uint8_t*>(*all);
  };
  sluice::DecodeGif(bytes, 0, frames).IgnoreError();
  sluice::JpegSize(bytes).status().IgnoreError();
  return 0;
}
