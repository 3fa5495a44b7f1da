#include "ops/linalg/matrix_nodes.h"

#include "ops/array/concat_builders.h"
#include "ops/array/fill_builders.h"
#include "ops/array/reshape_builders.h"
#include "ops/array/shape_builders.h"
#include "ops/array/transpose_builders.h"
#include "ops/gradient_nodes.h"
#include "ops/indexing/slice_builders.h"
#include "ops/linalg/diagonal_builders.h"
#include "ops/math/power_builders.h"
#include "ops/matmul/matmul_builders.h"
#include "ops/reduce/reduce_builders.h"
#include "ops/shape_nodes.h"
#include "ops/sugar.h"

namespace sluice {

Output Times(Output x, Output y, Form x_form, Form y_form) {
  return BatchMatMulV2(x, y,
                       {.adj_x = x_form == Form::kAdjoint, .adj_y = y_form == Form::kAdjoint});
}

Output TransposeOf(Output x) {
  if (!x) return x;
  Graph& g = *x.graph();
  if (x.shape().rank_known()) {
    std::vector<int64_t> perm(static_cast<size_t>(x.shape().rank()));
    for (size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<int64_t>(i);
    if (perm.size() >= 2) std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    return Transpose(x, perm);
  }
  Output rank = RankNode(x);
  Output two = IndexScalar(g, 2), one = IndexScalar(g, 1);
  Output batch = Range(IndexScalar(g, 0), rank - two, one);
  Output last = ExpandDims(rank - one, 0), before = ExpandDims(rank - two, 0);
  return Transpose(x, Concat({batch, last, before}, 0));
}

Output AdjointOf(Output x) { return ConjOf(TransposeOf(x)); }

Output LowerTriangle(Output x) {
  if (!x) return x;
  Graph& g = *x.graph();
  return MatrixBandPart(x, IndexScalar(g, -1, DT_INT64), IndexScalar(g, 0, DT_INT64));
}

Output WithDiagonalTimes(Output x, double factor) {
  Output diagonal = MatrixDiagPart(x);
  return MatrixSetDiag(x, diagonal * NumberLike(x, factor));
}

Output SafeReciprocal(Output x) { return x * Reciprocal(x * x + NumberLike(x, 1e-20)); }

Output ReciprocalDifferences(Output e) {
  return MatrixSetDiag(SafeReciprocal(ExpandDims(e, -2) - ExpandDims(e, -1)), ZerosLike(e));
}

Output PartOfAxis(Output x, int axis, int64_t begin, int64_t end) {
  if (!x) return x;
  Graph& g = *x.graph();
  const bool is_last = axis == -1;
  const bool is_open = end == kToTheEnd;
  const int64_t stop = is_open ? 0 : end;
  // Selects all by an ellipsis, then a part of the axis, and then the whole last dimension if the
  // axis is the one before it.
  if (is_last) {
    return StridedSlice(x, IndexVector(g, {0, begin}), IndexVector(g, {0, stop}),
                        IndexVector(g, {1, 1}), {.end_mask = is_open ? 2 : 0, .ellipsis_mask = 1});
  }
  return StridedSlice(x, IndexVector(g, {0, begin, 0}), IndexVector(g, {0, stop, 0}),
                      IndexVector(g, {1, 1, 1}),
                      {.begin_mask = 4, .end_mask = is_open ? 6 : 4, .ellipsis_mask = 1});
}

void IntoBatches(Backprop& b, Output grad_0, Output grad_1) {
  Output x = b.In(0), y = b.In(1);
  const PartialShape &xs = x.shape(), &ys = y.shape();
  const bool is_same = xs.IsFullyDefined() && ys.IsFullyDefined() && xs.rank() == ys.rank() &&
                       xs.dims().subspan(0, xs.rank() - 2) == ys.dims().subspan(0, ys.rank() - 2);
  if (!is_same) {
    Output x_shape = ShapeOf(x), y_shape = ShapeOf(y);
    BroadcastGradientArgsOutputs axes =
        BroadcastGradientArgs(PartOf(x_shape, 0, -2), PartOf(y_shape, 0, -2));
    grad_0 = Reshape(Sum(grad_0, axes.r0), x_shape);
    grad_1 = Reshape(Sum(grad_1, axes.r1), y_shape);
  }
  b.Into(0, grad_0);
  b.Into(1, grad_1);
}

}  // namespace sluice
