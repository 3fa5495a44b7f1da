#include "executor/compiler/step_graph.h"

#include "executor/compiler/pass_table.h"
#include "graph/function/lower.h"
#include "graph/status.h"

namespace sluice {

absl::StatusOr<std::unique_ptr<Graph>> StepGraphMaker::Make(
    const Graph& graph, absl::Span<const Output> feeds, absl::Span<const Output> fetches,
    absl::Span<const Operation> targets, const PruneOptions& prune, const PassOptions& passes) {
  SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<Graph> pruned, Prune(feeds, fetches, targets, prune));
  pruned->function_library() = graph.function_library();  // for kernels that call functions
  LowerOptions lower;
  lower.keep_names.insert(passes.keep.begin(), passes.keep.end());
  lower.is_wanted = passes.is_wanted;
  lower.memory = passes.memory;
  SLUICE_RETURN_IF_ERROR(LowerFunctions(*pruned, graph.function_library(), lower).status());
  SLUICE_RETURN_IF_ERROR(RunPasses(PassStage::kPruned, *pruned, passes));
  SLUICE_RETURN_IF_ERROR(PlaceNodes(*pruned));
  SLUICE_RETURN_IF_ERROR(RunPasses(PassStage::kPlaced, *pruned, passes));
  return pruned;
}

absl::Status StepGraphMaker::PlaceNodes(Graph& graph) {
  for (Node* node : graph.nodes()) {
    auto placed = stateful_devices_.find(node->name());
    if (placed != stateful_devices_.end()) node->set_device(placed->second);
  }
  SLUICE_RETURN_IF_ERROR(Place(graph, devices_, placement_));
  for (Node* node : graph.nodes()) {
    if (placement_.allow_soft_placement && TakesFunctions(*node)) {
      node->SetAttr(kAllowSoftPlacement, true);
    }
    if (node->IsStateful()) stateful_devices_.emplace(node->name(), node->assigned_device());
  }
  return absl::OkStatus();
}

}  // namespace sluice
