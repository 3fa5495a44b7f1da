// What Reshape, ExpandDims and Squeeze make of a tensor, followed before the step: also where some
// of its sizes are not known yet.
#ifndef SLUICE_EXECUTOR_PASSES_VIEW_SIZES_H_
#define SLUICE_EXECUTOR_PASSES_VIEW_SIZES_H_

#include <cstdint>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "graph/ir/graph.h"

namespace sluice {

// Sizes in terms of those of the tensor that the views begin with: a number >= 0, kAnySize, or
// SizeOfDim(d), the size of its dimension d.
using ViewSizes = absl::InlinedVector<int64_t, 6>;
inline constexpr int64_t kAnySize = -1;
constexpr int64_t SizeOfDim(int64_t d) { return -2 - d; }

// Of a tensor itself; nothing where its rank is not known.
std::optional<ViewSizes> SizesOf(const PartialShape& shape);
// Whether the sizes are the same for certain.
bool SameSizes(const ViewSizes& a, const ViewSizes& b);

bool IsView(const Node& node);
// Sizes of the view of a tensor of sizes `in`; nothing where it could fail, or is not known.
std::optional<ViewSizes> SizesAfter(const Node& view, const ViewSizes& in);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_VIEW_SIZES_H_
