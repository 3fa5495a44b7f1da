// Computes the sizes of views of a tensor before a step, even if some sizes are not known.
//
// A view (Reshape, ExpandDims, Squeeze) has the elements of the tensor in their order. The sizes of
// a view, or of a view of a view, are ViewSizes. Each is a number >= 0, kAnySize (not known), or
// SizeOfDim(d), which stands for the unknown size of dimension d of the tensor. Ops declare the
// sizes of their views: OpTraits::view_sizes.
#ifndef SLUICE_GRAPH_INFER_VIEW_SIZES_H_
#define SLUICE_GRAPH_INFER_VIEW_SIZES_H_

#include <cstdint>
#include <optional>

#include "graph/ir/graph.h"

namespace sluice {

inline constexpr int64_t kAnySize = -1;
constexpr int64_t SizeOfDim(int64_t d) { return -2 - d; }

// The sizes of a tensor itself; nothing if its rank is not known.
std::optional<ViewSizes> SizesOf(const PartialShape& shape);
// Whether the sizes are certainly equal.
bool SameSizes(const ViewSizes& a, const ViewSizes& b);

inline bool IsView(const Node& node) { return node.traits().view_sizes != nullptr; }

}  // namespace sluice

#endif  // SLUICE_GRAPH_INFER_VIEW_SIZES_H_
