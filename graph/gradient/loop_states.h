// All while loops that one call of Gradients differentiates.
#ifndef SLUICE_GRAPH_GRADIENT_LOOP_STATES_H_
#define SLUICE_GRAPH_GRADIENT_LOOP_STATES_H_

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "graph/gradient/loop_state.h"

namespace sluice::gradient {

class LoopStates {
 public:
  explicit LoopStates(Graph& graph);

  // `between` are the nodes on paths from the xs to the ys. Adds a backward loop for each loop with
  // an Exit among them, and adds the loop's other Exits to `between`. FAILED_PRECONDITION for a
  // loop with unknown context.
  absl::Status Find(std::vector<Node*>& between_list, std::set<const Node*>& between,
                    bool colocate);
  bool empty() const { return states_.empty(); }

  // Returns the state of the loop that contains `op`, or null. An Exit belongs to its own loop.
  // With `before` it belongs to the loop around: the backward loop is entered only when the Exit's
  // gradient function runs, and `before` asks for the state before that.
  LoopState* StateOf(const Node& op, bool before) const;
  // The context of op's gradient.
  ControlFlowContext* ContextFor(const Node& op, bool before) const;

  // The Enters of the variables of all forward loops.
  OutputList Enters() const;
  // Returns the Exits that no node reads, of loops whose other Exits are either unread too or among
  // the ys. The traversal starts from these Exits as well, with zeros as their gradients.
  OutputList UnusedExits(const std::map<const Node*, int>& pending,
                         const std::set<const Node*>& ys) const;
  // The zero gradient of `exit`, whose variable matters although its last value does not.
  Output ZerosForExit(Output exit);
  // Zeros for output i of `op`. Invalid for a loop's Switch.
  Output ZerosFor(Node* op, int i);
  void Close();

 private:
  Output SwitchedZeros(LoopState& state, const CondContext& cond, Output zeros);
  Output ShapeOnOtherBranch(Node* op, const CondContext& cond);

  Graph& graph_;
  ControlFlowContext* const call_;
  std::map<WhileContext*, std::shared_ptr<LoopState>> states_;
  std::vector<LoopState*> order_;
};

}  // namespace sluice::gradient

#endif  // SLUICE_GRAPH_GRADIENT_LOOP_STATES_H_
