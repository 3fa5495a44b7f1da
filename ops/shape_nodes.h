// Helpers for the gradient functions of ops. They add nodes for shapes, sizes and ranks of tensors,
// and constants of index types (int32 and int64).
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

// Add a vector or scalar constant of type int32 or int64.
Output IndexVector(Graph& graph, std::initializer_list<int64_t> values, DataType type = DT_INT32);
Output IndexVector(Graph& graph, absl::Span<const int64_t> values, DataType type = DT_INT32);
Output IndexScalar(Graph& graph, int64_t value, DataType type = DT_INT32);

// Return the shape of `x` as a vector, and its number of elements and its rank as scalars.
Output ShapeNode(Output x, DataType type = DT_INT32);
Output SizeNode(Output x, DataType type = DT_INT32);
Output RankNode(Output x);

// Returns the int32 vector 0, 1, …, r - 1, where r is the rank of `x`.
Output AllAxes(Output x);

// The value of PartOf's `end` that selects all elements from `begin` on.
inline constexpr int64_t kToTheEnd = INT64_MAX;
// Returns vector[begin:end] as in Python, or vector[begin:] if `end` is kToTheEnd.
Output PartOf(Output vector, int64_t begin, int64_t end);
// Returns vector[begin:end], with bounds that are scalar tensors. If `begin` or `end` is an invalid
// handle, that side has no bound.
Output PartOf(Output vector, Output begin, Output end);

// Returns `x` reshaped to the shape of `like`.
Output ReshapedLike(Output x, Output like);

}  // namespace sluice

#endif  // SLUICE_OPS_SHAPE_NODES_H_
