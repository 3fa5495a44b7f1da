// Older ops that change rows of a tensor. TensorScatterUpdate and others replace them.
#include "ops/op.h"

namespace sluice {
namespace {

absl::Status InplaceShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRankAtLeast(0, 1).status());
  return c.SetOutput(0, c.input(0));
}

void RowUpdate(OpDefBuilder& op) {
  op.Input("x", "T").Input("i", DT_INT32).Input("v", "T").Output("y", "T").Attr("T", TypeAttr());
  op.MayForwardInput().Shape(InplaceShape);
}

OP(InplaceAdd, "Adds v to rows i of x.").With(RowUpdate);

OP(InplaceSub, "Subtracts v from rows i of x.").With(RowUpdate);

OP(InplaceUpdate, "Replaces rows i of x by v.").With(RowUpdate);

}  // namespace
}  // namespace sluice
