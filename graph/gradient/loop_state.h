// One while loop that a gradient goes through, and the loop that goes back.
//
// The forward loop gets a counter; the backward loop counts down from it. A value of the forward
// loop that the gradient needs is pushed on a stack in each iteration and popped in the same one
// going back; constants of the loop are entered again instead. Pushes are ordered before the next
// forward iteration and pops before the next backward one, so that the stack's order is that of
// the iterations, however many are open.
// Reference behaviour: TensorFlow's gradients of loops with control flow v1: same nodes and names.
#ifndef SLUICE_GRAPH_GRADIENT_LOOP_STATE_H_
#define SLUICE_GRAPH_GRADIENT_LOOP_STATE_H_

#include <map>
#include <set>

#include "graph/build/while.h"
#include "graph/gradient/gradients.h"

namespace sluice::gradient {

class LoopState final : public LoopHistory {
 public:
  // Adds the counters of both loops. `outer` is the state of the loop around, null for none; the
  // call's context is the one in which Gradients was called.
  LoopState(Graph& graph, WhileContext* forward, LoopState* outer, ControlFlowContext* call);
  // That of the loop which is being built now; null if it is no gradient's.
  static LoopState* Current(const Graph& graph);

  WhileContext* forward() const override { return forward_; }
  WhileContext* backward() const { return backward_; }
  LoopState* outer() const { return outer_; }
  Output RealValue(Output value) override;

  // A stack on which the forward loop pushes `value`; and what the backward loop pops from it. With
  // kOther the value is of the branch that `value`'s context is not.
  enum class Branch { kSame, kOther };
  Output Push(Output value, Branch branch = Branch::kSame);
  Output Pop(Output stack, Output value, Branch branch = Branch::kSame);
  // The predicate of a cond inside the forward loop, as the backward loop sees it.
  Output Predicate(Output pred);

  // Sums up `grad` of the constant Enter `op` over the iterations.
  Grad Accumulate(const Node& op, const Grad& grad);
  // The gradient that arrives at a variable's Switch: once from the Exit, once from the body.
  Output SwitchFromExit(const Node& op, Output grad);
  bool HasSwitch(const Node& op) const { return switches_.contains(&op); }
  void SwitchFromBody(const Node& op, Output grad);
  // A variable that does not depend on what it was before has no gradient from the body: zeros.
  void CloseSwitches();

  // Exits of the forward loop that the gradient knows of.
  OutputList forward_exits;
  int exits_to_come = 0;
  OutputList unused_exits;
  OutputList deferred_exits;

 private:
  Output AddForwardCounter();
  void AddBackwardCounter(Output count);
  Node* ForwardSync();
  Node* BackwardSync();
  Node* ForwardAdd() const { return forward_index_->input(0).node; }
  Output ZerosOutside(const Node& enter, DataType dtype);
  Output AccumulateDense(const Node& op, Output grad);
  IndexedSlices AccumulateSlices(const Node& op, const IndexedSlices& grad);
  // The Enter of a new variable of the backward loop; with `shape`, if it does not keep its own.
  Output NewVariable(Output first, const PartialShape* shape);

  Graph& graph_;
  WhileContext* const forward_;
  LoopState* const outer_;
  ControlFlowContext* const call_;
  WhileContext* backward_ = nullptr;
  Node* forward_index_ = nullptr;   // NextIteration of the counter
  Node* backward_index_ = nullptr;  // likewise
  Node* forward_sync_ = nullptr;
  Node* backward_sync_ = nullptr;
  std::map<Output, Output> history_;         // forward value -> backward value
  std::map<const Node*, Output> switches_;   // forward Switch -> backward Merge
  std::vector<const Node*> switches_order_;  // as they were met
};

}  // namespace sluice::gradient

#endif  // SLUICE_GRAPH_GRADIENT_LOOP_STATE_H_
