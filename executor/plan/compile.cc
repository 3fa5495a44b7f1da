#include "executor/plan/compile.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "executor/plan/draft.h"
#include "executor/plan/error_at.h"
#include "executor/plan/frame_id.h"
#include "executor/plan/layout.h"
#include "executor/plan/phases.h"
#include "executor/plan/units.h"
#include "graph/hash.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Stands for a placeholder that was not fed.
class UnfedPlaceholder final : public Kernel {
 public:
  explicit UnfedPlaceholder(const Node& node)
      : message_(StrCat("You must feed a value for placeholder tensor '", node.name(),
                        "' with dtype ", DataTypeName(node.output_type(0)))) {
    const PartialShape* shape = node.FindAttr<PartialShape>("shape");
    if (shape != nullptr && shape->rank() > 0)
      StrAppend(&message_, " and shape ", shape->ToString());
  }
  absl::Status Compute(KernelContext&) override { return absl::InvalidArgumentError(message_); }
  bool IsExpensive() const override { return false; }

 private:
  std::string message_;
};

absl::StatusOr<std::shared_ptr<Kernel>> KernelOf(const Node& node, const CompileOptions& options) {
  if (IsPlaceholder(node)) return std::make_shared<UnfedPlaceholder>(node);
  absl::StatusOr<std::shared_ptr<Kernel>> kernel = options.kernel(node);
  if (kernel.ok()) return kernel;
  return ErrorAt(node, kernel.status());
}

absl::Status CheckLimits(const Node& node) {
  constexpr int kMost = std::numeric_limits<uint16_t>::max();
  if (node.num_inputs() <= kMost && node.num_outputs() <= kMost) return absl::OkStatus();
  return InvalidArgument(node.Describe(), ": expected at most ", kMost, " inputs and outputs, got ",
                         node.num_inputs(), " and ", node.num_outputs());
}

std::vector<bool> ExpensiveItems(const DraftBody& body, const std::vector<bool>& expensive) {
  if (expensive.empty()) return {};
  std::vector<bool> items(body.items.size(), false);
  for (size_t i = 0; i < items.size(); ++i) {
    const DraftItem& item = body.items[i];
    items[i] =
        (item.kind == OpKind::kKernel || item.kind == OpKind::kLoop) && expensive[item.node->id()];
  }
  return items;
}

void AddBody(const DraftBody& draft, const Partition& partition, const CompileOptions& options,
             Plan* plan) {
  Body& body = plan->bodies.emplace_back(LayOut(draft, partition));
  body.frame_name_hash = Hash64(draft.frame_name);
  if (!options.device) return;
  for (PlanNode& node : body.nodes) node.device = static_cast<uint16_t>(options.device(*node.node));
}

void AddLoops(const Draft& draft, const CompileOptions& options, Plan* plan) {
  std::vector<bool> phased(draft.bodies.size(), false);
  std::vector<uint32_t> phased_bodies(draft.bodies.size(), 0);
  for (size_t b = draft.bodies.size(); b-- > 1;) {  // loops inside come behind
    if (!draft.bodies[b].is_simple_loop) continue;
    const std::optional<DraftBody> body = InPhases(draft.bodies[b], draft.loops, phased);
    if (!body) continue;
    phased[b] = true;
    phased_bodies[b] = static_cast<uint32_t>(plan->bodies.size());
    AddBody(*body, PartitionItems(*body, {}), options, plan);
  }
  for (int b : draft.loops) {
    const DraftBody& body = draft.bodies[b];
    plan->loops.push_back({static_cast<uint32_t>(b), static_cast<uint32_t>(body.num_variables),
                           static_cast<uint32_t>(body.num_invariants), phased_bodies[b]});
  }
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Plan>> CompilePlan(std::shared_ptr<const Graph> graph,
                                                        const CompileOptions& options) {
  auto plan = std::make_shared<Plan>();
  std::vector<std::shared_ptr<Kernel>> kernels(graph->num_node_ids());
  for (const Node* node : graph->nodes()) {
    SLUICE_RETURN_IF_ERROR(CheckLimits(*node));
    if (OpKindOf(*node) != OpKind::kKernel) continue;
    SLUICE_ASSIGN_OR_RETURN(kernels[node->id()], KernelOf(*node, options));
  }
  SLUICE_ASSIGN_OR_RETURN(Draft draft, MakeDraft(*graph, kernels,
                                                 {.dynamic_loops = options.dynamic_loops,
                                                  .fuse_elementwise = options.fuse_elementwise,
                                                  .accumulate_sums = options.accumulate_sums,
                                                  .tile_updates = options.tile_updates}));
  std::vector<Partition> partitions;
  for (const DraftBody& body : draft.bodies) {
    const bool parallel = !body.is_simple_loop;
    partitions.push_back(PartitionItems(
        body, parallel ? ExpensiveItems(body, options.expensive) : std::vector<bool>()));
    AddBody(body, partitions.back(), options, plan.get());
  }
  LinkFrames(draft, partitions, plan.get());
  AddLoops(draft, options, plan.get());
  plan->constants = std::move(draft.constants);
  plan->fused = std::move(draft.fused);
  plan->num_feeds = static_cast<uint32_t>(draft.num_feeds);
  plan->num_fetches = static_cast<uint32_t>(draft.num_fetches);
  plan->kernels = std::move(kernels);
  plan->kernels.insert(plan->kernels.end(), draft.kernels.begin(), draft.kernels.end());
  plan->graph = std::move(graph);
  return std::shared_ptr<const Plan>(std::move(plan));
}

}  // namespace sluice
