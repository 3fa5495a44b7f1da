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

  // Adds the backward loops of the loops whose Exits are among `between`, and adds their other
  // Exits to `between`. FAILED_PRECONDITION for a loop with unknown context.
  absl::Status Find(std::vector<Node*>& between_list, std::set<const Node*>& between,
                    bool colocate);
  bool empty() const { return states_.empty(); }

  // The state of the loop around `op`. With `before`, an Exit counts as a node outside its loop:
  // its gradient is still outside the backward loop before the gradient function of Exit has run.
  LoopState* StateOf(const Node& op, bool before) const;
  // The context of op's gradient.
  ControlFlowContext* ContextFor(const Node& op, bool before) const;

  // The Enters of the variables of all forward loops.
  OutputList Enters() const;
  // The unused Exits of loops whose other Exits are all unused or ys. The walk starts from them
  // too, with zeros as gradients.
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
