// Adds copies of nodes to a graph, so that a step can drop results and compute them again later.
// Estimates what the copies cost.
#ifndef SLUICE_EXECUTOR_MEMORY_NODE_COPIES_H_
#define SLUICE_EXECUTOR_MEMORY_NODE_COPIES_H_

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "executor/memory/memory_plan.h"
#include "graph/ir/graph.h"

namespace sluice {

// Adds copies of nodes, and redirects readers to the copies. The changes can be undone.
class NodeCopies {
 public:
  explicit NodeCopies(Graph& graph) : graph_(graph) {}

  // Returns the copy of a node. Null if it has none.
  Node* Of(const Node& original) const;
  bool IsCopy(const Node& node) const { return triggers_.contains(&node); }
  // The node for which a copy waits, so that it does not run too early.
  Node* TriggerOf(const Node& copy) const { return triggers_.at(&copy); }
  int size() const { return static_cast<int>(triggers_.size()); }

  // Adds a copy that waits for `trigger`. If an input of the original has a copy, the new copy
  // reads the copy of the input. But inputs in `sources`, which are in memory at that time anyway,
  // are read directly, even if they have a copy.
  absl::Status Add(const Node& original, Node* trigger, const std::vector<Output>& sources);
  void SetTrigger(Node* copy, Node* trigger);
  // Makes a reader of an original read the copy of the original instead.
  absl::Status Redirect(const Use& use);

  // Keep makes all changes since the last call of Keep or Undo final. Undo reverts them, including
  // the order of edges.
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
  std::vector<std::pair<Node*, Node*>> old_triggers_;  // copies and their former triggers, in order
  std::vector<std::pair<Node*, Edges>> saved_;         // nodes and their edges before the changes
};

// Estimates what it costs to compute a node a second time in a step.
class CopyCosts {
 public:
  explicit CopyCosts(const MemoryPlan& memory);
  // Returns a rough estimate in nanoseconds on one core.
  double Of(const Node& node) const;

 private:
  double Elements(const Output& tensor) const;

  std::unordered_map<Output, int64_t> bytes_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_MEMORY_NODE_COPIES_H_
