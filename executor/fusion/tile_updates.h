// Lets the node that updates a variable compute the matrix product that it reads. The gradient of a
// layer's weights, for example, is such a product.
//
// If no other node reads the product, the update node computes it tile by tile and uses each tile
// while it is in the cache, so that the product is never in memory. The product's own node then
// only checks its operands. Results have the same bits as without this change. In steps that are
// traced or checked for NaNs, the product and the update run separately.
#ifndef SLUICE_EXECUTOR_FUSION_TILE_UPDATES_H_
#define SLUICE_EXECUTOR_FUSION_TILE_UPDATES_H_

#include "executor/plan/draft.h"

namespace sluice {

// Returns the number of changed updates.
int TileUpdates(DraftBody& body, Draft& draft);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_FUSION_TILE_UPDATES_H_
