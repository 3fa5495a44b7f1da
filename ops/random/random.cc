// Ops for random numbers from generators that belong to nodes. Equal seeds give equal sequences,
// which continue from step to step. Seeds (0, 0) give another sequence in every program. The
// numbers equal TensorFlow's (philox.h).
#include "ops/op.h"
#include "ops/random/random_mixins.h"

namespace sluice {
namespace {

// Declares an output of floating-point numbers, whose shape is the input `shape`.
void RandomNumbers(OpDefBuilder& op) {
  op.Input("shape", "T")
      .Output("output", "dtype")
      .With(SeedAttrs)
      .Attr("dtype", TypeAttr(FloatTypes()))
      .Attr("T", TypeAttr(IndexTypes()))
      .NotDifferentiable()
      .ShapeInput(0)
      .Shape(ShapeFromInput(0));
}

absl::Status UniformIntShape(ShapeContext& c) {
  for (int i : {1, 2}) {
    SLUICE_INVALID_IF(c.input(i).rank_known() && c.input(i).rank() != 0,
                      i == 1 ? "minval" : "maxval", " must be a scalar; got a tensor of shape ",
                      c.input(i).ToString());
  }
  return ShapeFromInput(0)(c);
}

OP(Multinomial,
   "Draws `num_samples` class numbers per row, with replacement: class j of row i with probability "
   "softmax(logits[i])[j]. Shapes: logits [batch, classes], output [batch, num_samples].")
    .Input("logits", "T")
    .Input("num_samples", DT_INT32)
    .Output("output", "output_dtype")
    .With(SeedAttrs)
    .Attr("T", TypeAttr(RealTypes()))
    .Attr("output_dtype", TypeAttr(IndexTypes(), DT_INT64))
    .NotDifferentiable()
    .Shape(ClassSamplesShape);

OP(RandomShuffle, "Shuffles the rows of `value` (along dimension 0).")
    .Input("value", "T")
    .Output("output", "T")
    .With(SeedAttrs)
    .Attr("T", TypeAttr())
    .NotDifferentiable()
    .Shape(SameAsInput(0));

OP(RandomStandardNormal, "Draws normal numbers with mean 0 and standard deviation 1.")
    .With(RandomNumbers);

OP(RandomUniform, "Draws numbers uniformly from [0, 1).").With(RandomNumbers);

OP(RandomUniformInt,
   "Draws integers uniformly from [minval, maxval). If the size of the range is no power of two, "
   "small integers are slightly more frequent.")
    .Input("shape", "T")
    .Input("minval", "Tout")
    .Input("maxval", "Tout")
    .Output("output", "Tout")
    .With(SeedAttrs)
    .Attr("Tout", TypeAttr(IndexTypes()))
    .Attr("T", TypeAttr(IndexTypes()))
    .Shape(UniformIntShape);

OP(TruncatedNormal,
   "Draws normal numbers with mean 0 and standard deviation 1. Numbers of magnitude 2 and more are "
   "drawn again.")
    .With(RandomNumbers);

}  // namespace
}  // namespace sluice
