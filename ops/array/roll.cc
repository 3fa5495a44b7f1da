// Ops that shift the elements of a tensor cyclically, and that compute cross products.
#include "graph/infer/expect_size.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/array/roll_builders.h"
#include "ops/math/rounding_builders.h"
#endif

namespace sluice {
namespace {

OP(Cross, "Computes cross products of vectors of three elements along the last dimension.")
    .Input("a", "T")
    .Input("b", "T")
    .Output("product", "T")
    .Attr("T", TypeAttr(RealTypes()))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape a, c.WithRankAtLeast(0, 1));
      SLUICE_ASSIGN_OR_RETURN(PartialShape b, c.WithRankAtLeast(1, 1));
      SLUICE_ASSIGN_OR_RETURN(PartialShape out, a.MergeWith(b));
      if (out.rank_known()) {
        SLUICE_RETURN_IF_ERROR(ExpectSize(out.dim(out.rank() - 1), 3));
        out.set_dim(out.rank() - 1, 3);
      }
      return c.SetOutput(0, out);
    }) GRADIENT([](Backprop& b) {
      Output grad = b.Of("product");
      b.Into("a", Cross(b.Value("b"), grad));
      b.Into("b", Cross(grad, b.Value("a")));
    });

OP(Roll,
   "Moves elements along axes by `shift` positions. Elements beyond the last position reappear at "
   "the first.")
    .Input("input", "T")
    .Input("shift", "Tshift")
    .Input("axis", "Taxis")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Attr("Tshift", TypeAttr(IndexTypes()))
    .Attr("Taxis", TypeAttr(IndexTypes()))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape input, c.WithRankAtLeast(0, 1));
      SLUICE_RETURN_IF_ERROR(c.WithRankAtMost(1, 1).status());
      SLUICE_RETURN_IF_ERROR(c.WithRankAtMost(2, 1).status());
      SLUICE_RETURN_IF_ERROR(c.input(1).MergeWith(c.input(2)).status());
      return c.SetOutput(0, input);
    }) GRADIENT([](Backprop& b) {
      b.Into("input", Roll(b.Of("output"), Neg(b.Value("shift")), b.Value("axis")));
    });

}  // namespace
}  // namespace sluice
