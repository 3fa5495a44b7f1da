// All while loops that one call of Gradients goes through.
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

  // Makes the backward loops of the loops whose Exits are among `between`, and adds their other
  // Exits to it. FAILED_PRECONDITION for a loop whose context is not known.
  absl::Status Find(std::vector<Node*>& between_list, std::set<const Node*>& between,
                    bool colocate);
  bool empty() const { return states_.empty(); }

  // The state of the loop that `op` is in; `before` its gradient is made, an Exit's gradient is
  // still outside.
  LoopState* StateOf(const Node& op, bool before) const;
  // The context that op's gradient is made in.
  ControlFlowContext* ContextFor(const Node& op, bool before) const;

  // Of the variables of all forward loops.
  OutputList Enters() const;
  // Exits that nobody uses: those of loops all of whose Exits are unused, or are ys, go first. They
  // get zeros.
  OutputList UnusedExits(const std::map<const Node*, int>& pending,
                         const std::set<const Node*>& ys) const;
  // A gradient for `exit`, whose variable matters though its last value does not.
  Output ZerosForExit(Output exit);
  // Zeros for output i of `op`; invalid where none are wanted.
  Output ZerosFor(Node* op, int i);
  void Close();

 private:
  Graph& graph_;
  ControlFlowContext* const call_;
  std::map<WhileContext*, std::shared_ptr<LoopState>> states_;
  std::vector<LoopState*> order_;
};

}  // namespace sluice::gradient

#endif  // SLUICE_GRAPH_GRADIENT_LOOP_STATES_H_
