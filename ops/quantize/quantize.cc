// Numbers as integers of few bits within a range: quantised, and rounded as if they were.
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/quantize/quantize_builders.h"
#endif

namespace sluice {
namespace {

// The inputs' shape for output 0; ranges are scalars, or vectors along `axis`. Gives the ranges'
// shape.
absl::StatusOr<PartialShape> AlongAxis(ShapeContext& c, int input, int first_range) {
  const int64_t axis = c.attr<int64_t>("axis");
  if (axis < -1) return InvalidArgument("axis should be at least -1, got ", axis);
  if (axis >= TensorShape::kMaxRank) {
    return InvalidArgument("axis should be less than ", TensorShape::kMaxRank, ", got ", axis);
  }
  const int rank = axis == -1 ? 0 : 1;
  PartialShape range = axis == -1 ? PartialShape::Scalar() : PartialShape::UnknownOfRank(1);
  for (int i : {first_range, first_range + 1}) {
    SLUICE_ASSIGN_OR_RETURN(PartialShape own, c.WithRank(i, rank));
    SLUICE_ASSIGN_OR_RETURN(range, range.MergeWith(own));
  }
  PartialShape in = c.input(input);
  if (axis != -1) {
    SLUICE_ASSIGN_OR_RETURN(in, c.WithRankAtLeast(input, static_cast<int>(axis) + 1));
    if (in.rank_known()) {
      SLUICE_ASSIGN_OR_RETURN(const int64_t size,
                              MergeDim(in.dim(static_cast<int>(axis)), range.dim(0)));
      range.set_dim(0, size);
    }
  }
  c.SetOutput(0, in).IgnoreError();
  return range;
}

absl::Status QuantizedShape(ShapeContext& c) { return AlongAxis(c, 0, 1).status(); }

absl::Status FakeShape(ShapeContext& c) {
  for (int i : {1, 2}) SLUICE_RETURN_IF_ERROR(c.WithRank(i, 0).status());
  return c.SetOutput(0, c.input(0));
}

// `first`: the number of inputs before min and max.
absl::StatusOr<PartialShape> LastDimension(ShapeContext& c, int first) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape in, c.WithRankAtLeast(first - 1, 1));
  SLUICE_ASSIGN_OR_RETURN(PartialShape min, c.WithRank(first, 1));
  SLUICE_ASSIGN_OR_RETURN(PartialShape max, c.WithRank(first + 1, 1));
  SLUICE_ASSIGN_OR_RETURN(min, min.MergeWith(max));
  if (!in.rank_known()) return min;
  SLUICE_ASSIGN_OR_RETURN(const int64_t channels, MergeDim(in.dim(in.rank() - 1), min.dim(0)));
  in.set_dim(in.rank() - 1, channels);
  min.set_dim(0, channels);
  c.SetOutput(0, in).IgnoreError();
  return min;
}

#ifndef SLUICE_DEFINITIONS_ONLY
// Rounding is passed over.
void StraightThrough(Backprop& b) { b.Into("input", b.Of("output")); }
#endif

OP(Dequantize,
   "The numbers that quantised ones stand for. MIN_COMBINED: the whole range of T covers "
   "[min_range, max_range]; MIN_FIRST: the same, and 0 is exact; SCALED: a scale alone. A range "
   "for each element along `axis`, if that is not -1.")
    .Input("input", "T")
    .Input("min_range", DT_FLOAT)
    .Input("max_range", DT_FLOAT)
    .Output("output", "dtype")
    .Attr("T", TypeAttr(QuantizedTypes()))
    .Attr("mode", OneOf({"MIN_COMBINED", "MIN_FIRST", "SCALED"}, "MIN_COMBINED"))
    .Attr("narrow_range", BoolAttr(false))
    .Attr("axis", IntAttr(-1))
    .Attr("dtype", TypeAttr(TypeSet{DT_BFLOAT16, DT_FLOAT}, DT_FLOAT))
    .Shape(QuantizedShape);

OP(FakeQuantWithMinMaxArgs,
   "Numbers rounded to those that num_bits bits can stand for within [min, max], which is moved a "
   "little so that 0 is one of them.")
    .Input("inputs", DT_FLOAT)
    .Output("outputs", DT_FLOAT)
    .Attr("min", FloatAttr(-6.0f))
    .Attr("max", FloatAttr(6.0f))
    .Attr("num_bits", IntAttr(8))
    .Attr("narrow_range", BoolAttr(false))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) {
      b.Into("inputs",
             FakeQuantWithMinMaxArgsGradient(b.Of("outputs"), b.Value("inputs"),
                                             {.min = b.attr<float>("min"),
                                              .max = b.attr<float>("max"),
                                              .num_bits = b.attr<int64_t>("num_bits"),
                                              .narrow_range = b.attr<bool>("narrow_range")}));
    });

OP(FakeQuantWithMinMaxArgsGradient,
   "Gradient of FakeQuantWithMinMaxArgs: what came in, where the input lies in the range.")
    .Input("gradients", DT_FLOAT)
    .Input("inputs", DT_FLOAT)
    .Output("backprops", DT_FLOAT)
    .Attr("min", FloatAttr(-6.0f))
    .Attr("max", FloatAttr(6.0f))
    .Attr("num_bits", IntAttr(8))
    .Attr("narrow_range", BoolAttr(false))
    .NotDifferentiable()
    .Shape(SameAsInput(0));

OP(FakeQuantWithMinMaxVars, "FakeQuantWithMinMaxArgs with the range as tensors.")
    .Input("inputs", DT_FLOAT)
    .Input("min", DT_FLOAT)
    .Input("max", DT_FLOAT)
    .Output("outputs", DT_FLOAT)
    .Attr("num_bits", IntAttr(8))
    .Attr("narrow_range", BoolAttr(false))
    .Shape(FakeShape) GRADIENT([](Backprop& b) {
      auto g = FakeQuantWithMinMaxVarsGradient(
          b.Of("outputs"), b.Value("inputs"), b.Value("min"), b.Value("max"),
          {.num_bits = b.attr<int64_t>("num_bits"), .narrow_range = b.attr<bool>("narrow_range")});
      b.Into("inputs", g.backprops_wrt_input);
      b.Into("min", g.backprop_wrt_min);
      b.Into("max", g.backprop_wrt_max);
    });

OP(FakeQuantWithMinMaxVarsGradient,
   "Gradient of FakeQuantWithMinMaxVars: by the input, and by the ends of the range, which take "
   "what lies beyond them.")
    .Input("gradients", DT_FLOAT)
    .Input("inputs", DT_FLOAT)
    .Input("min", DT_FLOAT)
    .Input("max", DT_FLOAT)
    .Output("backprops_wrt_input", DT_FLOAT)
    .Output("backprop_wrt_min", DT_FLOAT)
    .Output("backprop_wrt_max", DT_FLOAT)
    .Attr("num_bits", IntAttr(8))
    .Attr("narrow_range", BoolAttr(false))
    .NotDifferentiable()
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape in, c.input(0).MergeWith(c.input(1)));
      for (int i : {2, 3}) SLUICE_RETURN_IF_ERROR(c.WithRank(i, 0).status());
      c.SetOutput(0, in).IgnoreError();
      c.SetOutput(1, PartialShape::Scalar()).IgnoreError();
      return c.SetOutput(2, PartialShape::Scalar());
    });

OP(FakeQuantWithMinMaxVarsPerChannel,
   "FakeQuantWithMinMaxVars with a range for each element of the last dimension.")
    .Input("inputs", DT_FLOAT)
    .Input("min", DT_FLOAT)
    .Input("max", DT_FLOAT)
    .Output("outputs", DT_FLOAT)
    .Attr("num_bits", IntAttr(8))
    .Attr("narrow_range", BoolAttr(false))
    .Shape([](ShapeContext& c) { return LastDimension(c, 1).status(); }) GRADIENT([](Backprop& b) {
      auto g = FakeQuantWithMinMaxVarsPerChannelGradient(
          b.Of("outputs"), b.Value("inputs"), b.Value("min"), b.Value("max"),
          {.num_bits = b.attr<int64_t>("num_bits"), .narrow_range = b.attr<bool>("narrow_range")});
      b.Into("inputs", g.backprops_wrt_input);
      b.Into("min", g.backprop_wrt_min);
      b.Into("max", g.backprop_wrt_max);
    });

OP(FakeQuantWithMinMaxVarsPerChannelGradient, "Gradient of FakeQuantWithMinMaxVarsPerChannel.")
    .Input("gradients", DT_FLOAT)
    .Input("inputs", DT_FLOAT)
    .Input("min", DT_FLOAT)
    .Input("max", DT_FLOAT)
    .Output("backprops_wrt_input", DT_FLOAT)
    .Output("backprop_wrt_min", DT_FLOAT)
    .Output("backprop_wrt_max", DT_FLOAT)
    .Attr("num_bits", IntAttr(8))
    .Attr("narrow_range", BoolAttr(false))
    .NotDifferentiable()
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(c.input(0).MergeWith(c.input(1)).status());
      SLUICE_ASSIGN_OR_RETURN(PartialShape range, LastDimension(c, 2));
      c.SetOutput(1, range).IgnoreError();
      return c.SetOutput(2, range);
    });

OP(QuantizeAndDequantize, "QuantizeAndDequantizeV2 with the range in attributes.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("signed_input", BoolAttr(true))
    .Attr("num_bits", IntAttr(8))
    .Attr("range_given", BoolAttr(false))
    .Attr("input_min", FloatAttr(0.0f))
    .Attr("input_max", FloatAttr(0.0f))
    .Attr("T", TypeAttr(FloatTypes()))
    .Deprecated(22, "Replaced by QuantizeAndDequantizeV2")
    .Shape(SameAsInput(0)) GRADIENT(StraightThrough);

OP(QuantizeAndDequantizeV2,
   "Numbers rounded to those that integers of num_bits bits stand for, times one scale (or one for "
   "each element along `axis`). The range is given, or that of the input.")
    .Input("input", "T")
    .Input("input_min", "T")
    .Input("input_max", "T")
    .Output("output", "T")
    .Attr("signed_input", BoolAttr(true))
    .Attr("num_bits", IntAttr(8))
    .Attr("range_given", BoolAttr(false))
    .Attr("T", TypeAttr(FloatTypes()))
    .Attr("round_mode", OneOf({"HALF_TO_EVEN", "HALF_UP"}, "HALF_TO_EVEN"))
    .Attr("narrow_range", BoolAttr(false))
    .Attr("axis", IntAttr(-1))
    .Shape(QuantizedShape) GRADIENT(StraightThrough);

OP(QuantizeAndDequantizeV3, "QuantizeAndDequantizeV2 with num_bits as a tensor.")
    .Input("input", "T")
    .Input("input_min", "T")
    .Input("input_max", "T")
    .Input("num_bits", DT_INT32)
    .Output("output", "T")
    .Attr("signed_input", BoolAttr(true))
    .Attr("range_given", BoolAttr(true))
    .Attr("T", TypeAttr(FloatTypes()))
    .Attr("narrow_range", BoolAttr(false))
    .Attr("axis", IntAttr(-1))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(c.WithRank(3, 0).status());
      return QuantizedShape(c);
    }) GRADIENT(StraightThrough);

OP(QuantizeAndDequantizeV4, "QuantizeAndDequantizeV2; gradients pass within the range alone.")
    .Input("input", "T")
    .Input("input_min", "T")
    .Input("input_max", "T")
    .Output("output", "T")
    .Attr("signed_input", BoolAttr(true))
    .Attr("num_bits", IntAttr(8))
    .Attr("range_given", BoolAttr(false))
    .Attr("T", TypeAttr(FloatTypes()))
    .Attr("round_mode", OneOf({"HALF_TO_EVEN", "HALF_UP"}, "HALF_TO_EVEN"))
    .Attr("narrow_range", BoolAttr(false))
    .Attr("axis", IntAttr(-1))
    .Shape(QuantizedShape) GRADIENT([](Backprop& b) {
      auto g = QuantizeAndDequantizeV4Grad(b.Of("output"), b.Value("input"), b.Value("input_min"),
                                           b.Value("input_max"), {.axis = b.attr<int64_t>("axis")});
      b.Into("input", g.input_backprop);
      b.Into("input_min", g.input_min_backprop);
      b.Into("input_max", g.input_max_backprop);
    });

OP(QuantizeAndDequantizeV4Grad, "Gradient of QuantizeAndDequantizeV4; zeros by the range.")
    .Input("gradients", "T")
    .Input("input", "T")
    .Input("input_min", "T")
    .Input("input_max", "T")
    .Output("input_backprop", "T")
    .Output("input_min_backprop", "T")
    .Output("input_max_backprop", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Attr("axis", IntAttr(-1))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(c.input(0).MergeWith(c.input(1)).status());
      SLUICE_ASSIGN_OR_RETURN(PartialShape range, AlongAxis(c, 0, 2));
      c.SetOutput(1, range).IgnoreError();
      return c.SetOutput(2, range);
    }) GRADIENT([](Backprop& b) {
      // Linear in the gradients, by the same mask; the input only chooses.
      b.Into("gradients", QuantizeAndDequantizeV4Grad(b.Of("input_backprop"), b.Value("input"),
                                                      b.Value("input_min"), b.Value("input_max"),
                                                      {.axis = b.attr<int64_t>("axis")})
                              .input_backprop);
    });

OP(QuantizeV2,
   "Numbers as integers of T within [min_range, max_range], and the range that they then stand "
   "for; see Dequantize for the modes.")
    .Input("input", DT_FLOAT)
    .Input("min_range", DT_FLOAT)
    .Input("max_range", DT_FLOAT)
    .Output("output", "T")
    .Output("output_min", DT_FLOAT)
    .Output("output_max", DT_FLOAT)
    .Attr("T", TypeAttr(QuantizedTypes()))
    .Attr("mode", OneOf({"MIN_COMBINED", "MIN_FIRST", "SCALED"}, "MIN_COMBINED"))
    .Attr("round_mode", OneOf({"HALF_AWAY_FROM_ZERO", "HALF_TO_EVEN"}, "HALF_AWAY_FROM_ZERO"))
    .Attr("narrow_range", BoolAttr(false))
    .Attr("axis", IntAttr(-1))
    .Attr("ensure_minimum_range", FloatAttr(0.01f))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape range, AlongAxis(c, 0, 1));
      c.SetOutput(1, range).IgnoreError();
      return c.SetOutput(2, range);
    });

}  // namespace
}  // namespace sluice
