// Which while loops can be one node of their parent.
#ifndef SLUICE_EXECUTOR_PLAN_LOOPS_H_
#define SLUICE_EXECUTOR_PLAN_LOOPS_H_

#include <memory>
#include <vector>

#include "executor/kernel/kernel.h"
#include "executor/plan/frames.h"
#include "executor/plan/op_kind.h"
#include "graph/ir/graph.h"

namespace sluice {

// By frame. A simple loop has the form that while-loop builders emit: Merge(Enter, NextIteration)
// for each variable, nothing else that depends on the iteration that it is in, and nothing inside
// that could block. Running its iterations one after the other then gives the same results as
// letting them overlap.
std::vector<bool> FindSimpleLoops(const Graph& graph, const Frames& frames,
                                  const std::vector<OpKind>& kinds,
                                  const std::vector<std::shared_ptr<Kernel>>& kernels);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_LOOPS_H_
