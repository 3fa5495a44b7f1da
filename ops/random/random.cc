// Random numbers. An op keeps a generator of its own: equal seeds give equal sequences, step after
// step; seeds (0, 0) give different ones in every program. The numbers are TensorFlow's (philox.h).
#include "ops/op.h"

namespace sluice {
namespace {

absl::Status ShapeOfInput(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape shape, c.InputAsShape(0));
  return c.SetOutput(0, shape);
}

absl::Status ShapeAndScalars(ShapeContext& c) {
  for (int i : {1, 2}) {
    if (c.input(i).rank_known() && c.input(i).rank() != 0) {
      return InvalidArgument(i == 1 ? "minval" : "maxval",
                             " must be a scalar; got a tensor of shape ", c.input(i).ToString());
    }
  }
  return ShapeOfInput(c);
}

OP(Multinomial,
   "Draws `num_samples` class numbers a row, with replacement: class j of row i with probability "
   "softmax(logits[i])[j]. Shapes: logits [batch, classes], output [batch, num_samples].")
    .Input("logits", "T")
    .Input("num_samples", DT_INT32)
    .Output("output", "output_dtype")
    .Attr("seed", IntAttr(0))
    .Attr("seed2", IntAttr(0))
    .Attr("T", TypeAttr(RealTypes()))
    .Attr("output_dtype", TypeAttr(IndexTypes(), DT_INT64))
    .Stateful()
    .NotDifferentiable()
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape logits, c.WithRank(0, 2));
      SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
      std::optional<Tensor> samples = c.InputValue(1);
      const int64_t n = samples ? samples->scalar<int32_t>() : PartialShape::kUnknown;
      if (samples && n < 0) {
        return InvalidArgument(
            "Dimension size, given by scalar input 1, must be non-negative but is ", n);
      }
      return c.SetOutput(0, {logits.dim(0), n});
    });

OP(RandomShuffle, "The rows of `value` (along dimension 0) in random order.")
    .Input("value", "T")
    .Output("output", "T")
    .Attr("seed", IntAttr(0))
    .Attr("seed2", IntAttr(0))
    .Attr("T", TypeAttr())
    .Stateful()
    .NotDifferentiable()
    .Shape(SameAsInput(0));

OP(RandomStandardNormal, "Normal numbers with mean 0 and standard deviation 1, of shape `shape`.")
    .Input("shape", "T")
    .Output("output", "dtype")
    .Attr("seed", IntAttr(0))
    .Attr("seed2", IntAttr(0))
    .Attr("dtype", TypeAttr(FloatTypes()))
    .Attr("T", TypeAttr(IndexTypes()))
    .Stateful()
    .NotDifferentiable()
    .Shape(ShapeOfInput);

OP(RandomUniform, "Numbers uniform in [0, 1), of shape `shape`.")
    .Input("shape", "T")
    .Output("output", "dtype")
    .Attr("seed", IntAttr(0))
    .Attr("seed2", IntAttr(0))
    .Attr("dtype", TypeAttr(FloatTypes()))
    .Attr("T", TypeAttr(IndexTypes()))
    .Stateful()
    .NotDifferentiable()
    .Shape(ShapeOfInput);

OP(RandomUniformInt,
   "Integers uniform in [minval, maxval), of shape `shape`. Where the range is no power of two, "
   "small ones come very slightly more often.")
    .Input("shape", "T")
    .Input("minval", "Tout")
    .Input("maxval", "Tout")
    .Output("output", "Tout")
    .Attr("seed", IntAttr(0))
    .Attr("seed2", IntAttr(0))
    .Attr("Tout", TypeAttr(IndexTypes()))
    .Attr("T", TypeAttr(IndexTypes()))
    .Stateful()
    .Shape(ShapeAndScalars);

OP(TruncatedNormal,
   "Normal numbers with mean 0 and standard deviation 1 whose magnitude is below 2, of shape "
   "`shape`: others are drawn again.")
    .Input("shape", "T")
    .Output("output", "dtype")
    .Attr("seed", IntAttr(0))
    .Attr("seed2", IntAttr(0))
    .Attr("dtype", TypeAttr(FloatTypes()))
    .Attr("T", TypeAttr(IndexTypes()))
    .Stateful()
    .NotDifferentiable()
    .Shape(ShapeOfInput);

}  // namespace
}  // namespace sluice
