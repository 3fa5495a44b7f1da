// The order in which one thread runs the items of a body.
#ifndef SLUICE_EXECUTOR_PLAN_ORDER_H_
#define SLUICE_EXECUTOR_PLAN_ORDER_H_

#include <vector>

namespace sluice {

struct DraftBody;

// Every item after those that it waits for; shorter than the items if they are cyclic. What became
// ready last runs first, so that values are used while they are in the cache and are freed soon;
// but reads of variables run before everything else.
std::vector<int> ExecutionOrder(const DraftBody& body);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_ORDER_H_
