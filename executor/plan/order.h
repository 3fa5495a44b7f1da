// Finds the order in which one thread runs the items of a body (draft.h).
#ifndef SLUICE_EXECUTOR_PLAN_ORDER_H_
#define SLUICE_EXECUTOR_PLAN_ORDER_H_

#include <vector>

namespace sluice {

struct DraftBody;

// Returns the items, each after those that it waits for. Items that wait for each other in a cycle
// are missing, and so are the items that wait for those. The item that became ready last runs
// first, so that values are used while they are in the cache and are freed soon. Ready items that
// have no inputs or that read a variable run before all other ready items.
std::vector<int> ExecutionOrder(const DraftBody& body);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_ORDER_H_
