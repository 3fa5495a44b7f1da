#include "tests/simulate/yields.h"

#include <string>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/infer/shape_context.h"
#include "graph/op/op_def.h"
#include "tests/simulate/simulation.h"

namespace sluice {
namespace {

OP(SimulationYield, "Lets other actors run.").Stateful().Shape(NoOutputs());

class YieldKernel : public Kernel {
 public:
  absl::Status Compute(KernelContext&) override {
    Simulation::Pause();
    return absl::OkStatus();
  }
  bool IsExpensive() const override { return false; }
};
KERNEL(SimulationYield, YieldKernel);

bool IsVisible(const std::string& op) {
  return op.find("ApplyGradient") != op.npos || op.find("QueueEnqueue") != op.npos ||
         op.find("QueueDequeue") != op.npos || op == "Assign" || op == "AssignAdd" ||
         op == "AssignAddVariableOp" || op == "ScatterUpdate";
}

// Resources, which are ready at once, and placeholders, which are fed and do not run.
bool IsSource(const Node& node) {
  return node.op() == "Placeholder" || node.op() == "VariableV2" || node.op() == "VarHandleOp" ||
         node.op().find("Accumulator") != std::string::npos || node.op() == "FIFOQueueV2";
}

}  // namespace

void InsertYields(Graph& graph) {
  for (Node* node : graph.nodes()) {
    if (!IsVisible(node->op())) continue;
    NodeSpec spec;
    spec.name = graph.UniqueName("yield/" + node->name());
    spec.op = "SimulationYield";
    spec.device = node->device();
    absl::StatusOr<Node*> yield = graph.Add(std::move(spec));
    if (!yield.ok()) return graph.SetError(yield.status());
    for (const Output& in : node->inputs()) {
      if (!IsSource(*in.node)) graph.AddControlEdge(in.node, *yield);
    }
    const std::vector<Node*> controls(node->control_inputs().begin(), node->control_inputs().end());
    for (Node* control : controls) graph.AddControlEdge(control, *yield);
    graph.AddControlEdge(*yield, node);
  }
}

}  // namespace sluice
