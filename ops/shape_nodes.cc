#include "ops/shape_nodes.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "ops/array/concat_builders.h"
#include "ops/array/fill_builders.h"
#include "ops/array/reshape_builders.h"
#include "ops/array/shape_builders.h"
#include "ops/array/sources_builders.h"
#include "ops/indexing/slice_builders.h"
#include "ops/math/cast_builders.h"

namespace sluice {
namespace {

Output IntConstant(Graph& graph, const TensorShape& shape, absl::Span<const int64_t> values,
                   DataType type) {
  Tensor t(type, shape);
  if (type == DT_INT64) {
    std::copy(values.begin(), values.end(), t.data<int64_t>());
  } else {
    std::copy(values.begin(), values.end(), t.data<int32_t>());
  }
  return Const(graph, t, type);
}

}  // namespace

Output IndexVector(Graph& graph, absl::Span<const int64_t> values, DataType type) {
  return IntConstant(graph, TensorShape({static_cast<int64_t>(values.size())}), values, type);
}
Output IndexVector(Graph& graph, std::initializer_list<int64_t> values, DataType type) {
  return IndexVector(graph, absl::MakeConstSpan(values.begin(), values.size()), type);
}
Output IndexScalar(Graph& graph, int64_t value, DataType type) {
  return IntConstant(graph, TensorShape(), {&value, 1}, type);
}

Output ShapeNode(Output x, DataType type) {
  if (!x) return Output();
  if (x.shape().IsFullyDefined()) return IndexVector(*x.graph(), x.shape().dims(), type);
  return Shape(x, {.out_type = type});
}
Output SizeNode(Output x, DataType type) {
  if (!x) return Output();
  const int64_t n = x.shape().num_elements();
  return n >= 0 ? IndexScalar(*x.graph(), n, type) : Size(x, {.out_type = type});
}
Output RankNode(Output x) {
  if (!x) return Output();
  return x.shape().rank_known() ? IndexScalar(*x.graph(), x.shape().rank()) : Rank(x);
}

Output AllAxes(Output x) {
  if (!x) return Output();
  Graph& g = *x.graph();
  if (!x.shape().rank_known()) return Range(IndexScalar(g, 0), Rank(x), IndexScalar(g, 1));
  std::vector<int64_t> axes(x.shape().rank());
  std::iota(axes.begin(), axes.end(), 0);
  return IndexVector(g, axes);
}

Output PartOf(Output vector, int64_t begin, int64_t end) {
  if (!vector) return Output();
  Graph& g = *vector.graph();
  const bool open = end == kToTheEnd;
  return StridedSlice(vector, IndexVector(g, {begin}), IndexVector(g, {open ? 0 : end}),
                      IndexVector(g, {1}), {.end_mask = open ? 1 : 0});
}
Output PartOf(Output vector, Output begin, Output end) {
  if (!vector) return Output();
  Graph& g = *vector.graph();
  auto as_vector = [&](Output o) {
    if (!o) return IndexVector(g, {0});
    return Pack({BaseType(o.dtype()) == DT_INT32 ? o : Cast(o, DT_INT32)});
  };
  return StridedSlice(vector, as_vector(begin), as_vector(end), IndexVector(g, {1}),
                      {.begin_mask = begin ? 0 : 1, .end_mask = end ? 0 : 1});
}

Output ReshapedLike(Output x, Output like) { return Reshape(x, ShapeNode(like)); }

}  // namespace sluice
