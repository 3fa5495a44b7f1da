// Reports the measured run times and output sizes of the nodes of a step. Clients request them with
// GraphOptions.build_cost_model.
#ifndef SLUICE_DISTRIBUTED_MASTER_COST_GRAPH_H_
#define SLUICE_DISTRIBUTED_MASTER_COST_GRAPH_H_

#include <cstdint>

#include "executor/trace/step_stats.h"
#include "graph/format/proto/cost_graph.pb.h"
#include "graph/ir/graph.h"

namespace sluice {

// Selects the steps that are measured, among the steps with the same feeds, fetches and targets.
// The fields are GraphOptions.build_cost_model and build_cost_model_after.
struct CostModelSteps {
  int64_t every = 0;  // 0: no step is measured
  int64_t after = 0;
  // Whether the next of these steps is measured, after `count` of them have run. True if the number
  // of the next step, counted from 1, differs from `after` by a multiple of `every`.
  bool Includes(int64_t count) const {
    if (every <= 0) return false;
    const int64_t rest = after % every;  // compared, because a difference could overflow
    return (count + 1) % every == (rest < 0 ? rest + every : rest);
  }
};

// Adds the costs of `graph`, which has run, to `proto`. As in TensorFlow, there are two nodes for
// the beginning and the end of the step (_SOURCE and _SINK), and one for each node of the graph.
// The latter have their device, the ids of their inputs, and the sizes and shapes of their outputs.
// Costs are in microseconds. A node that did not run, or that was fused into another node, has no
// cost.
void AddCosts(const Graph& graph, const StepStats& stats, pb::CostGraphDef* proto);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MASTER_COST_GRAPH_H_
