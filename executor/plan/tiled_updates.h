// Updates of variables by a matrix product that nobody else reads: a layer's weights by their
// gradient.
//
// The update makes the product itself, and uses each tile while it is in the cache, so that the
// gradient never lies in memory. The product's own node only checks its operands. Values are the
// same to the bit. In traced and checked runs both run by themselves.
#ifndef SLUICE_EXECUTOR_PLAN_TILED_UPDATES_H_
#define SLUICE_EXECUTOR_PLAN_TILED_UPDATES_H_

#include <memory>
#include <vector>

#include "executor/plan/draft.h"

namespace sluice {

// The kernels of such updates are appended to `kernels`.
void TileUpdates(DraftBody& body, std::vector<std::shared_ptr<Kernel>>* kernels);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_TILED_UPDATES_H_
