#include "executor/compiler/pass_table.h"

#include "absl/strings/str_join.h"
#include "executor/fusion/accumulate_sums.h"
#include "executor/fusion/fuse_elementwise.h"
#include "executor/fusion/tile_updates.h"
#include "executor/memory/rematerialize.h"
#include "executor/passes/choose_layout.h"
#include "executor/passes/defer_adam.h"
#include "executor/passes/fold_constants.h"
#include "executor/passes/fold_transposes.h"
#include "executor/passes/fuse_attention.h"
#include "executor/passes/join_pads.h"
#include "executor/passes/late_fetches.h"
#include "executor/passes/late_reads.h"
#include "executor/passes/narrow_products.h"
#include "executor/passes/pack_operands.h"
#include "executor/passes/simplify.h"
#include "executor/passes/subexpressions.h"
#include "executor/passes/unused_nodes.h"
#include "graph/status.h"

namespace sluice {
namespace {

constexpr char kSameBits[] = "same bits";
constexpr char kSums[] = "sums may be in another order";

constexpr Pass kPasses[] = {
    {"late_fetches", PassStage::kPruned, "makes fetches see the updates that TensorFlow's see",
     "fetches variables after the updates of the step", FetchVariablesLate, nullptr,
     /*can_be_disabled=*/false},
    {"fold_constants", PassStage::kPruned, kSameBits,
     "computes nodes that depend only on constants once, before the first step", FoldConstants},
    {"choose_layout", PassStage::kPruned, kSums,
     "runs image ops built for NCHW in NHWC, the layout that their kernels compute in",
     ChooseLayout},
    {"simplify", PassStage::kPruned, kSameBits,
     "removes nodes whose result exists already, such as transposes that cancel", Simplify},
    {"fold_transposes", PassStage::kPruned, kSums,
     "lets matrix products read a matrix instead of its transpose", FoldTransposes},
    {"join_pads", PassStage::kPruned, "zeros may have another sign",
     "concatenates padded parts instead of adding them", JoinPads},
    {"common_subexpressions", PassStage::kPruned, kSameBits, "merges nodes that compute the same",
     MergeCommonSubexpressions},
    {"unused_nodes", PassStage::kPruned, kSameBits,
     "removes pure nodes whose outputs no node reads", RemoveUnusedNodes},
    {"fuse_attention", PassStage::kPruned,
     "sums may be in another order, and quotients by a constant may round differently",
     "runs softmax attention as one node and its gradients as another", FuseAttention},
    {"narrow_products", PassStage::kPruned, kSums,
     "computes only the columns of a matrix product that are read", NarrowProducts},
    {"pack_operands", PassStage::kPruned, kSums,
     "packs weights once for all matrix products that read them", PackOperands},
    {"late_reads", PassStage::kPlaced, "makes reads see the updates that TensorFlow's see",
     "reads reference variables when they are used", ReadVariablesLate, nullptr,
     /*can_be_disabled=*/false},
    {"defer_adam", PassStage::kPlaced, kSameBits,
     "updates only the rows with a gradient in sparse Adam, and the others when they are read",
     DeferAdam},
    {"rematerialize", PassStage::kLimit, kSameBits,
     "recomputes results instead of keeping them, to meet the memory limit", Rematerialize},
    {"accumulate_sums", PassStage::kDraft, kSums,
     "adds the terms of a sum of matrix products as they are computed", nullptr, AccumulateSums},
    {"tile_updates", PassStage::kDraft, kSameBits,
     "updates a variable by a matrix product tile by tile", nullptr, TileUpdates},
    {"fuse_elementwise", PassStage::kDraft, kSameBits,
     "runs groups of elementwise nodes tile by tile", nullptr, FuseElementwise},
};

}  // namespace

absl::Span<const Pass> PassTable() { return kPasses; }

const std::set<std::string>& PassNames() {
  static const auto& names = *[] {
    auto* all = new std::set<std::string>{"all"};
    for (const Pass& pass : kPasses) {
      if (pass.can_be_disabled) all->insert(pass.name);
    }
    return all;
  }();
  return names;
}

absl::Status CheckDisabledPasses(const std::set<std::string>& disabled) {
  for (const std::string& pass : disabled) {
    if (PassNames().contains(pass)) continue;
    return InvalidArgument("SessionOptions::disabled_passes: no pass '", pass, "'; there are ",
                           absl::StrJoin(PassNames(), ", "));
  }
  return absl::OkStatus();
}

absl::Status RunPasses(PassStage stage, Graph& graph, const PassOptions& options) {
  for (const Pass& pass : kPasses) {
    if (pass.stage != stage || (pass.can_be_disabled && options.IsDisabled(pass.name))) continue;
    if (options.is_wanted && !options.is_wanted()) {
      return absl::CancelledError("Run call was cancelled");
    }
    SLUICE_RETURN_IF_ERROR(pass.run(graph, options).status());
  }
  return absl::OkStatus();
}

void FuseBody(DraftBody& body, Draft& draft, const PassOptions& options) {
  for (const Pass& pass : kPasses) {
    if (pass.stage == PassStage::kDraft && !options.IsDisabled(pass.name)) pass.fuse(body, draft);
  }
}

}  // namespace sluice
