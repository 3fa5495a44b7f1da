// The op of a matrix product with a bias and an activation, which TensorFlow's remapper adds to
// graphs.
#include "ops/matmul/epilogue_attrs.h"
#include "ops/matmul/multiply_adds.h"
#include "ops/op.h"

namespace sluice {
namespace {

absl::Status FusedMatMulShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape a, c.WithRank(0, 2));
  SLUICE_ASSIGN_OR_RETURN(PartialShape b, c.WithRank(1, 2));
  const bool transpose_a = c.attr<bool>("transpose_a"), transpose_b = c.attr<bool>("transpose_b");
  SLUICE_RETURN_IF_ERROR(MergeDim(a.dim(transpose_a ? 0 : 1), b.dim(transpose_b ? 1 : 0)).status());
  return c.SetOutput(0, {a.dim(transpose_a ? 1 : 0), b.dim(transpose_b ? 0 : 1)});
}

OP(_FusedMatMul, "Applies MatMul, then the fused_ops.")
    .Input("a", "T")
    .Input("b", "T")
    .Input("args", "num_args*T")
    .Output("product", "T")
    .Attr("transpose_a", BoolAttr(false))
    .Attr("transpose_b", BoolAttr(false))
    .Attr("T", TypeAttr(TypeSet{DT_BFLOAT16, DT_HALF, DT_FLOAT}))
    .Attr("num_args", IntAttr().Min(0))
    .With(EpilogueAttrs)
    .Recompute(MultiplyAddsOfProduct)
    .Shape(FusedMatMulShape);

}  // namespace
}  // namespace sluice
