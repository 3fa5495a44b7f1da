// Matrix products that their readers compute (OpKind::kDelayed). Their own nodes only check
// operands.
#ifndef SLUICE_EXECUTOR_FUSION_DELAYED_H_
#define SLUICE_EXECUTOR_FUSION_DELAYED_H_

#include "executor/kernel/matrix_tiles.h"
#include "executor/plan/draft.h"
#include "graph/ir/graph.h"

namespace sluice {

// The item's kernel if it can be delayed, otherwise null. Products of references cannot, because a
// reference must be read when the product's own node runs.
inline const TileMaker* DelayableMaker(const DraftItem& product) {
  if (product.kind != OpKind::kKernel || product.inputs.size() != 2) return nullptr;
  const auto* maker = dynamic_cast<const TileMaker*>(product.kernel);
  if (maker == nullptr || !maker->CanMakeTiles()) return nullptr;
  return product.inputs[0].is_ref || product.inputs[1].is_ref ? nullptr : maker;
}

// Whether the operands, which are kept until the reader runs, are known to be together not larger
// than the result.
inline bool OperandsAreSmall(const Node& product) {
  const int64_t result = product.output_shape(0).num_elements();
  const int64_t a = product.input(0).shape().num_elements();
  const int64_t b = product.input(1).shape().num_elements();
  return a >= 0 && b >= 0 && a <= result && b <= result - a;
}

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_FUSION_DELAYED_H_
