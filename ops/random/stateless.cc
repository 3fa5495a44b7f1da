// Ops for random numbers that are functions of a seed, or of a key and a counter. Equal arguments
// give equal numbers, which equal TensorFlow's. ops/random/seeds.h describes how seeds are
// converted to keys.
#include "graph/infer/expect_size.h"
#include "ops/op.h"
#include "ops/random/random_mixins.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/math/exponential_builders.h"
#include "ops/math/power_builders.h"
#include "ops/math/rounding_builders.h"
#include "ops/random/distribution_builders.h"
#endif

namespace sluice {
namespace {

constexpr TypeSet kParameterTypes = {DT_HALF, DT_FLOAT, DT_DOUBLE};
constexpr TypeSet kBitsTypes = {DT_INT32, DT_INT64, DT_UINT32, DT_UINT64};

absl::Status CheckSeed(ShapeContext& c, int i) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape seed, c.WithRank(i, 1));
  return ExpectSize(seed.dim(0), 2);
}

absl::Status ShapeBesideSeed(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(CheckSeed(c, 1));
  return ShapeFromInput(0)(c);
}

absl::Status ShapeBesideKey(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape key, c.WithRank(1, 1));
  SLUICE_RETURN_IF_ERROR(c.WithRank(2, 1).status());
  SLUICE_RETURN_IF_ERROR(c.WithRank(3, 0).status());
  SLUICE_RETURN_IF_ERROR(ExpectSize(key.dim(0), 1));
  return ShapeFromInput(0)(c);
}

// Returns a shape function that checks that the two inputs from `first` on are scalars, and then
// calls `shape`.
ShapeFunction AndScalars(ShapeFunction shape, int first) {
  return [shape, first](ShapeContext& c) -> absl::Status {
    SLUICE_RETURN_IF_ERROR(c.WithRank(first, 0).status());
    SLUICE_RETURN_IF_ERROR(c.WithRank(first + 1, 0).status());
    return shape(c);
  };
}

void SeedType(OpDefBuilder& op) { op.Attr("Tseed", TypeAttr(IndexTypes(), DT_INT64)); }

void KeyAndCounter(OpDefBuilder& op) {
  op.Input("key", DT_UINT64).Input("counter", DT_UINT64).Input("alg", DT_INT32);
}

// Declares an op for floating-point numbers from a seed.
void NumbersOfSeed(OpDefBuilder& op) {
  op.Input("shape", "T")
      .Input("seed", "Tseed")
      .Output("output", "dtype")
      .Attr("dtype", TypeAttr(FloatTypes(), DT_FLOAT))
      .Attr("T", TypeAttr(IndexTypes(), DT_INT32))
      .With(SeedType)
      .NotDifferentiable()
      .Shape(ShapeBesideSeed);
}

// Declares an op for numbers from a key and a counter.
struct NumbersOfKey {
  TypeSet types;
  DataType default_type;
  void operator()(OpDefBuilder& op) const {
    op.Input("shape", "Tshape")
        .With(KeyAndCounter)
        .Output("output", "dtype")
        .Attr("dtype", TypeAttr(types, default_type))
        .Attr("Tshape", TypeAttr(IndexTypes(), DT_INT32))
        .NotDifferentiable()
        .Shape(ShapeBesideKey);
  }
};

#ifndef SLUICE_DEFINITIONS_ONLY
// Adds a gradient by implicit differentiation, like RandomGamma's gradient. The output's last
// dimensions are the dimensions of alpha.
void GammaGradient(Backprop& b) {
  Output grad = b.Of("output");
  ControlDependencies after(b.graph(), {grad});
  Output alpha = b.Value("alpha");
  Output samples = Sub(Reshape(PartOf(ShapeNode(b.Value("shape")), 0, 1), std::vector<int64_t>{}),
                       RankNode(alpha));
  Output one = IndexScalar(b.graph(), 1);
  Output ones = Fill(Reshape(samples, {1}), one);
  Output spread = Reshape(alpha, Concat({ones, ShapeNode(alpha)}, 0));
  Output partial = RandomGammaGrad(spread, b.Value("output"));
  b.Into("alpha", Sum(grad * partial, Range(IndexScalar(b.graph(), 0), samples, one)));
}

// Returns the cumulative distribution function of the normal distribution.
Output Ndtr(Output x) {
  Output half_root = Constant(*x.graph(), 0.5 * 1.4142135623730951, x.dtype());
  Output w = x * half_root;
  Output z = Abs(w);
  return 0.5 * Select(Less(z, half_root), 1.0 + Erf(w),
                      Select(Greater(w, ZerosLike(w)), 2.0 - Erfc(z), Erfc(z)));
}

// Returns the smallest positive normal number of a type, and the distance from 1 to the next
// number.
std::pair<double, double> TinyAndEpsilon(DataType type) {
  switch (type) {
    case DT_HALF:
      return {6.103515625e-05, 0.0009765625};
    case DT_DOUBLE:
      return {2.2250738585072014e-308, 2.220446049250313e-16};
    default:
      return {1.1754943508222875e-38, 1.1920928955078125e-07};
  }
}

// Adds the gradient of a bounded sample with respect to its parameters, by implicit
// differentiation.
void TruncatedNormalGradient(Backprop& b) {
  Output grad = b.Of("output");
  ControlDependencies after(b.graph(), {grad});
  Output mean = b.Value("means"), deviation = b.Value("stddevs");
  auto normal = [&](Output x) { return (x - mean) / deviation; };
  Output least = normal(b.Value("minvals")), greatest = normal(b.Value("maxvals"));
  Output sample = normal(b.Value("output"));
  Output cdf = (Ndtr(sample) - Ndtr(least)) / (Ndtr(greatest) - Ndtr(least));
  const auto [tiny, epsilon] = TinyAndEpsilon(mean.dtype());
  Output low = Constant(b.graph(), tiny, mean.dtype());
  Output high = Constant(b.graph(), 1 - epsilon, mean.dtype());
  cdf = Maximum(Minimum(cdf, high), low);
  Output square = Square(sample);
  const OutputList partials = {OnesLike(sample), sample,
                               Exp(0.5 * (square - Square(least)) + Log1p(-cdf)),
                               Exp(0.5 * (square - Square(greatest)) + Log(cdf))};
  for (int i = 0; i < 4; ++i) {
    Output parameter = b.In(2 + i);
    Output shape = ShapeNode(parameter);
    Output axes = BroadcastGradientArgs(ShapeNode(b.Value("output")), shape).r1;
    b.Into(2 + i, Reshape(Sum(grad * partials[i], axes), shape));
  }
}
#endif

OP(StatelessMultinomial, "Multinomial as a function of a seed.")
    .Input("logits", "T")
    .Input("num_samples", DT_INT32)
    .Input("seed", "Tseed")
    .Output("output", "output_dtype")
    .Attr("T", TypeAttr(RealTypes()))
    .With(SeedType)
    .Attr("output_dtype", TypeAttr(IndexTypes(), DT_INT64))
    .NotDifferentiable()
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(CheckSeed(c, 2));
      return ClassSamplesShape(c);
    });

OP(StatelessParameterizedTruncatedNormal,
   "Draws normal numbers with a mean, a deviation and bounds. The parameters broadcast, and the "
   "output's last dimensions are the broadcast shape.")
    .Input("shape", "S")
    .Input("seed", "Tseed")
    .Input("means", "dtype")
    .Input("stddevs", "dtype")
    .Input("minvals", "dtype")
    .Input("maxvals", "dtype")
    .Output("output", "dtype")
    .Attr("S", TypeAttr(IndexTypes()))
    .With(SeedType)
    .Attr("dtype", TypeAttr(kParameterTypes))
    .Shape(ShapeBesideSeed) GRADIENT(TruncatedNormalGradient);

OP(StatelessRandomBinomial,
   "Draws numbers of successes in `counts` trials of probability `probs`. The output's last "
   "dimensions are the shape that counts and probs broadcast to.")
    .Input("shape", "S")
    .Input("seed", "Tseed")
    .Input("counts", "T")
    .Input("probs", "T")
    .Output("output", "dtype")
    .Attr("S", TypeAttr(IndexTypes()))
    .With(SeedType)
    .Attr("T", TypeAttr(kCountTypes, DT_DOUBLE))
    .Attr("dtype", TypeAttr(kCountTypes, DT_INT64))
    .NotDifferentiable()
    .Shape(ShapeBesideSeed);

OP(StatelessRandomGammaV2,
   "Draws numbers of the gamma distribution with shape alpha and rate 1. The output's last "
   "dimensions are alpha's.")
    .Input("shape", "T")
    .Input("seed", "Tseed")
    .Input("alpha", "dtype")
    .Output("output", "dtype")
    .Attr("dtype", TypeAttr(kParameterTypes))
    .Attr("T", TypeAttr(IndexTypes()))
    .With(SeedType)
    .Shape(ShapeBesideSeed) GRADIENT(GammaGradient);

OP(StatelessRandomGammaV3, "StatelessRandomGammaV2 as a function of a key and a counter.")
    .Input("shape", "shape_dtype")
    .With(KeyAndCounter)
    .Input("alpha", "dtype")
    .Output("output", "dtype")
    .Attr("dtype", TypeAttr(kParameterTypes))
    .Attr("shape_dtype", TypeAttr(IndexTypes(), DT_INT32))
    .Shape(ShapeBesideKey) GRADIENT(GammaGradient);

OP(StatelessRandomGetAlg, "Returns the number of the algorithm that the device prefers: 1, Philox.")
    .Output("alg", DT_INT32)
    .Stateful()
    .Shape(ScalarOutput());

OP(StatelessRandomGetKeyCounter,
   "Converts a seed to the key and the counter of the stateless ops that take these.")
    .Input("seed", "Tseed")
    .Output("key", DT_UINT64)
    .Output("counter", DT_UINT64)
    .With(SeedType)
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(CheckSeed(c, 0));
      c.SetOutput(0, {1}).IgnoreError();
      return c.SetOutput(1, {2});
    });

OP(StatelessRandomGetKeyCounterAlg, "StatelessRandomGetKeyCounter and StatelessRandomGetAlg.")
    .Input("seed", "Tseed")
    .Output("key", DT_UINT64)
    .Output("counter", DT_UINT64)
    .Output("alg", DT_INT32)
    .With(SeedType)
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(CheckSeed(c, 0));
      c.SetOutput(0, {1}).IgnoreError();
      c.SetOutput(1, {2}).IgnoreError();
      return c.SetOutput(2, PartialShape::Scalar());
    });

OP(StatelessRandomNormal, "RandomStandardNormal as a function of a seed.").With(NumbersOfSeed);

OP(StatelessRandomNormalV2, "RandomStandardNormal as a function of a key and a counter.")
    .With(NumbersOfKey{FloatTypes(), DT_FLOAT});

OP(StatelessRandomPoisson,
   "Draws numbers of the Poisson distribution with mean `lam`. The output's last dimensions are "
   "lam's.")
    .Input("shape", "T")
    .Input("seed", "Tseed")
    .Input("lam", "Rtype")
    .Output("output", "dtype")
    .Attr("Rtype", TypeAttr(kCountTypes))
    .Attr("dtype", TypeAttr(kCountTypes))
    .Attr("T", TypeAttr(IndexTypes()))
    .With(SeedType)
    .NotDifferentiable()
    .Shape(ShapeBesideSeed);

OP(StatelessRandomUniform, "RandomUniform as a function of a seed.").With(NumbersOfSeed);

OP(StatelessRandomUniformFullInt, "Draws integers with random bits as a function of a seed.")
    .Input("shape", "T")
    .Input("seed", "Tseed")
    .Output("output", "dtype")
    .Attr("dtype", TypeAttr(kBitsTypes, DT_UINT64))
    .Attr("T", TypeAttr(IndexTypes(), DT_INT32))
    .Attr("Tseed", TypeAttr(kBitsTypes, DT_INT64))
    .NotDifferentiable()
    .Shape(ShapeBesideSeed);

OP(StatelessRandomUniformFullIntV2,
   "Draws integers with random bits as a function of a key and a counter.")
    .With(NumbersOfKey{kBitsTypes, DT_UINT64});

OP(StatelessRandomUniformInt, "RandomUniformInt as a function of a seed.")
    .Input("shape", "T")
    .Input("seed", "Tseed")
    .Input("minval", "dtype")
    .Input("maxval", "dtype")
    .Output("output", "dtype")
    .Attr("dtype", TypeAttr(IndexTypes()))
    .Attr("T", TypeAttr(IndexTypes()))
    .With(SeedType)
    .NotDifferentiable()
    .Shape(AndScalars(ShapeBesideSeed, 2));

OP(StatelessRandomUniformIntV2, "RandomUniformInt as a function of a key and a counter.")
    .Input("shape", "Tshape")
    .With(KeyAndCounter)
    .Input("minval", "dtype")
    .Input("maxval", "dtype")
    .Output("output", "dtype")
    .Attr("dtype", TypeAttr(kBitsTypes))
    .Attr("Tshape", TypeAttr(IndexTypes(), DT_INT32))
    .NotDifferentiable()
    .Shape(AndScalars(ShapeBesideKey, 4));

OP(StatelessRandomUniformV2, "RandomUniform as a function of a key and a counter.")
    .With(NumbersOfKey{FloatTypes(), DT_FLOAT});

OP(StatelessShuffle, "RandomShuffle as a function of a key and a counter.")
    .Input("value", "T")
    .With(KeyAndCounter)
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Shape(SameAsInput(0));

OP(StatelessTruncatedNormal, "TruncatedNormal as a function of a seed.").With(NumbersOfSeed);

OP(StatelessTruncatedNormalV2, "TruncatedNormal as a function of a key and a counter.")
    .With(NumbersOfKey{FloatTypes(), DT_FLOAT});

}  // namespace
}  // namespace sluice
