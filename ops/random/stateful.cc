// Random numbers from a generator whose state is a variable: int64 numbers, the counter's two words
// and the key. Each op draws and moves the counter on.
#include "ops/op.h"

namespace sluice {
namespace {

ShapeFunction ShapeOfInput(int i) {
  return [i](ShapeContext& c) -> absl::Status {
    SLUICE_ASSIGN_OR_RETURN(PartialShape shape, c.InputAsShape(i));
    return c.SetOutput(0, shape);
  };
}

absl::Status FromAlgorithmAndShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
  return ShapeOfInput(2)(c);
}

OP(RngReadAndSkip,
   "The state of a generator, which then is moved on as if `delta` numbers had been drawn.")
    .Input("resource", DT_RESOURCE)
    .Input("alg", DT_INT32)
    .Input("delta", DT_UINT64)
    .Output("value", DT_INT64)
    .Stateful()
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
      SLUICE_RETURN_IF_ERROR(c.WithRank(2, 0).status());
      return c.SetOutput(0, {3});
    });

OP(RngSkip, "Moves a generator on as if `delta` numbers had been drawn.")
    .Input("resource", DT_RESOURCE)
    .Input("algorithm", DT_INT64)
    .Input("delta", DT_INT64)
    .Stateful()
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
      return c.WithRank(2, 0).status();
    });

OP(StatefulRandomBinomial,
   "Numbers of successes in `counts` trials of probability `probs`, from a generator.")
    .Input("resource", DT_RESOURCE)
    .Input("algorithm", DT_INT64)
    .Input("shape", "S")
    .Input("counts", "T")
    .Input("probs", "T")
    .Output("output", "dtype")
    .Attr("S", TypeAttr(IndexTypes()))
    .Attr("T", TypeAttr(TypeSet{DT_HALF, DT_FLOAT, DT_DOUBLE, DT_INT32, DT_INT64}, DT_DOUBLE))
    .Attr("dtype", TypeAttr(TypeSet{DT_HALF, DT_FLOAT, DT_DOUBLE, DT_INT32, DT_INT64}, DT_INT64))
    .Stateful()
    .Shape(FromAlgorithmAndShape);

OP(StatefulStandardNormal,
   "Normal numbers from a generator whose state begins with the number of its "
   "algorithm. An older form of StatefulStandardNormalV2.")
    .Input("resource", DT_RESOURCE)
    .Input("shape", "shape_dtype")
    .Output("output", "dtype")
    .Attr("dtype", TypeAttr(TypeSet(), DT_FLOAT))
    .Attr("shape_dtype", TypeAttr(TypeSet(), DT_INT64))
    .Stateful()
    .Deprecated(29, "Use StatefulStandardNormalV2 instead")
    .Shape(ShapeOfInput(1));

OP(StatefulStandardNormalV2,
   "Normal numbers with mean 0 and standard deviation 1 from a generator.")
    .Input("resource", DT_RESOURCE)
    .Input("algorithm", DT_INT64)
    .Input("shape", "shape_dtype")
    .Output("output", "dtype")
    .Attr("dtype", TypeAttr(TypeSet(), DT_FLOAT))
    .Attr("shape_dtype", TypeAttr(TypeSet(), DT_INT64))
    .Stateful()
    .Shape(FromAlgorithmAndShape);

OP(StatefulTruncatedNormal, "Normal numbers of magnitude below 2 from a generator.")
    .Input("resource", DT_RESOURCE)
    .Input("algorithm", DT_INT64)
    .Input("shape", "shape_dtype")
    .Output("output", "dtype")
    .Attr("dtype", TypeAttr(TypeSet(), DT_FLOAT))
    .Attr("shape_dtype", TypeAttr(TypeSet(), DT_INT64))
    .Stateful()
    .Shape(FromAlgorithmAndShape);

OP(StatefulUniform, "Numbers uniform in [0, 1) from a generator.")
    .Input("resource", DT_RESOURCE)
    .Input("algorithm", DT_INT64)
    .Input("shape", "shape_dtype")
    .Output("output", "dtype")
    .Attr("dtype", TypeAttr(TypeSet(), DT_FLOAT))
    .Attr("shape_dtype", TypeAttr(TypeSet(), DT_INT64))
    .Stateful()
    .Shape(FromAlgorithmAndShape);

OP(StatefulUniformFullInt, "Integers of all bits from a generator.")
    .Input("resource", DT_RESOURCE)
    .Input("algorithm", DT_INT64)
    .Input("shape", "shape_dtype")
    .Output("output", "dtype")
    .Attr("dtype", TypeAttr(TypeSet(), DT_UINT64))
    .Attr("shape_dtype", TypeAttr(TypeSet(), DT_INT64))
    .Stateful()
    .Shape(FromAlgorithmAndShape);

OP(StatefulUniformInt, "Integers uniform in [minval, maxval) from a generator.")
    .Input("resource", DT_RESOURCE)
    .Input("algorithm", DT_INT64)
    .Input("shape", "shape_dtype")
    .Input("minval", "dtype")
    .Input("maxval", "dtype")
    .Output("output", "dtype")
    .Attr("dtype", TypeAttr(TypeSet(), DT_INT64))
    .Attr("shape_dtype", TypeAttr(TypeSet(), DT_INT64))
    .Stateful()
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(c.WithRank(3, 0).status());
      SLUICE_RETURN_IF_ERROR(c.WithRank(4, 0).status());
      return FromAlgorithmAndShape(c);
    });

}  // namespace
}  // namespace sluice
