// Ops that convert colour spaces, and ops that change hue, saturation and contrast.
#include <string>
#include <utility>

#include "graph/infer/expect_size.h"
#include "graph/op/mixins.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/array/split_builders.h"
#include "ops/math/power_builders.h"
#endif

namespace sluice {
namespace {

void ConvertsColors(OpDefBuilder& op) {
  op.Input("images", "T")
      .Output("output", "T")
      .Attr("T", TypeAttr(FloatTypes(), DT_FLOAT))
      .Shape([](ShapeContext& c) -> absl::Status {
        SLUICE_ASSIGN_OR_RETURN(PartialShape images, c.WithRankAtLeast(0, 1));
        if (!images.rank_known()) return c.SetOutput(0, images);
        SLUICE_RETURN_IF_ERROR(ExpectSize(images.dim(images.rank() - 1), 3));
        images.set_dim(images.rank() - 1, 3);
        return c.SetOutput(0, images);
      });
}

absl::Status AdjustedShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape images, c.WithRankAtLeast(0, 3));
  return c.SetOutput(0, images);
}

// Declares an op that adjusts images by a scalar input with the given name.
auto AdjustsBy(std::string scalar) {
  return [scalar = std::move(scalar)](OpDefBuilder& op) {
    op.Input("images", "T")
        .Input(scalar, DT_FLOAT)
        .Output("output", "T")
        .Attr("T", TypeAttr(TypeSet{DT_HALF, DT_FLOAT}, DT_FLOAT))
        .Shape(AdjustedShape);
  };
}

#ifndef SLUICE_DEFINITIONS_ONLY
// One channel of RGBToHSV's input, and masks, which are 1 in pixels for which a condition holds and
// 0 in others.
struct Channel {
  Output value;
  Output is_max, is_min;  // it is the greatest, or the least, channel of the pixel
  Output is_positive;
};

Output Mask(Output condition, DataType type) { return Cast(condition, type); }

// Returns 1 / x, or 0 if x is 0.
Output SafeReciprocal(Output x) { return DivNoNan(OnesLike(x), x); }

// Returns the derivative of the hue, as a fraction of the whole circle, with respect to channel c.
// `next` and `previous` are the neighbours of c in the circle red, green, blue. Each of the five
// terms is the derivative of a quotient for one choice of the greatest and the least channel.
Output HueGradient(const Channel& c, const Channel& next, const Channel& previous,
                   Output saturation, Output value) {
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

// Returns the derivative of the saturation with respect to channel c.
Output SaturationGradient(const Channel& c, const Channel& next, const Channel& previous) {
  Output least = next.is_min * next.value + previous.is_min * previous.value;
  Output greatest = next.is_max * next.value + previous.is_max * previous.value;
  return c.is_positive *
         (c.is_max * least * SafeReciprocal(Square(c.value)) - c.is_min * SafeReciprocal(greatest));
}

// If channels are equal, the first of red, green and blue counts as the greatest, and the last as
// the least.
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
  OutputList gradients;
  for (int i = 0; i < 3; ++i) {
    const Channel &c = channels[i], &next = channels[(i + 1) % 3],
                  &previous = channels[(i + 2) % 3];
    gradients.push_back(grads[2] * c.is_max + grads[1] * SaturationGradient(c, next, previous) +
                        grads[0] * HueGradient(c, next, previous, parts[1], parts[2]));
  }
  b.Into("images", Pack(gradients, {.axis = -1}));
}
#endif

OP(AdjustContrast,
   "Returns (x - mean) * contrast_factor + mean, clamped to min_value and max_value. The mean is "
   "that of one channel of an image.")
    .Input("images", "T")
    .With(Inputs({"contrast_factor", "min_value", "max_value"}, DT_FLOAT))
    .Output("output", DT_FLOAT)
    .Attr("T", TypeAttr(SignedIntTypes() | TypeSet{DT_UINT8, DT_FLOAT, DT_DOUBLE}))
    .Deprecated(2, "Use AdjustContrastv2 instead")
    .Shape([](ShapeContext& c) -> absl::Status {
      for (int i : {1, 2, 3}) SLUICE_RETURN_IF_ERROR(c.WithRank(i, 0).status());
      return AdjustedShape(c);
    });

OP(AdjustContrastv2,
   "Returns (x - mean) * contrast_factor + mean. The mean is that of one channel of an image.")
    .With(AdjustsBy("contrast_factor"))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
      return AdjustedShape(c);
    });

OP(AdjustHue, "Rotates the hue of the colours by `delta`, a fraction of the whole circle.")
    .With(AdjustsBy("delta"));

OP(AdjustSaturation,
   "Multiplies the saturation of the colours by `scale`, and clamps it to 0 and 1.")
    .With(AdjustsBy("scale"));

OP(HSVToRGB, "Converts hue, saturation and value to red, green and blue, all between 0 and 1.")
    .With(ConvertsColors)
    .NotDifferentiable();

OP(RGBToHSV, "Converts red, green and blue to hue, saturation and value, all between 0 and 1.")
    .With(ConvertsColors) GRADIENT(GradientOfRgbToHsv);

}  // namespace
}  // namespace sluice
