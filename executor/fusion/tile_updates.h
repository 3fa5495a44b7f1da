// Computes updates of variables by a matrix product tile by tile, such as the update of a layer's
// weights by their gradient.
//
// If no other node reads the product, the update computes it and uses each tile while it is in the
// cache, so that the gradient is never in memory. The product's own node only checks its operands.
// Results keep their bits. In traced and checked steps both nodes run by themselves.
#ifndef SLUICE_EXECUTOR_FUSION_TILE_UPDATES_H_
#define SLUICE_EXECUTOR_FUSION_TILE_UPDATES_H_

#include "executor/plan/draft.h"

namespace sluice {

// Returns the number of changed updates.
int TileUpdates(DraftBody& body, Draft& draft);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_FUSION_TILE_UPDATES_H_
