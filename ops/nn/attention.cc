// Attention as one op. A session substitutes it for the products and the softmax of a graph.
#include "ops/op.h"

namespace sluice {
namespace {

// Sets the output's shape to [..., rows, width] for q [..., rows, depth], k [..., columns, depth]
// and v [..., columns, width].
absl::Status AttentionShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape out, c.WithRankAtLeast(0, 2));
  SLUICE_ASSIGN_OR_RETURN(const PartialShape v, c.WithRankAtLeast(2, 2));
  if (!out.rank_known() || !v.rank_known()) return c.SetOutput(0, PartialShape());
  out.set_dim(out.rank() - 1, v.dim(v.rank() - 1));
  return c.SetOutput(0, std::move(out));
}

// Returns the number of multiply-adds for scores and values: two products, with as many columns as
// k and v have rows.
double MultiplyAddsOfAttention(const Node& node, const double*, double outputs) {
  const PartialShape& v = node.input(2).shape();
  const int64_t columns = v.rank() < 2 ? 1 : v.dim(v.rank() - 2);
  return 2 * outputs * static_cast<double>(columns);
}

OP(_Attention,
   "Computes softmax(q * k^T * scale + mask) * v for each pair of matrices of a batch, without all "
   "scores in memory (executor/passes/fuse_attention.h). The optional mask broadcasts to the "
   "scores.")
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
   "Computes the gradients of _Attention with respect to q, k and v from that of its result. "
   "Recomputes the scores.")
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
