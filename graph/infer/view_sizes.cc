#include "graph/infer/view_sizes.h"

#include <algorithm>

namespace sluice {

std::optional<ViewSizes> SizesOf(const PartialShape& shape) {
  if (!shape.rank_known()) return std::nullopt;
  ViewSizes sizes;
  for (int d = 0; d < shape.rank(); ++d) {
    sizes.push_back(shape.dim(d) < 0 ? SizeOfDim(d) : shape.dim(d));
  }
  return sizes;
}

bool SameSizes(const ViewSizes& a, const ViewSizes& b) {
  return a == b && std::find(a.begin(), a.end(), kAnySize) == a.end();
}

}  // namespace sluice
