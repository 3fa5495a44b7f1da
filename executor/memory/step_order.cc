#include "executor/memory/step_order.h"

#include <algorithm>

#include "executor/fusion/fused_elementwise.h"
#include "executor/plan/op_kind.h"
#include "graph/status.h"

namespace sluice {
namespace {

bool IsControlFlow(const Node& node) {
  switch (OpKindOf(node)) {
    case OpKind::kKernel:
    case OpKind::kConstant:
    case OpKind::kFeed:
    case OpKind::kFetch:
    case OpKind::kPass:
    case OpKind::kNoOp:
      return node.traits().runs_when_dead;
    default:
      return true;
  }
}

std::vector<const Node*> NodesOf(const Plan& plan, const PlanNode& node) {
  if (node.kind != OpKind::kFused) return {node.node};
  std::vector<const Node*> nodes;
  for (const FusedMember& member : plan.fused[node.aux]->members()) nodes.push_back(member.node);
  return nodes;
}

}  // namespace

StepOrder::StepOrder(const Plan& plan)
    : numbers_(plan.graph->num_node_ids(), -1), is_certain_(plan.graph->num_node_ids(), false) {
  const Body& root = plan.bodies[0];
  std::vector<const Node*> sums;
  for (size_t u = 0; u < root.units.size(); ++u) {
    for (uint32_t i = 0; i < root.units[u].num_nodes; ++i) {
      const PlanNode& node = root.nodes[root.units[u].first_node + i];
      for (const Node* member : NodesOf(plan, node)) {
        numbers_[member->id()] = static_cast<int>(at_.size());
      }
      at_.push_back(NodesOf(plan, node));
      units_.push_back(static_cast<int>(u));
      // A sum whose kernel accumulate_sums has removed.
      if (node.kind == OpKind::kPass && OpKindOf(*node.node) == OpKind::kKernel) {
        sums.push_back(node.node);
      }
    }
  }
  for (const Node* sum : sums) AddSum(*sum);
}

void StepOrder::AddSum(const Node& sum) {
  std::vector<const Node*> terms;
  for (const Output& input : sum.inputs()) {
    const Node* term = input.node;
    while (OpKindOf(*term) == OpKind::kPass) term = term->input(0).node;
    terms.push_back(term);
  }
  std::sort(terms.begin(), terms.end(),
            [&](const Node* a, const Node* b) { return NumberOf(*a) < NumberOf(*b); });
  sums_.push_back(sum.id());
  for (const Node* term : terms) sums_.push_back(term->id());
}

absl::StatusOr<StepOrder> StepOrder::Of(const Plan& plan) {
  StepOrder order(plan);
  SLUICE_ASSIGN_OR_RETURN(const std::vector<Node*> nodes, TopologicalOrder(*plan.graph));
  for (const Node* node : nodes) {
    const auto certain = [&](const Node* before) { return order.IsCertain(*before); };
    const auto controls = node->control_inputs();
    order.is_certain_[node->id()] =
        !IsControlFlow(*node) && std::all_of(controls.begin(), controls.end(), certain) &&
        std::all_of(node->inputs().begin(), node->inputs().end(),
                    [&](const Output& in) { return in && certain(in.node); });
  }
  return order;
}

}  // namespace sluice
