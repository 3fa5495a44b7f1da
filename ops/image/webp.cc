// The op that decodes WebP images and animations.
#include "ops/op.h"

namespace sluice {
namespace {

OP(DecodeWebP,
   "Decodes a WebP image or animation to [frames, height, width, channels]. An image with "
   "transparency has 4 channels, others have 3. `channels` must be this number or 0.")
    .Input("contents", DT_STRING)
    .Output("image", "dtype")
    .Attr("channels", IntAttr(0))
    .Attr("dtype", TypeAttr(TypeSet{DT_UINT8}, DT_UINT8))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(c.WithRank(0, 0).status());
      const int64_t channels = c.attr<int64_t>("channels");
      SLUICE_INVALID_IF(channels < 0, "channels must be non-negative, got ", channels);
      return c.SetOutput(0, {-1, -1, -1, channels == 0 ? -1 : channels});
    });

}  // namespace
}  // namespace sluice
