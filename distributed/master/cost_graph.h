// Reports the measured costs of the nodes of a step. Clients request them with
// GraphOptions.build_cost_model.
#ifndef SLUICE_DISTRIBUTED_MASTER_COST_GRAPH_H_
#define SLUICE_DISTRIBUTED_MASTER_COST_GRAPH_H_

#include <cstdint>

#include "executor/trace/step_stats.h"
#include "graph/format/proto/cost_graph.pb.h"
#include "graph/ir/graph.h"

namespace sluice {

// Selects the steps that are measured, among the steps with the same feeds, fetches and targets.
struct CostModelSteps {
  int64_t every = 0;  // 0: no step is measured
  int64_t after = 0;
  // Whether the next of these steps is measured, after `count` of them have run. True if the number
  // of the next step, counted from 1, differs from `after` by a multiple of `every`.
  bool Includes(int64_t count) const { return every > 0 && (count + 1 - after) % every == 0; }
};

// Adds the nodes of `graph`, which has run: two for its beginning and end, as in TensorFlow, and
// one per node with its device, its inputs by their ids, and the sizes and shapes of its outputs.
// Costs are in microseconds. Nodes that did not run, and nodes that a fused node replaced, have no
// cost.
void AddCosts(const Graph& graph, const StepStats& stats, pb::CostGraphDef* proto);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MASTER_COST_GRAPH_H_
