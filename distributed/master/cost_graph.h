// The measured costs of the nodes of a step, as clients request them with
// GraphOptions.build_cost_model.
#ifndef SLUICE_DISTRIBUTED_MASTER_COST_GRAPH_H_
#define SLUICE_DISTRIBUTED_MASTER_COST_GRAPH_H_

#include <cstdint>

#include "executor/trace/step_stats.h"
#include "graph/format/proto/cost_graph.pb.h"
#include "graph/ir/graph.h"

namespace sluice {

// Selects the steps that are measured, separately for each combination of feeds, fetches and
// targets.
struct CostModelSteps {
  int64_t every = 0;  // 0: none
  int64_t after = 0;
  // `count` steps of the combination ran before.
  bool Includes(int64_t count) const { return every > 0 && (count + 1 - after) % every == 0; }
};

// Adds the nodes of a graph that ran: two for its beginning and end, as in TensorFlow, and one per
// node with its device, its inputs by their ids, and the sizes and shapes of its outputs. Costs are
// microseconds. Nodes that did not run, and those that a fused node replaced, have none.
void AddCosts(const Graph& graph, const StepStats& stats, pb::CostGraphDef* proto);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MASTER_COST_GRAPH_H_
