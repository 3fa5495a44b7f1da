// Nodes that gradients of several families of ops share: shapes, sizes, ranks and constants of
// index types.
//
// The functions add nodes to the graph of their arguments. A result that follows from static shapes
// is a constant, as in TensorFlow's gradients.
// Errors: stay in the graph. An invalid argument gives an invalid result.
#ifndef SLUICE_OPS_SHAPE_NODES_H_
#define SLUICE_OPS_SHAPE_NODES_H_

#include <cstdint>
#include <initializer_list>

#include "absl/types/span.h"
#include "graph/gradient/gradients.h"
#include "graph/ir/graph.h"

namespace sluice {

// A vector or scalar constant of an index type.
Output IndexVector(Graph& graph, std::initializer_list<int64_t> values, DataType type = DT_INT32);
Output IndexVector(Graph& graph, absl::Span<const int64_t> values, DataType type = DT_INT32);
Output IndexScalar(Graph& graph, int64_t value, DataType type = DT_INT32);

// Shape, Size and Rank of `x`.
Output ShapeNode(Output x, DataType type = DT_INT32);
Output SizeNode(Output x, DataType type = DT_INT32);
Output RankNode(Output x);

// The vector 0, 1, …, rank - 1.
Output AllAxes(Output x);

// vector[begin:end], or vector[begin:] if `end` is kToTheEnd.
inline constexpr int64_t kToTheEnd = INT64_MAX;
Output PartOf(Output vector, int64_t begin, int64_t end);
// vector[begin:end]. An invalid handle as a bound stands for no bound.
Output PartOf(Output vector, Output begin, Output end);

// `x` reshaped to the shape of `like`.
Output ReshapedLike(Output x, Output like);

}  // namespace sluice

#endif  // SLUICE_OPS_SHAPE_NODES_H_
