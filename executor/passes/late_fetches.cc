#include "executor/passes/late_fetches.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "executor/passes/run_order.h"
#include "graph/build/core_ops.h"
#include "graph/ir/control_flow.h"
#include "graph/ir/frames.h"
#include "graph/ir/variable_use.h"
#include "graph/status.h"

namespace sluice {
namespace {

bool IsOfClient(const Node& node) { return node.AttrOr<bool>("client_terminated", false); }

// A fetch of a partial run is a Send to the client.
bool IsFetch(const Node& node) {
  return node.role() == OpRole::kFetch || (node.role() == OpRole::kSend && IsOfClient(node));
}

bool UpdatesItsVariable(const Node& node) {
  const VariableUse use = node.traits().variable_use;
  return node.role() == OpRole::kKernel &&
         (use == VariableUse::kUpdates || use == VariableUse::kAssigns);
}

// Nodes with equal names create the same variable.
std::string NameOf(const Node& variable) {
  const std::string shared = variable.AttrOr<std::string>("shared_name", "");
  return StrCat(variable.AttrOr<std::string>("container", ""), ";",
                shared.empty() ? variable.name() : shared);
}

class FetchOrder {
 public:
  explicit FetchOrder(Graph& graph) : graph_(graph) {}

  absl::StatusOr<int> Apply() {
    std::vector<Node*> fetches;
    std::vector<Node*> feeds;
    for (Node* node : graph_.nodes()) {
      const bool is_variable = IsFetch(*node) && FindVariableValue(node->input(0));
      if (is_variable) fetches.push_back(node);
      if (node->role() == OpRole::kReceive && IsOfClient(*node)) feeds.push_back(node);
    }
    if (fetches.empty()) return 0;
    FindUpdates(NodesAfter(feeds));
    if (updates_.empty()) return 0;
    SLUICE_ASSIGN_OR_RETURN(const std::vector<Node*> nodes, TopologicalOrder(graph_));
    SLUICE_ASSIGN_OR_RETURN(frames_, AssignFrames(graph_, nodes));
    conditional_ = ConditionalNodes(graph_);
    int ordered = 0;
    for (Node* fetch : fetches) {
      SLUICE_ASSIGN_OR_RETURN(const bool waits, Order(fetch));
      if (waits) ++ordered;
    }
    return ordered;
  }

 private:
  struct Updates {
    std::vector<Node*> nodes;
    std::vector<Node*> ends;  // nodes in no loop that run after `nodes`
    bool may_be_dead = false;
  };

  void FindUpdates(const std::unordered_set<const Node*>& after_feeds) {
    for (Node* node : graph_.nodes()) {
      if (!UpdatesItsVariable(*node) || after_feeds.contains(node)) continue;
      for (int i = 0; i < node->num_inputs(); ++i) {
        const bool takes_variable =
            IsRefType(node->input_type(i)) || node->input_type(i) == DT_RESOURCE;
        if (!takes_variable) continue;
        const Node* variable = VariableBehind(node->input(i));
        if (variable != nullptr) updates_[NameOf(*variable)].nodes.push_back(node);
      }
    }
  }

  absl::StatusOr<bool> Order(Node* fetch) {
    const std::optional<VariableValue> value = FindVariableValue(fetch->input(0));
    if (!value) return false;
    const Node* variable = VariableBehind(value->variable);
    const auto updates = variable == nullptr ? updates_.end() : updates_.find(NameOf(*variable));
    if (updates == updates_.end() || IsBeforeAny(*value, updates->second)) return false;
    SLUICE_ASSIGN_OR_RETURN(Node * reader, ReaderFor(fetch, *value));
    FindEnds(&updates->second);
    if (!updates->second.may_be_dead) {
      for (Node* end : updates->second.ends) graph_.AddControlEdge(end, reader);
      return true;
    }
    SLUICE_ASSIGN_OR_RETURN(Node * trigger, TriggerAfter(updates->second, *variable));
    graph_.AddControlEdge(trigger, reader);
    return true;
  }

  // Whether an update waits for the read of the value. The fetch then keeps this value.
  static bool IsBeforeAny(const VariableValue& value, const Updates& updates) {
    std::vector<Node*> first;
    const bool is_reference = IsRefType(value.variable.dtype());
    if (is_reference) {
      for (const Node* node : value.nodes) {
        first.insert(first.end(), node->control_outputs().begin(), node->control_outputs().end());
      }
    } else {
      first = {value.nodes.back()};
    }
    std::unordered_set<const Node*> after = NodesAfter(first);
    after.insert(first.begin(), first.end());
    return std::any_of(updates.nodes.begin(), updates.nodes.end(),
                       [&](const Node* update) { return after.contains(update); });
  }

  // The node that reads the variable for the fetch, and for no other node.
  absl::StatusOr<Node*> ReaderFor(Node* fetch, const VariableValue& value) {
    if (value.nodes.empty()) return fetch;
    Node* read = value.nodes.back();
    if (AreOnlyFetched(value.nodes)) return read;
    NodeSpec spec;
    spec.name = StrCat(read->name(), "/_fetch_", fetch->id());
    spec.op = read->op();
    spec.inputs = {value.variable};
    spec.control_inputs = {value.nodes.front()};
    spec.device = read->device();
    spec.attrs = read->attrs();
    spec.at = read->at();
    SLUICE_ASSIGN_OR_RETURN(Node * reader, graph_.Add(std::move(spec)));
    reader->set_assigned_device(read->assigned_device());
    reader->set_output_shape(0, read->output_shape(0));
    fetch->set_device(read->device());
    fetch->set_assigned_device(read->assigned_device());
    SLUICE_RETURN_IF_ERROR(graph_.UpdateInput(fetch, 0, Output(reader)));
    return reader;
  }

  static bool AreOnlyFetched(const std::vector<Node*>& nodes) {
    return std::all_of(nodes.begin(), nodes.end(), [&](const Node* node) {
      return node->control_outputs().empty() &&
             std::all_of(node->uses().begin(), node->uses().end(), [&](const Use& use) {
               return IsFetch(*use.dst) ||
                      std::find(nodes.begin(), nodes.end(), use.dst) != nodes.end();
             });
    });
  }

  void FindEnds(Updates* updates) const {
    if (!updates->ends.empty()) return;
    std::set<Node*, bool (*)(const Node*, const Node*)> ends(
        [](const Node* a, const Node* b) { return a->id() < b->id(); });
    for (Node* update : updates->nodes) {
      updates->may_be_dead |= conditional_[update->id()];
      if (frames_.of_node[update->id()] == 0) {
        ends.insert(update);
      } else {
        for (Node* exit : ExitsAfter(update)) ends.insert(exit);
      }
    }
    updates->ends.assign(ends.begin(), ends.end());
  }

  // The Exits through which the outermost loop around `node` ends.
  std::vector<Node*> ExitsAfter(Node* node) const {
    std::vector<Node*> exits;
    std::vector<Node*> open = {node};
    std::unordered_set<const Node*> seen = {node};
    while (!open.empty()) {
      Node* from = open.back();
      open.pop_back();
      if (IsExit(*from) && frames_.of_outputs[from->id()] == 0) {
        exits.push_back(from);
        continue;
      }
      for (const Use& use : from->uses()) {
        if (seen.insert(use.dst).second) open.push_back(use.dst);
      }
      for (Node* next : from->control_outputs()) {
        if (seen.insert(next).second) open.push_back(next);
      }
    }
    return exits;
  }

  // A node that is never dead and runs after the updates.
  absl::StatusOr<Node*> TriggerAfter(const Updates& updates, const Node& variable) {
    Node*& trigger = triggers_[&variable];
    if (trigger != nullptr) return trigger;
    NodeSpec spec = core::ControlTriggerSpec(StrCat(variable.name(), "/_updated"));
    spec.control_inputs = updates.ends;
    spec.device = variable.device();
    spec.attrs["_class"] = std::vector<std::string>{StrCat("loc:@", variable.name())};
    SLUICE_ASSIGN_OR_RETURN(trigger, graph_.Add(std::move(spec)));
    trigger->set_assigned_device(variable.assigned_device());
    return trigger;
  }

  Graph& graph_;
  Frames frames_;                           // of the nodes before the pass
  std::vector<bool> conditional_;           // the same, by node id
  std::map<std::string, Updates> updates_;  // by NameOf the variable
  std::map<const Node*, Node*> triggers_;   // by variable
};

}  // namespace

absl::StatusOr<int> FetchVariablesLate(Graph& graph, const PassOptions&) {
  return FetchOrder(graph).Apply();
}

}  // namespace sluice
