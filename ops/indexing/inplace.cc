// Rows of a tensor changed in place: the result may be the input's own memory, whoever else reads
// it. The names are old; TensorScatterUpdate and its kin are the safe forms.

#include "ops/op.h"

namespace sluice {
namespace {

absl::Status InplaceShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRankAtLeast(0, 1).status());
  return c.SetOutput(0, c.input(0));
}

OP(InplaceAdd, "`x`, with `v` added to rows `i`.")
    .Input("x", "T")
    .Input("i", DT_INT32)
    .Input("v", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr())
    .Shape(InplaceShape);

OP(InplaceSub, "`x`, with `v` subtracted from rows `i`.")
    .Input("x", "T")
    .Input("i", DT_INT32)
    .Input("v", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr())
    .Shape(InplaceShape);

OP(InplaceUpdate, "`x`, with `v` in place of rows `i`.")
    .Input("x", "T")
    .Input("i", DT_INT32)
    .Input("v", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr())
    .Shape(InplaceShape);

}  // namespace
}  // namespace sluice
