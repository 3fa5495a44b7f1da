// Delays matrix products: the node of a delayed product only checks its operands, and the only
// reader of the product computes it tile by tile (OpKind::kDelayed). So the product need not be
// in memory as a whole.
#ifndef SLUICE_EXECUTOR_FUSION_DELAYED_H_
#define SLUICE_EXECUTOR_FUSION_DELAYED_H_

#include "executor/kernel/matrix_tiles.h"
#include "executor/plan/draft.h"
#include "graph/ir/graph.h"

namespace sluice {

// Returns the kernel of the product if it can be delayed, otherwise null. A product cannot be
// delayed if an operand is a reference, because the variable must be read when the product's own
// node runs.
inline const TileMaker* DelayableMaker(const DraftItem& product) {
  if (product.kind != OpKind::kKernel || product.inputs.size() != 2) return nullptr;
  const auto* maker = dynamic_cast<const TileMaker*>(product.kernel);
  if (maker == nullptr || !maker->CanMakeTiles()) return nullptr;
  return product.inputs[0].is_ref || product.inputs[1].is_ref ? nullptr : maker;
}

// Whether both operands together are known to be at most as large as the result. A delayed product
// keeps its operands in memory until the reader runs. They must not need more memory than the
// result would.
inline bool OperandsAreSmall(const Node& product) {
  const int64_t result = product.output_shape(0).num_elements();
  const int64_t a = product.input(0).shape().num_elements();
  const int64_t b = product.input(1).shape().num_elements();
  return a >= 0 && b >= 0 && a <= result && b <= result - a;
}

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_FUSION_DELAYED_H_
