// Attention as one op: what a session makes of the products and the softmax that it was built of.
#include "ops/op.h"

namespace sluice {
namespace {

// Of q [..., rows, depth], k [..., columns, depth], v [..., columns, width]: [..., rows, width].
absl::Status AttentionShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape out, c.WithRankAtLeast(0, 2));
  SLUICE_ASSIGN_OR_RETURN(const PartialShape v, c.WithRankAtLeast(2, 2));
  if (!out.rank_known() || !v.rank_known()) return c.SetOutput(0, PartialShape());
  out.set_dim(out.rank() - 1, v.dim(v.rank() - 1));
  return c.SetOutput(0, std::move(out));
}

// Scores and values: two products of as many columns as k and v have rows.
double MultiplyAddsOfAttention(const Node& node, const double*, double outputs) {
  const PartialShape& v = node.input(2).shape();
  const int64_t columns = v.rank() < 2 ? 1 : v.dim(v.rank() - 2);
  return 2 * outputs * static_cast<double>(columns);
}

OP(_Attention,
   "softmax(q * k^T * scale + mask) * v, for each pair of matrices of a batch, without its scores "
   "ever in memory (executor/passes/fuse_attention.h). The mask, if any, broadcasts to the scores.")
    .Input("q", DT_FLOAT)
    .Input("k", DT_FLOAT)
    .Input("v", DT_FLOAT)
    .Input("mask", "num_masks*float")
    .Output("output", DT_FLOAT)
    .Attr("num_masks", IntAttr().Min(0))
    .Attr("scale", FloatAttr())
    .Recompute(MultiplyAddsOfAttention)
    .Shape(AttentionShape);

OP(_AttentionGrad,
   "The gradients of _Attention by q, k and v, from that of its result; it makes the scores once "
   "more.")
    .Input("q", DT_FLOAT)
    .Input("k", DT_FLOAT)
    .Input("v", DT_FLOAT)
    .Input("grad", DT_FLOAT)
    .Input("mask", "num_masks*float")
    .Output("by_q", DT_FLOAT)
    .Output("by_k", DT_FLOAT)
    .Output("by_v", DT_FLOAT)
    .Attr("num_masks", IntAttr().Min(0))
    .Attr("scale", FloatAttr())
    .Shape([](ShapeContext& c) {
      for (const int i : {0, 1, 2}) SLUICE_RETURN_IF_ERROR(c.SetOutput(i, c.input(i)));
      return absl::OkStatus();
    });

}  // namespace
}  // namespace sluice
