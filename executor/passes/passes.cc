#include "executor/passes/passes.h"

#include "executor/passes/choose_layout.h"
#include "executor/passes/equal_nodes.h"
#include "executor/passes/fold_constants.h"
#include "executor/passes/fold_transposes.h"
#include "executor/passes/fuse_attention.h"
#include "executor/passes/join_pads.h"
#include "executor/passes/narrow_products.h"
#include "executor/passes/pack_operands.h"
#include "executor/passes/simplify.h"
#include "executor/passes/unused_nodes.h"
#include "graph/status.h"

namespace sluice {

absl::Status RunPasses(Graph& graph, const PassOptions& options) {
  if (!options.disabled.contains("fold_constants")) {
    SLUICE_RETURN_IF_ERROR(FoldConstants(graph, options).status());
  }
  if (!options.disabled.contains("choose_layout")) {
    SLUICE_RETURN_IF_ERROR(ChooseLayout(graph, options).status());
  }
  if (!options.disabled.contains("simplify")) {
    SLUICE_RETURN_IF_ERROR(Simplify(graph, options).status());
  }
  if (!options.disabled.contains("fold_transposes")) {
    SLUICE_RETURN_IF_ERROR(FoldTransposes(graph, options).status());
  }
  if (!options.disabled.contains("join_pads")) {
    SLUICE_RETURN_IF_ERROR(JoinPads(graph, options).status());
  }
  if (!options.disabled.contains("common_subexpressions")) {
    SLUICE_RETURN_IF_ERROR(MergeCommonSubexpressions(graph, options).status());
  }
  if (!options.disabled.contains("unused_nodes")) {
    SLUICE_RETURN_IF_ERROR(RemoveUnusedNodes(graph, options).status());
  }
  if (!options.disabled.contains("fuse_attention")) {
    SLUICE_RETURN_IF_ERROR(FuseAttention(graph, options).status());
  }
  if (!options.disabled.contains("narrow_products")) {
    SLUICE_RETURN_IF_ERROR(NarrowProducts(graph, options).status());
  }
  if (!options.disabled.contains("pack_operands")) {
    SLUICE_RETURN_IF_ERROR(PackOperands(graph, options).status());
  }
  return absl::OkStatus();
}

}  // namespace sluice
