// Nodes of a graph that are computed a second time, later; with a way back.
#ifndef SLUICE_EXECUTOR_PASSES_NODE_COPIES_H_
#define SLUICE_EXECUTOR_PASSES_NODE_COPIES_H_

#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "graph/ir/graph.h"

namespace sluice {

class NodeCopies {
 public:
  explicit NodeCopies(Graph& graph) : graph_(graph) {}

  // Null where there is none.
  Node* Of(const Node& original) const;
  bool IsCopy(const Node& node) const { return triggers_.contains(&node); }
  // The node that a copy waits for.
  Node* TriggerOf(const Node& copy) const { return triggers_.at(&copy); }
  bool empty() const { return triggers_.empty(); }

  // A copy reads copies of what its original reads, where there are some, but for `sources`.
  absl::Status Add(const Node& original, Node* trigger, const std::vector<Output>& sources);
  void SetTrigger(Node* copy, Node* trigger);
  // Such a reader of the original reads its copy.
  absl::Status Redirect(const Use& use);

  // What was done since the last of these two stays, or never was: to the order of the edges.
  void Keep();
  absl::Status Undo();

 private:
  struct Edges {
    std::vector<Use> uses;
    std::vector<Node*> control_outputs;
  };
  void Save(Node* node);

  Graph& graph_;
  std::unordered_map<const Node*, Node*> copies_;    // by original
  std::unordered_map<const Node*, Node*> triggers_;  // by copy
  std::vector<Node*> added_;
  std::vector<std::pair<Node*, Node*>> old_triggers_;  // of copies, in order
  std::vector<std::pair<Node*, Edges>> saved_;         // that begin at a node, as they were
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_NODE_COPIES_H_
