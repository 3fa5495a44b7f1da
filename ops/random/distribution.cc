// Ops for random numbers of distributions with parameters, and for random crops of images.
#include "ops/op.h"
#include "ops/random/random_mixins.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/random/distribution_builders.h"
#endif

namespace sluice {
namespace {

absl::Status SamplesShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape shape, c.InputAsShape(0));
  return c.SetOutput(0, shape.Concatenate(c.input(1)));
}

OP(NonDeterministicInts, "Draws integers with random bits from the system, different in every run.")
    .Input("shape", "shape_dtype")
    .Output("output", "dtype")
    .Attr("dtype", TypeAttr(TypeSet(), DT_INT64))
    .Attr("shape_dtype", TypeAttr(TypeSet(), DT_INT64))
    .Stateful()
    .Shape(ShapeFromInput(0));

OP(ParameterizedTruncatedNormal,
   "Draws normal numbers with a mean, a deviation and bounds. Parameters are scalars, or vectors "
   "with one element per row (dimension 0) of the output. One of the bounds may be infinite.")
    .Input("shape", "T")
    .Input("means", "dtype")
    .Input("stdevs", "dtype")
    .Input("minvals", "dtype")
    .Input("maxvals", "dtype")
    .Output("output", "dtype")
    .With(SeedAttrs)
    .Attr("dtype", TypeAttr(FloatTypes()))
    .Attr("T", TypeAttr(IndexTypes()))
    .NotDifferentiable()
    .Shape([](ShapeContext& c) -> absl::Status {
      for (int i = 1; i <= 4; ++i) SLUICE_RETURN_IF_ERROR(c.WithRankAtMost(i, 1).status());
      return ShapeFromInput(0)(c);
    });

OP(RandomCrop,
   "Crops an image [height, width, channels] to `size` (height and width) at a random position.")
    .Input("image", "T")
    .Input("size", DT_INT64)
    .Output("output", "T")
    .Attr("T",
          TypeAttr(TypeSet{DT_UINT8, DT_INT8, DT_INT16, DT_INT32, DT_INT64, DT_FLOAT, DT_DOUBLE}))
    .With(SeedAttrs)
    .Deprecated(8, "Random crop is now pure Python")
    .NotDifferentiable()
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape image, c.WithRank(0, 3));
      std::optional<std::vector<int64_t>> size = c.InputInts(1);
      const bool known = size && size->size() == 2;
      return c.SetOutput(0, {known ? (*size)[0] : -1, known ? (*size)[1] : -1, image.dim(2)});
    });

OP(RandomGamma,
   "Draws `shape` numbers of the gamma distribution with shape alpha and rate 1 for each alpha. "
   "The output's shape is `shape`, then that of alpha.")
    .Input("shape", "S")
    .Input("alpha", "T")
    .Output("output", "T")
    .With(SeedAttrs)
    .Attr("S", TypeAttr(IndexTypes()))
    .Attr("T", TypeAttr(TypeSet{DT_HALF, DT_FLOAT, DT_DOUBLE}))
    .Shape(SamplesShape) GRADIENT([](Backprop& b) {
      // The sample is differentiated implicitly. Reference: Figurnov, Mohamed and Mnih (2018).
      Output grad = b.Of("output");
      ControlDependencies after(b.graph(), {grad});
      Output shape = b.Value("shape"), alpha = b.Value("alpha");
      Output dims = PartOf(ShapeNode(shape), 0, 1);
      Output ones = Fill(dims, IndexScalar(b.graph(), 1));
      Output spread = Reshape(alpha, Concat({ones, ShapeNode(alpha)}, 0));
      Output partial = RandomGammaGrad(spread, b.Value("output"));
      Output axes = Range(IndexScalar(b.graph(), 0), Reshape(dims, std::vector<int64_t>{}),
                          IndexScalar(b.graph(), 1));
      b.Into("alpha", Sum(grad * partial, axes));
    });

OP(RandomGammaGrad, "Computes the derivative of a sample of RandomGamma with respect to alpha.")
    .With(BinaryElementwise{{DT_FLOAT, DT_DOUBLE}, "alpha", "sample", "output"});

OP(RandomPoisson, "An older form of RandomPoissonV2.")
    .Input("shape", "S")
    .Input("rate", "dtype")
    .Output("output", "dtype")
    .With(SeedAttrs)
    .Attr("S", TypeAttr(IndexTypes()))
    .Attr("dtype", TypeAttr(TypeSet{DT_HALF, DT_FLOAT, DT_DOUBLE}))
    .Deprecated(25, "Replaced by RandomPoissonV2")
    .Shape(SamplesShape);

OP(RandomPoissonV2,
   "Draws `shape` numbers of the Poisson distribution for each rate. The output's shape is "
   "`shape`, then that of rate.")
    .Input("shape", "S")
    .Input("rate", "R")
    .Output("output", "dtype")
    .With(SeedAttrs)
    .Attr("S", TypeAttr(IndexTypes()))
    .Attr("R", TypeAttr(kCountTypes, DT_DOUBLE))
    .Attr("dtype", TypeAttr(kCountTypes, DT_INT64))
    .Shape(SamplesShape);

}  // namespace
}  // namespace sluice
