#include "executor/compiler/compile.h"

#include <limits>
#include <optional>
#include <utility>

#include "executor/compiler/pass_table.h"
#include "executor/fusion/fusible.h"
#include "executor/memory/memory_plan.h"
#include "executor/plan/assemble.h"
#include "executor/plan/draft.h"
#include "executor/plan/error_at.h"
#include "executor/plan/phases.h"
#include "executor/plan/units.h"
#include "graph/hash.h"
#include "graph/ir/frame_id.h"
#include "graph/ir/unregistered_op.h"
#include "graph/status.h"

namespace sluice {
namespace {

// The kernel of a placeholder that is not fed. It returns an error if it runs.
class UnfedPlaceholder final : public Kernel {
 public:
  explicit UnfedPlaceholder(const Node& node)
      : message_(StrCat("You must feed a value for placeholder tensor '", node.name(),
                        "' with dtype ", DataTypeName(node.output_type(0)))) {
    const PartialShape* shape = node.FindAttr<PartialShape>("shape");
    if (shape != nullptr && shape->rank() > 0) {
      StrAppend(&message_, " and shape ", shape->ToString());
    }
  }
  absl::Status Compute(KernelContext&) override { return absl::InvalidArgumentError(message_); }
  bool IsExpensive() const override { return false; }

 private:
  std::string message_;
};

absl::StatusOr<std::shared_ptr<Kernel>> KernelOf(const Node& node, const CompileOptions& options) {
  if (!IsRegistered(node)) return UnregisteredOpError(node);
  if (node.role() == OpRole::kPlaceholder) return std::make_shared<UnfedPlaceholder>(node);
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

void AddBody(const DraftBody& draft, const UnitAssignment& units, const CompileOptions& options,
             Plan* plan) {
  Body& body = plan->bodies.emplace_back(AssembleBody(draft, units));
  body.frame_name_hash = Hash64(draft.frame_name);
  if (!options.device) return;
  for (PlanNode& node : body.nodes) node.device = static_cast<uint16_t>(options.device(*node.node));
}

void AddLoops(const Draft& draft, const CompileOptions& options, Plan* plan) {
  std::vector<bool> phased(draft.bodies.size(), false);
  std::vector<uint32_t> phased_bodies(draft.bodies.size(), 0);
  for (size_t b = draft.bodies.size(); b-- > 1;) {  // inner loops come after outer loops
    if (!draft.bodies[b].is_simple_loop) continue;
    const std::optional<DraftBody> body = InPhases(draft.bodies[b], draft.loops, phased);
    if (!body) continue;
    phased[b] = true;
    phased_bodies[b] = static_cast<uint32_t>(plan->bodies.size());
    AddBody(*body, AssignUnits(*body), options, plan);
  }
  for (int b : draft.loops) {
    const DraftBody& body = draft.bodies[b];
    plan->loops.push_back({static_cast<uint32_t>(b), static_cast<uint32_t>(body.num_variables),
                           static_cast<uint32_t>(body.num_invariants), phased_bodies[b]});
  }
}

// Fuses and orders the bodies.
absl::StatusOr<Draft> FusedDraft(const Graph& graph,
                                 const std::vector<std::shared_ptr<Kernel>>& kernels,
                                 const PassOptions& passes, bool dynamic_loops) {
  SLUICE_ASSIGN_OR_RETURN(Draft draft, MakeDraft(graph, kernels, dynamic_loops));
  for (DraftBody& body : draft.bodies) {
    FuseBody(body, draft, passes);
    MarkScalarLoops(body);
    if (OrderItems(body)) continue;
    // Outside the loop, one of its Exits leads to one of its Enters: the loop cannot be one node.
    if (!dynamic_loops) return FusedDraft(graph, kernels, passes, /*dynamic_loops=*/true);
    return absl::InternalError("frames of the graph are cyclic");
  }
  return draft;
}

class LimitPlanner final : public StepPlanner {
 public:
  LimitPlanner(const std::shared_ptr<Graph>& graph, const std::vector<TensorShape>& feeds,
               const CompileOptions& options)
      : graph_(graph), feeds_(feeds), options_(options) {}
  absl::StatusOr<PlannedStep> Plan() override {
    SLUICE_ASSIGN_OR_RETURN(last_.plan, CompilePlan(graph_, options_));
    last_.memory = MemoryOf(*last_.plan, feeds_);
    return last_;
  }
  // The last plan. Null if there is none.
  const PlannedStep& last() const { return last_; }

 private:
  const std::shared_ptr<Graph>& graph_;
  const std::vector<TensorShape>& feeds_;
  const CompileOptions& options_;
  PlannedStep last_;
};

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
  SLUICE_ASSIGN_OR_RETURN(Draft draft,
                          FusedDraft(*graph, kernels, options.passes, options.dynamic_loops));
  std::vector<UnitAssignment> units;
  for (const DraftBody& body : draft.bodies) {
    units.push_back(AssignUnits(body));
    AddBody(body, units.back(), options, plan.get());
  }
  LinkFrames(draft, units, plan.get());
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

absl::StatusOr<PlannedStep> CompileWithinLimit(const std::shared_ptr<Graph>& graph,
                                               const std::vector<TensorShape>& feeds,
                                               const CompileOptions& options) {
  LimitPlanner planner(graph, feeds, options);
  PassOptions passes = options.passes;
  passes.planner = &planner;
  SLUICE_RETURN_IF_ERROR(RunPasses(PassStage::kLimit, *graph, passes));
  if (planner.last().plan == nullptr) SLUICE_RETURN_IF_ERROR(planner.Plan().status());
  return planner.last();
}

}  // namespace sluice
