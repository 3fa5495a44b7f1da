// Random numbers of distributions with parameters, and pieces of images at random places.
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/random/distribution_builders.h"
#include "ops/shape_nodes.h"
#endif

namespace sluice {
namespace {

absl::Status SamplesOfEach(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape shape, c.InputAsShape(0));
  return c.SetOutput(0, shape.Concatenate(c.input(1)));
}

OP(NonDeterministicInts, "Integers of all bits from the system, different in every run.")
    .Input("shape", "shape_dtype")
    .Output("output", "dtype")
    .Attr("dtype", TypeAttr(TypeSet(), DT_INT64))
    .Attr("shape_dtype", TypeAttr(TypeSet(), DT_INT64))
    .Stateful()
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape shape, c.InputAsShape(0));
      return c.SetOutput(0, shape);
    });

OP(ParameterizedTruncatedNormal,
   "Normal numbers with mean and deviation between bounds, of shape "
   "`shape`. Parameters are scalars, or vectors with an element a row (dimension 0) of the output. "
   "One of the bounds may be infinite.")
    .Input("shape", "T")
    .Input("means", "dtype")
    .Input("stdevs", "dtype")
    .Input("minvals", "dtype")
    .Input("maxvals", "dtype")
    .Output("output", "dtype")
    .Attr("seed", IntAttr(0))
    .Attr("seed2", IntAttr(0))
    .Attr("dtype", TypeAttr(FloatTypes()))
    .Attr("T", TypeAttr(IndexTypes()))
    .Stateful()
    .NotDifferentiable()
    .Shape([](ShapeContext& c) -> absl::Status {
      for (int i = 1; i <= 4; ++i) SLUICE_RETURN_IF_ERROR(c.WithRankAtMost(i, 1).status());
      SLUICE_ASSIGN_OR_RETURN(PartialShape shape, c.InputAsShape(0));
      return c.SetOutput(0, shape);
    });

OP(RandomCrop,
   "A piece of `size` (height and width) of an image [height, width, channels], at a random place.")
    .Input("image", "T")
    .Input("size", DT_INT64)
    .Output("output", "T")
    .Attr("T",
          TypeAttr(TypeSet{DT_UINT8, DT_INT8, DT_INT16, DT_INT32, DT_INT64, DT_FLOAT, DT_DOUBLE}))
    .Attr("seed", IntAttr(0))
    .Attr("seed2", IntAttr(0))
    .Stateful()
    .Deprecated(8, "Random crop is now pure Python")
    .NotDifferentiable()
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape image, c.WithRank(0, 3));
      std::optional<std::vector<int64_t>> size = c.InputInts(1);
      const bool known = size && size->size() == 2;
      return c.SetOutput(0, {known ? (*size)[0] : -1, known ? (*size)[1] : -1, image.dim(2)});
    });

OP(RandomGamma,
   "Numbers of the gamma distribution with shape alpha and rate 1: `shape` of them for each "
   "alpha. Output shape: `shape`, then that of alpha.")
    .Input("shape", "S")
    .Input("alpha", "T")
    .Output("output", "T")
    .Attr("seed", IntAttr(0))
    .Attr("seed2", IntAttr(0))
    .Attr("S", TypeAttr(IndexTypes()))
    .Attr("T", TypeAttr(TypeSet{DT_HALF, DT_FLOAT, DT_DOUBLE}))
    .Stateful()
    .Shape(SamplesOfEach) GRADIENT([](Backprop& b) {
      // Implicit differentiation: Figurnov, Mohamed and Mnih (2018).
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

OP(RandomGammaGrad, "d sample / d alpha of a number of RandomGamma. Broadcasts.")
    .Input("alpha", "T")
    .Input("sample", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(TypeSet{DT_FLOAT, DT_DOUBLE}))
    .Shape(BroadcastBinary());

OP(RandomPoisson,
   "Numbers of the Poisson distribution: `shape` of them for each rate. An older form of "
   "RandomPoissonV2.")
    .Input("shape", "S")
    .Input("rate", "dtype")
    .Output("output", "dtype")
    .Attr("seed", IntAttr(0))
    .Attr("seed2", IntAttr(0))
    .Attr("S", TypeAttr(IndexTypes()))
    .Attr("dtype", TypeAttr(TypeSet{DT_HALF, DT_FLOAT, DT_DOUBLE}))
    .Stateful()
    .Deprecated(25, "Replaced by RandomPoissonV2")
    .Shape(SamplesOfEach);

OP(RandomPoissonV2,
   "Numbers of the Poisson distribution: `shape` of them for each rate. Output shape: "
   "`shape`, then that of rate.")
    .Input("shape", "S")
    .Input("rate", "R")
    .Output("output", "dtype")
    .Attr("seed", IntAttr(0))
    .Attr("seed2", IntAttr(0))
    .Attr("S", TypeAttr(IndexTypes()))
    .Attr("R", TypeAttr(TypeSet{DT_HALF, DT_FLOAT, DT_DOUBLE, DT_INT32, DT_INT64}, DT_DOUBLE))
    .Attr("dtype", TypeAttr(TypeSet{DT_HALF, DT_FLOAT, DT_DOUBLE, DT_INT32, DT_INT64}, DT_INT64))
    .Stateful()
    .Shape(SamplesOfEach);

}  // namespace
}  // namespace sluice
