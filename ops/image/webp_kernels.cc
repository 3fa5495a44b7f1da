// The kernel that decodes WebP images and animations.
#include <webp/decode.h>
#include <webp/demux.h>

#include <algorithm>
#include <memory>
#include <string>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"

namespace sluice {
namespace {

absl::Status Damaged() { return InvalidArgument("Failed to decode WebP image."); }

const uint8_t* BytesOf(const std::string& file) {
  return reinterpret_cast<const uint8_t*>(file.data());
}

bool IsWebP(std::string_view file) {
  return file.size() >= 12 && file.starts_with("RIFF") && file.substr(8).starts_with("WEBP");
}

class DecodeWebPKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    const int64_t channels = init.attr<int64_t>("channels");
    if (channels == 0 || channels == 1 || channels == 3 || channels == 4) {
      return std::unique_ptr<Kernel>(new DecodeWebPKernel(channels));
    }
    return InvalidArgument("`channels` must be 0, 1, 3 or 4 but got ", channels);
  }

  absl::Status Compute(KernelContext& c) override {
    SLUICE_RETURN_IF_ERROR(ExpectRank(c.input(0), 0, "`contents` must be scalar but got shape "));
    const std::string& file = c.input(0).scalar<std::string>();
    SLUICE_INVALID_IF(file.empty(), "Input is empty.");
    SLUICE_INVALID_IF(!IsWebP(file), "Unknown image file format. WebP required.");
    WebPBitstreamFeatures found;
    if (WebPGetFeatures(BytesOf(file), file.size(), &found) != VP8_STATUS_OK) return Damaged();
    const int64_t channels = found.has_alpha ? 4 : 3;
    SLUICE_INVALID_IF(channels_ == 1, "WebP only supports 3 or 4 channels");
    SLUICE_INVALID_IF(channels_ != 0 && channels_ != channels,
                      "Number of channels requested does not match input");
    return found.has_animation ? Animation(c, file, channels) : Image(c, file, found, channels);
  }

 private:
  explicit DecodeWebPKernel(int64_t channels) : channels_(channels) {}

  static absl::Status Image(KernelContext& c, const std::string& file,
                            const WebPBitstreamFeatures& found, int64_t channels) {
    SLUICE_ASSIGN_OR_RETURN(Tensor * out,
                            c.AllocateOutput(0, {1, found.height, found.width, channels}));
    const auto decode = channels == 4 ? WebPDecodeRGBAInto : WebPDecodeRGBInto;
    const uint8_t* decoded = decode(BytesOf(file), file.size(), out->data<uint8_t>(), out->bytes(),
                                    static_cast<int>(found.width * channels));
    return decoded == nullptr ? Damaged() : absl::OkStatus();
  }

  // Decodes each frame as it is displayed, on top of the previous ones.
  static absl::Status Animation(KernelContext& c, const std::string& file, int64_t channels) {
    const WebPData data{BytesOf(file), file.size()};
    WebPAnimDecoderOptions options;
    if (!WebPAnimDecoderOptionsInit(&options)) return Damaged();
    const std::unique_ptr<WebPAnimDecoder, void (*)(WebPAnimDecoder*)> decoder(
        WebPAnimDecoderNew(&data, &options), &WebPAnimDecoderDelete);
    WebPAnimInfo info;
    if (decoder == nullptr || !WebPAnimDecoderGetInfo(decoder.get(), &info)) return Damaged();
    SLUICE_ASSIGN_OR_RETURN(
        const TensorShape shape,
        TensorShape::Make({info.frame_count, info.canvas_height, info.canvas_width, channels}));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    const int64_t pixels = int64_t{info.canvas_height} * info.canvas_width;
    uint8_t* to = out->data<uint8_t>();
    for (uint32_t frame = 0; frame < info.frame_count; ++frame) {
      uint8_t* shown;
      int time;
      if (!WebPAnimDecoderGetNext(decoder.get(), &shown, &time)) return Damaged();
      for (int64_t i = 0; i < pixels; ++i, to += channels) std::copy_n(shown + 4 * i, channels, to);
    }
    return absl::OkStatus();
  }

  const int64_t channels_;
};
KERNEL(DecodeWebP, DecodeWebPKernel);

}  // namespace
}  // namespace sluice
