// Computes results a second time instead of keeping them, where a step would need more memory than
// it may.
//
// First late readers that need not be late let go of what they read (early_readers.h). Then:
// activations are read once where they are made, and again in the backward pass. Of what is alive
// at the peak of a plan, the pass copies those nodes that cost least for the bytes that they hold;
// late readers read the copy, which waits (by a control edge) for what its first reader waits for.
// Copies read what is alive at that time anyway, or other copies. A plan shows what came of it:
// what does not lower the peak is taken back. Products and convolutions are copied only when
// nothing else is left.
//
// Last of all passes: it needs placed nodes and plans of what is run, and copies are equal to their
// originals. It leaves alone what is stateful, random, fetched or run for its effect, on another
// device than its readers, or behind a branch or a loop. Values are the same to the bit. Cost: at
// most 64 plans, and nothing where the first one fits.
#ifndef SLUICE_EXECUTOR_PASSES_REMATERIALIZE_H_
#define SLUICE_EXECUTOR_PASSES_REMATERIALIZE_H_

#include <cstdint>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "executor/passes/passes.h"
#include "executor/plan/memory_plan.h"
#include "executor/plan/plan.h"
#include "graph/ir/graph.h"

namespace sluice {

struct PlannedStep {
  std::shared_ptr<const Plan> plan;
  MemoryPlan memory;
};
// Plans a step of the graph as it is at that time.
using StepPlanner = absl::FunctionRef<absl::StatusOr<PlannedStep>()>;

// The graph's step as it is then; of more than `limit_bytes` where those cannot be met.
absl::StatusOr<PlannedStep> Rematerialize(Graph& graph, const PassOptions& options,
                                          int64_t limit_bytes, StepPlanner plan);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_REMATERIALIZE_H_
