#include "executor/passes/late_reads.h"

#include <map>
#include <unordered_set>
#include <vector>

#include "executor/passes/run_order.h"
#include "graph/ir/constant.h"
#include "graph/ir/control_flow.h"
#include "graph/ir/variable_use.h"
#include "graph/status.h"

namespace sluice {
namespace {

// The variable that a reference leads to; null if it is not known before the step.
const Node* VariableOf(Output reference) {
  while (reference && IsRefType(reference.dtype())) {
    const Node& node = *reference.node;
    if (CreatesVariable(node)) return &node;
    // Updates return the reference that is their first input.
    const bool passes_on = node.num_inputs() > 0 && reference.index == 0 &&
                           IsRefType(node.input_type(0)) && !IsSwitch(node) && !IsMerge(node);
    if (!passes_on) return nullptr;
    reference = node.input(0);
  }
  return nullptr;
}

// The nodes of a step that use one variable.
struct Accesses {
  std::vector<Node*> updates;                   // take the reference
  std::vector<std::pair<Node*, Output>> reads;  // an Identity, and the reference behind it
};

void AddReads(Node* identity, const Output& reference, Accesses* accesses) {
  // Without recursion: Identities may be a chain of many thousands.
  std::vector<Node*> open = {identity};
  while (!open.empty()) {
    Node* node = open.back();
    open.pop_back();
    accesses->reads.emplace_back(node, reference);
    for (const Use& use : node->uses()) {
      if (OnlyPassesOn(*use.dst)) open.push_back(use.dst);
    }
  }
}

std::map<int, Accesses> AccessesByVariable(const Graph& graph) {
  std::map<int, Accesses> found;
  for (Node* node : graph.nodes()) {
    for (int i = 0; i < node->num_inputs(); ++i) {
      if (!IsRefType(node->input(i).dtype())) continue;
      const Node* variable = VariableOf(node->input(i));
      if (variable == nullptr) continue;
      Accesses& accesses = found[variable->id()];
      if (IsRefType(node->input_type(i))) {
        accesses.updates.push_back(node);
      } else if (OnlyPassesOn(*node)) {
        AddReads(node, node->input(i), &accesses);
      }
    }
  }
  return found;
}

absl::StatusOr<int> Redirect(Graph& graph, const Accesses& accesses,
                             const std::unordered_set<const Node*>& after) {
  int redirected = 0;
  for (const auto& [identity, reference] : accesses.reads) {
    if (after.contains(identity)) continue;
    const std::vector<Use> uses(identity->uses().begin(), identity->uses().end());
    for (const Use& use : uses) {
      // Inputs of a Merge stay, because it takes the input that is not dead.
      if (!after.contains(use.dst) || IsMerge(*use.dst)) continue;
      if (use.dst->assigned_device() != reference.node->assigned_device()) continue;
      SLUICE_RETURN_IF_ERROR(graph.UpdateInput(use.dst, use.dst_input, reference));
      graph.AddControlEdge(identity, use.dst);
      ++redirected;
    }
  }
  return redirected;
}

}  // namespace

absl::StatusOr<int> ReadVariablesLate(Graph& graph, const PassOptions&) {
  int redirected = 0;
  for (const auto& [id, accesses] : AccessesByVariable(graph)) {
    if (accesses.reads.empty() || accesses.updates.empty()) continue;
    const auto after_any = NodesAfter(accesses.updates);
    bool some_read_late = false;
    for (const auto& [identity, reference] : accesses.reads) {
      for (const Use& use : identity->uses()) some_read_late |= after_any.contains(use.dst);
    }
    if (!some_read_late) continue;
    for (Node* update : accesses.updates) {
      SLUICE_ASSIGN_OR_RETURN(const int more, Redirect(graph, accesses, NodesAfter({update})));
      redirected += more;
    }
  }
  return redirected;
}

}  // namespace sluice
