// Estimates what it costs to compute a node a second time in a step.
#ifndef SLUICE_EXECUTOR_MEMORY_COPY_COSTS_H_
#define SLUICE_EXECUTOR_MEMORY_COPY_COSTS_H_

#include <cstdint>
#include <unordered_map>

#include "executor/memory/memory_plan.h"
#include "executor/plan/plan.h"
#include "graph/ir/graph.h"

namespace sluice {

class CopyCosts {
 public:
  explicit CopyCosts(const MemoryPlan& memory);
  // Rough nanoseconds of one core.
  double Of(const Node& node) const;

 private:
  double Elements(const Output& tensor) const;

  std::unordered_map<Output, int64_t> bytes_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_MEMORY_COPY_COSTS_H_
