// Ops that pool over cells of random sizes.
//
// Reference: Graham, "Fractional max-pooling" (2014).
#include <cmath>

#include "ops/op.h"
#include "ops/pool/pool_shape.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/gradient_nodes.h"
#include "ops/shape_nodes.h"
#endif

namespace sluice {
namespace {

absl::Status FractionalShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape in, c.WithRank(0, 4));
  const auto& ratio = c.attr<std::vector<float>>("pooling_ratio");
  SLUICE_INVALID_IF(ratio.size() != 4, "pooling_ratio field must specify 4 dimensions, got ",
                    ratio.size());
  PartialShape out = PartialShape::UnknownOfRank(4);
  for (int d = 0; d < 4; ++d) {
    if (in.dim(d) < 0) continue;
    const auto size = static_cast<int64_t>(std::floor(static_cast<float>(in.dim(d)) / ratio[d]));
    SLUICE_INVALID_IF(size < 0, "Size computed for dim ", d, " is negative: ", size);
    out.set_dim(d, size);
  }
  c.SetOutput(0, out).IgnoreError();
  for (int d : {1, 2}) {
    c.SetOutput(d, {out.dim(d) < 0 ? -1 : out.dim(d) + 1}).IgnoreError();
  }
  return absl::OkStatus();
}

// Declares the arguments and attributes of both forward ops.
void FractionalPool(OpDefBuilder& b) {
  b.Input("value", "T")
      .Output("output", "T")
      .Output("row_pooling_sequence", DT_INT64)
      .Output("col_pooling_sequence", DT_INT64)
      .Attr("pooling_ratio", FloatListAttr().Min(4))
      .Attr("pseudo_random", BoolAttr(false))
      .Attr("overlapping", BoolAttr(false))
      .Attr("deterministic", BoolAttr(false))
      .Attr("seed", IntAttr(0))
      .Attr("seed2", IntAttr(0))
      .Attr("T", TypeAttr(TypeSet{DT_FLOAT, DT_DOUBLE, DT_INT32, DT_INT64}))
      .Shape(FractionalShape);
}

// Declares the last arguments and the attributes of both gradient ops.
void FractionalPoolGrad(OpDefBuilder& b) {
  b.Input("out_backprop", "T")
      .Input("row_pooling_sequence", DT_INT64)
      .Input("col_pooling_sequence", DT_INT64)
      .Output("output", "T")
      .Attr("overlapping", BoolAttr(false))
      .Attr("T", TypeAttr(TypeSet{DT_FLOAT, DT_DOUBLE, DT_INT32, DT_INT64}));
}

OP(FractionalAvgPool,
   "Computes the mean of cells whose sizes are the ratio, randomly rounded down or up. Also "
   "returns the borders of the cells along height and width.")
    .With(FractionalPool) GRADIENT([](Backprop& b) {
      b.Into("value", Sibling(b, "FractionalAvgPoolGrad",
                              {ShapeNode(b.Value("value"), DT_INT64), b.Of("output"),
                               b.Value("row_pooling_sequence"), b.Value("col_pooling_sequence")}));
    });

OP(FractionalAvgPoolGrad,
   "Computes the gradient of FractionalAvgPool with respect to its input, whose shape is "
   "orig_input_tensor_shape.")
    .Input("orig_input_tensor_shape", DT_INT64)
    .With(FractionalPoolGrad)
    .Shape(ImagesOfSizes);

OP(FractionalMaxPool,
   "Returns the greatest elements of cells whose sizes are the ratio, randomly rounded down or up. "
   "Also returns the borders of the cells along height and width.")
    .With(FractionalPool) GRADIENT([](Backprop& b) {
      b.Into("value", Sibling(b, "FractionalMaxPoolGrad",
                              {b.Value("value"), b.Value("output"), b.Of("output"),
                               b.Value("row_pooling_sequence"), b.Value("col_pooling_sequence")}));
    });

OP(FractionalMaxPoolGrad,
   "Computes the gradient of FractionalMaxPool: each element of out_backprop goes to the first "
   "greatest element of its cell.")
    .Input("orig_input", "T")
    .Input("orig_output", "T")
    .With(FractionalPoolGrad)
    .Shape(ImagesOfInput);

}  // namespace
}  // namespace sluice
