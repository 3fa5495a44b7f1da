// Ops for random numbers from a generator whose state is a variable. The state consists of int64
// elements: the two words of the counter and the key. Each op advances the counter.
#include "ops/op.h"
#include "ops/random/random_mixins.h"

namespace sluice {
namespace {

// Checks that inputs `first` to `last` are scalars.
absl::Status CheckScalars(ShapeContext& c, int first, int last) {
  for (int i = first; i <= last; ++i) SLUICE_RETURN_IF_ERROR(c.WithRank(i, 0).status());
  return absl::OkStatus();
}

absl::Status GeneratedShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(CheckScalars(c, 1, 1));
  return ShapeFromInput(2)(c);
}

void GeneratorAndShape(OpDefBuilder& op) {
  op.Input("resource", DT_RESOURCE).Input("algorithm", DT_INT64).Input("shape", "shape_dtype");
}

struct NumberTypes {
  DataType default_type;
  void operator()(OpDefBuilder& op) const {
    op.Attr("dtype", TypeAttr(TypeSet(), default_type))
        .Attr("shape_dtype", TypeAttr(TypeSet(), DT_INT64))
        .Stateful();
  }
};

// Declares an op for numbers of a distribution without parameters.
struct GeneratedNumbers {
  DataType default_type;
  void operator()(OpDefBuilder& op) const {
    op.With(GeneratorAndShape)
        .Output("output", "dtype")
        .With(NumberTypes{default_type})
        .Shape(GeneratedShape);
  }
};

OP(RngReadAndSkip,
   "Returns the state of a generator and advances it as if `delta` numbers had been drawn.")
    .Input("resource", DT_RESOURCE)
    .Input("alg", DT_INT32)
    .Input("delta", DT_UINT64)
    .Output("value", DT_INT64)
    .Stateful()
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(CheckScalars(c, 1, 2));
      return c.SetOutput(0, {3});
    });

OP(RngSkip, "Advances a generator as if `delta` numbers had been drawn.")
    .Input("resource", DT_RESOURCE)
    .Input("algorithm", DT_INT64)
    .Input("delta", DT_INT64)
    .Stateful()
    .Shape([](ShapeContext& c) { return CheckScalars(c, 1, 2); });

OP(StatefulRandomBinomial,
   "Draws numbers of successes in `counts` trials of probability `probs`, from a generator.")
    .Input("resource", DT_RESOURCE)
    .Input("algorithm", DT_INT64)
    .Input("shape", "S")
    .Input("counts", "T")
    .Input("probs", "T")
    .Output("output", "dtype")
    .Attr("S", TypeAttr(IndexTypes()))
    .Attr("T", TypeAttr(kCountTypes, DT_DOUBLE))
    .Attr("dtype", TypeAttr(kCountTypes, DT_INT64))
    .Stateful()
    .Shape(GeneratedShape);

OP(StatefulStandardNormal,
   "Draws normal numbers from a generator whose state begins with the number of its algorithm. An "
   "older form of StatefulStandardNormalV2.")
    .Input("resource", DT_RESOURCE)
    .Input("shape", "shape_dtype")
    .Output("output", "dtype")
    .With(NumberTypes{DT_FLOAT})
    .Deprecated(29, "Use StatefulStandardNormalV2 instead")
    .Shape(ShapeFromInput(1));

OP(StatefulStandardNormalV2,
   "Draws normal numbers with mean 0 and standard deviation 1 from a generator.")
    .With(GeneratedNumbers{DT_FLOAT});

OP(StatefulTruncatedNormal, "Draws normal numbers of magnitude below 2 from a generator.")
    .With(GeneratedNumbers{DT_FLOAT});

OP(StatefulUniform, "Draws numbers uniformly from [0, 1), from a generator.")
    .With(GeneratedNumbers{DT_FLOAT});

OP(StatefulUniformFullInt, "Draws integers with random bits from a generator.")
    .With(GeneratedNumbers{DT_UINT64});

OP(StatefulUniformInt, "Draws integers uniformly from [minval, maxval), from a generator.")
    .With(GeneratorAndShape)
    .Input("minval", "dtype")
    .Input("maxval", "dtype")
    .Output("output", "dtype")
    .With(NumberTypes{DT_INT64})
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(CheckScalars(c, 3, 4));
      return GeneratedShape(c);
    });

}  // namespace
}  // namespace sluice
