// Which nodes may be computed a second time in a step, and what that costs.
#ifndef SLUICE_EXECUTOR_PASSES_COPY_COSTS_H_
#define SLUICE_EXECUTOR_PASSES_COPY_COSTS_H_

#include <cstdint>
#include <unordered_map>

#include "executor/plan/memory_plan.h"
#include "executor/plan/plan.h"
#include "graph/ir/graph.h"

namespace sluice {

enum class Effort { kNever, kSmall, kProduct };

// Of kernels that give the same bits each time, whatever runs beside them.
Effort EffortOf(const Node& node, const Kernel* kernel);

class CopyCosts {
 public:
  explicit CopyCosts(const MemoryPlan& memory);
  // Roughly, in nanoseconds of one core.
  double Of(const Node& node) const;

 private:
  double Elements(const Output& tensor) const;

  std::unordered_map<Output, int64_t> bytes_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_COPY_COSTS_H_
