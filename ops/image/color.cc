// Colours of images: other colour spaces, and changes of hue, saturation and contrast.
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/array/split_builders.h"
#include "ops/math/power_builders.h"
#endif

namespace sluice {
namespace {

// The last dimension holds red, green and blue (or what stands for them).
absl::Status ThreeChannels(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape images, c.WithRankAtLeast(0, 1));
  if (!images.rank_known()) return c.SetOutput(0, images);
  SLUICE_ASSIGN_OR_RETURN(const int64_t channels, MergeDim(images.dim(images.rank() - 1), 3));
  images.set_dim(images.rank() - 1, channels);
  return c.SetOutput(0, images);
}

absl::Status ImagesUnchanged(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape images, c.WithRankAtLeast(0, 3));
  return c.SetOutput(0, images);
}

#ifndef SLUICE_DEFINITIONS_ONLY
// One channel of RGBToHSV's input beside the next and the previous in the circle red, green, blue.
struct Channel {
  Output value;           // of the channel
  Output is_max, is_min;  // 1 where the channel is the greatest, the least of its pixel; else 0
  Output is_positive;
};

Output Mask(Output condition, DataType type) { return Cast(condition, type); }

// 1 / x, and 0 where x is 0.
Output SafeReciprocal(Output x) { return DivNoNan(OnesLike(x), x); }

// The derivative of the hue by channel c, in units of the whole circle: the quotient rule in each
// of the five cases of which channel is the greatest and which the least.
Output HueBy(const Channel& c, const Channel& next, const Channel& previous, Output saturation,
             Output value) {
  Output rise = previous.value - next.value;
  Output own = c.is_positive * c.is_max * rise * SafeReciprocal(Square(saturation)) *
               SafeReciprocal(Square(value));
  Output below_next = next.is_positive * next.is_max * c.is_min * rise *
                      SafeReciprocal(Square(next.value - c.value));
  Output below_previous = previous.is_positive * previous.is_max * c.is_min * rise *
                          SafeReciprocal(Square(previous.value - c.value));
  Output after_next = next.is_positive * next.is_max * previous.is_min *
                      SafeReciprocal(next.value - previous.value);
  Output before_previous = previous.is_positive * previous.is_max * next.is_min *
                           SafeReciprocal(previous.value - next.value);
  return (own + below_next + below_previous - after_next + before_previous) * (1.0 / 6);
}

Output SaturationBy(const Channel& c, const Channel& next, const Channel& previous) {
  Output least = next.is_min * next.value + previous.is_min * previous.value;
  Output greatest = next.is_max * next.value + previous.is_max * previous.value;
  return c.is_positive *
         (c.is_max * least * SafeReciprocal(Square(c.value)) - c.is_min * SafeReciprocal(greatest));
}

// Where channels are equal, red goes before green before blue as the greatest, and the other way
// round as the least.
void GradientOfRgbToHsv(Backprop& b) {
  Output rgb = b.Value("images"), hsv = b.Value("output"), grad = b.Of("output");
  const OutputList colors = Unpack(rgb, 3, {.axis = -1});
  const OutputList parts = Unpack(hsv, 3, {.axis = -1});
  const OutputList grads = Unpack(grad, 3, {.axis = -1});
  if (colors.size() != 3 || parts.size() != 3 || grads.size() != 3) return;
  const DataType type = rgb.dtype();
  Output red = colors[0], green = colors[1], blue = colors[2];
  auto both = [&](Output x, Output y) { return Mask(LogicalAnd(x, y), type); };
  auto positive = [&](Output x) { return Mask(Greater(x, ZerosLike(x)), type); };
  const Channel channels[3] = {
      {red, both(GreaterEqual(red, blue), GreaterEqual(red, green)),
       both(Less(red, blue), Less(red, green)), positive(red)},
      {green, both(Greater(green, red), GreaterEqual(green, blue)),
       both(LessEqual(green, red), Less(green, blue)), positive(green)},
      {blue, both(Greater(blue, red), Greater(blue, green)),
       both(LessEqual(blue, red), LessEqual(blue, green)), positive(blue)}};
  OutputList by_channel;
  for (int i = 0; i < 3; ++i) {
    const Channel &c = channels[i], &next = channels[(i + 1) % 3],
                  &previous = channels[(i + 2) % 3];
    by_channel.push_back(grads[2] * c.is_max + grads[1] * SaturationBy(c, next, previous) +
                         grads[0] * HueBy(c, next, previous, parts[1], parts[2]));
  }
  b.Into("images", Pack(by_channel, {.axis = -1}));
}
#endif

OP(AdjustContrast,
   "(x - mean) * contrast_factor + mean of each channel of an image, kept between min_value and "
   "max_value.")
    .Input("images", "T")
    .Input("contrast_factor", DT_FLOAT)
    .Input("min_value", DT_FLOAT)
    .Input("max_value", DT_FLOAT)
    .Output("output", DT_FLOAT)
    .Attr("T",
          TypeAttr(TypeSet{DT_UINT8, DT_INT8, DT_INT16, DT_INT32, DT_INT64, DT_FLOAT, DT_DOUBLE}))
    .Deprecated(2, "Use AdjustContrastv2 instead")
    .Shape([](ShapeContext& c) -> absl::Status {
      for (int i : {1, 2, 3}) SLUICE_RETURN_IF_ERROR(c.WithRank(i, 0).status());
      return ImagesUnchanged(c);
    });

OP(AdjustContrastv2,
   "(x - mean) * contrast_factor + mean, where the mean is of each channel of an image.")
    .Input("images", "T")
    .Input("contrast_factor", DT_FLOAT)
    .Output("output", "T")
    .Attr("T", TypeAttr(TypeSet{DT_HALF, DT_FLOAT}, DT_FLOAT))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
      return ImagesUnchanged(c);
    });

OP(AdjustHue, "Colours turned by `delta` of the circle of hues.")
    .Input("images", "T")
    .Input("delta", DT_FLOAT)
    .Output("output", "T")
    .Attr("T", TypeAttr(TypeSet{DT_HALF, DT_FLOAT}, DT_FLOAT))
    .Shape([](ShapeContext& c) { return ImagesUnchanged(c); });

OP(AdjustSaturation, "The colours' saturation times `scale`, kept between 0 and 1.")
    .Input("images", "T")
    .Input("scale", DT_FLOAT)
    .Output("output", "T")
    .Attr("T", TypeAttr(TypeSet{DT_HALF, DT_FLOAT}, DT_FLOAT))
    .Shape([](ShapeContext& c) { return ImagesUnchanged(c); });

OP(HSVToRGB, "Hue, saturation and value as red, green and blue. All lie between 0 and 1.")
    .Input("images", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(FloatTypes(), DT_FLOAT))
    .NotDifferentiable()
    .Shape(ThreeChannels);

OP(RGBToHSV, "Red, green and blue as hue, saturation and value. All lie between 0 and 1.")
    .Input("images", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(FloatTypes(), DT_FLOAT))
    .Shape(ThreeChannels) GRADIENT(GradientOfRgbToHsv);

}  // namespace
}  // namespace sluice
