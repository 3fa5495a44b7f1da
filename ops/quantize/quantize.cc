// Ops that represent the numbers of a range by integers of few bits, and ops that round each number
// to one that such an integer represents.
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/gradient_nodes.h"
#endif

namespace sluice {
namespace {

// Sets the shape of output 0 to that of `input`. The ranges in input `first_range` and the next
// input are scalars, or vectors along the attribute `axis`. Returns their shape.
absl::StatusOr<PartialShape> AlongAxis(ShapeContext& c, int input, int first_range) {
  const int64_t axis = c.attr<int64_t>("axis");
  SLUICE_INVALID_IF(axis < -1, "axis should be at least -1, got ", axis);
  SLUICE_INVALID_IF(axis >= TensorShape::kMaxRank, "axis should be less than ",
                    TensorShape::kMaxRank, ", got ", axis);
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

// Sets the shape of output 0 to that of input first - 1. min and max, which are inputs `first` and
// the next one, have one element per index of its last dimension. Returns their shape.
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
// Passes the gradient unchanged, as if there were no rounding.
void StraightThrough(Backprop& b) { b.Into("input", b.Of("output")); }

// Returns a gradient function that adds gradient op `op`, which takes the incoming gradient and all
// inputs, and returns a gradient for each input.
GradientFunction RangeGradient(const char* op) {
  return [op](Backprop& b) {
    const OutputList gradients = SiblingOutputs(b, op, {b.Of(0), b.In(0), b.In(1), b.In(2)});
    for (int i = 0; i < 3; ++i) b.Into(i, gradients[static_cast<size_t>(i)]);
  };
}
#endif

// These functions declare arguments and attributes that several ops share.
void QuantizedRange(OpDefBuilder& b) {
  b.Input("min_range", DT_FLOAT).Input("max_range", DT_FLOAT);
}
void QuantizeMode(OpDefBuilder& b) {
  b.Attr("mode", OneOf({"MIN_COMBINED", "MIN_FIRST", "SCALED"}, "MIN_COMBINED"));
}
void FixedRange(OpDefBuilder& b) { b.Attr("min", FloatAttr(-6.0f)).Attr("max", FloatAttr(6.0f)); }
void FakeQuantAttrs(OpDefBuilder& b) {
  b.Attr("num_bits", IntAttr(8)).Attr("narrow_range", BoolAttr(false));
}
void FakeQuantVars(OpDefBuilder& b) {
  b.Input("inputs", DT_FLOAT).Input("min", DT_FLOAT).Input("max", DT_FLOAT);
}
void FakeQuantVarsGradient(OpDefBuilder& b) {
  b.Input("gradients", DT_FLOAT).With(FakeQuantVars);
  b.Output("backprops_wrt_input", DT_FLOAT)
      .Output("backprop_wrt_min", DT_FLOAT)
      .Output("backprop_wrt_max", DT_FLOAT)
      .With(FakeQuantAttrs)
      .NotDifferentiable();
}
void EmulatedRange(OpDefBuilder& b) {
  b.Input("input", "T").Input("input_min", "T").Input("input_max", "T");
}
void EmulateAttrs(OpDefBuilder& b) {
  b.Attr("signed_input", BoolAttr(true))
      .Attr("num_bits", IntAttr(8))
      .Attr("range_given", BoolAttr(false))
      .Attr("T", TypeAttr(FloatTypes()))
      .Attr("round_mode", OneOf({"HALF_TO_EVEN", "HALF_UP"}, "HALF_TO_EVEN"))
      .Attr("narrow_range", BoolAttr(false))
      .Attr("axis", IntAttr(-1));
}

OP(Dequantize,
   "Converts quantised numbers to the numbers that they represent. MIN_COMBINED: the whole range "
   "of T covers [min_range, max_range]. MIN_FIRST: the same, and 0 is exact. SCALED: only a scale. "
   "If axis is not -1, each element along it has a range of its own.")
    .Input("input", "T")
    .With(QuantizedRange)
    .Output("output", "dtype")
    .Attr("T", TypeAttr(QuantizedTypes()))
    .With(QuantizeMode)
    .Attr("narrow_range", BoolAttr(false))
    .Attr("axis", IntAttr(-1))
    .Attr("dtype", TypeAttr(TypeSet{DT_BFLOAT16, DT_FLOAT}, DT_FLOAT))
    .Shape(QuantizedShape);

OP(FakeQuantWithMinMaxArgs,
   "Rounds numbers to those that num_bits bits can represent within [min, max]. The range is first "
   "shifted so that it contains 0 exactly.")
    .Input("inputs", DT_FLOAT)
    .Output("outputs", DT_FLOAT)
    .With(FixedRange)
    .With(FakeQuantAttrs)
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) {
      b.Into("inputs",
             Sibling(b, "FakeQuantWithMinMaxArgsGradient", {b.Of("outputs"), b.Value("inputs")}));
    });

OP(FakeQuantWithMinMaxArgsGradient,
   "Computes the gradient of FakeQuantWithMinMaxArgs: the incoming gradient if the input is in the "
   "range, else 0.")
    .Input("gradients", DT_FLOAT)
    .Input("inputs", DT_FLOAT)
    .Output("backprops", DT_FLOAT)
    .With(FixedRange)
    .With(FakeQuantAttrs)
    .NotDifferentiable()
    .Shape(SameAsInput(0));

OP(FakeQuantWithMinMaxVars, "FakeQuantWithMinMaxArgs with the range as tensors.")
    .With(FakeQuantVars)
    .Output("outputs", DT_FLOAT)
    .With(FakeQuantAttrs)
    .Shape(FakeShape) GRADIENT(RangeGradient("FakeQuantWithMinMaxVarsGradient"));

OP(FakeQuantWithMinMaxVarsGradient,
   "Computes the gradient of FakeQuantWithMinMaxVars with respect to the input and the ends of the "
   "range. The gradients of elements outside the range go to the ends.")
    .With(FakeQuantVarsGradient)
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape in, c.input(0).MergeWith(c.input(1)));
      for (int i : {2, 3}) SLUICE_RETURN_IF_ERROR(c.WithRank(i, 0).status());
      c.SetOutput(0, in).IgnoreError();
      c.SetOutput(1, PartialShape::Scalar()).IgnoreError();
      return c.SetOutput(2, PartialShape::Scalar());
    });

OP(FakeQuantWithMinMaxVarsPerChannel,
   "FakeQuantWithMinMaxVars with a range for each element of the last dimension.")
    .With(FakeQuantVars)
    .Output("outputs", DT_FLOAT)
    .With(FakeQuantAttrs)
    .Shape([](ShapeContext& c) { return LastDimension(c, 1).status(); })
        GRADIENT(RangeGradient("FakeQuantWithMinMaxVarsPerChannelGradient"));

OP(FakeQuantWithMinMaxVarsPerChannelGradient,
   "Computes the gradient of FakeQuantWithMinMaxVarsPerChannel.")
    .With(FakeQuantVarsGradient)
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
   "Rounds numbers to multiples of a scale that integers of num_bits bits represent. There is one "
   "scale, or one for each element along axis. The range is given, or computed from the input.")
    .With(EmulatedRange)
    .Output("output", "T")
    .With(EmulateAttrs)
    .Shape(QuantizedShape) GRADIENT(StraightThrough);

OP(QuantizeAndDequantizeV3, "QuantizeAndDequantizeV2 with num_bits as a tensor.")
    .With(EmulatedRange)
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

OP(QuantizeAndDequantizeV4,
   "QuantizeAndDequantizeV2, whose gradient is 0 for elements outside the range.")
    .With(EmulatedRange)
    .Output("output", "T")
    .With(EmulateAttrs)
    .Shape(QuantizedShape) GRADIENT(RangeGradient("QuantizeAndDequantizeV4Grad"));

OP(QuantizeAndDequantizeV4Grad,
   "Computes the gradient of QuantizeAndDequantizeV4. The gradients with respect to the range are "
   "0.")
    .Input("gradients", "T")
    .With(EmulatedRange)
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
      // The op is linear in the gradients, and its input only selects elements.
      b.Into("gradients", SiblingOutputs(b, "QuantizeAndDequantizeV4Grad",
                                         {b.Of("input_backprop"), b.Value("input"),
                                          b.Value("input_min"), b.Value("input_max")})[0]);
    });

OP(QuantizeV2,
   "Quantises numbers to integers of T within [min_range, max_range]. Also returns the range that "
   "the integers represent. See Dequantize for the modes.")
    .Input("input", DT_FLOAT)
    .With(QuantizedRange)
    .Output("output", "T")
    .Output("output_min", DT_FLOAT)
    .Output("output_max", DT_FLOAT)
    .Attr("T", TypeAttr(QuantizedTypes()))
    .With(QuantizeMode)
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
