// Finds the simple while loops: those that a plan can run as a single node of the enclosing body
// (plan.h).
#ifndef SLUICE_EXECUTOR_PLAN_LOOPS_H_
#define SLUICE_EXECUTOR_PLAN_LOOPS_H_

#include <memory>
#include <vector>

#include "executor/kernel/kernel.h"
#include "graph/ir/frames.h"
#include "graph/ir/graph.h"

namespace sluice {

// Returns for each frame whether its loop is simple. A simple loop has the form that builders of
// while loops produce: each loop variable is a Merge(Enter, NextIteration), and no other node reads
// the variable's Enter or NextIteration. All Enters of the loop have the same control inputs.
// Neither the loop nor a loop inside it has nodes that can block. Its iterations give the same
// results whether they run one after another or overlap.
std::vector<bool> FindSimpleLoops(const Graph& graph, const Frames& frames,
                                  const std::vector<std::shared_ptr<Kernel>>& kernels);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_LOOPS_H_
