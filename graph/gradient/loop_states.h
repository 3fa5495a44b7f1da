// LoopStates holds the LoopState of each while loop that one call of Gradients differentiates.
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

  // `between` and `between_list` are the nodes on paths from the xs to the ys. Adds a backward loop
  // for each loop with an Exit among these nodes, and adds the loop's other Exits to `between` and
  // `between_list`. If `colocate`, the nodes of a backward loop are colocated with the first of its
  // loop's Exits in `between_list`.
  // FAILED_PRECONDITION if a loop has no context (graph/format/contexts.h).
  absl::Status Find(std::vector<Node*>& between_list, std::set<const Node*>& between,
                    bool colocate);
  bool empty() const { return states_.empty(); }

  // Returns the state of the loop that contains `op`, or null. `before`: whether the gradient
  // function of `op` has yet to run. This matters for an Exit, whose gradient function enters the
  // backward loop. Before it runs, the state of the surrounding loop is returned.
  LoopState* StateOf(const Node& op, bool before) const;
  // The context in which the gradient of `op` is built.
  ControlFlowContext* ContextFor(const Node& op, bool before) const;

  // The Enters of the variables of all forward loops.
  OutputList Enters() const;
  // Finds the loops whose Exits have no reader on a path to the ys, and returns those of their
  // Exits that are not ys themselves. The traversal starts from the returned Exits too, with zeros
  // as their gradients. `pending` counts the readers of each node on paths to the ys.
  OutputList UnusedExits(const std::map<const Node*, int>& pending,
                         const std::set<const Node*>& ys);
  // Returns zeros as the gradient of `exit`, which gets no gradient from the ys. The backward loop
  // starts with them, because the ys may depend on earlier values of the loop variable.
  Output ZerosForExit(Output exit);
  // Returns zeros as the gradient of output i of `op`. Invalid if `op` is the Switch of a loop
  // variable.
  Output ZerosFor(Node* op, int i);
  // Calls LoopState::CloseSwitches for all loops.
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
