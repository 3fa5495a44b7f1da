// A LoopState holds a while loop that Gradients differentiates (the forward loop), and builds the
// backward loop that computes its gradients.
//
// The forward loop gets a counter, from which the backward loop counts down. A forward value that
// the gradient needs is pushed on a stack in each iteration and popped in the corresponding
// backward iteration. Constants of the loop enter the backward loop instead. Pushes are ordered
// before the next forward iteration and pops before the next backward iteration, so that the stack
// has the order of the iterations even if several of them run at the same time.
//
// Thread safety: that of the graph. The nodes and their names are those of TensorFlow's gradients
// of loops with control flow v1.
#ifndef SLUICE_GRAPH_GRADIENT_LOOP_STATE_H_
#define SLUICE_GRAPH_GRADIENT_LOOP_STATE_H_

#include <map>
#include <set>
#include <vector>

#include "graph/build/cond.h"
#include "graph/build/while.h"
#include "graph/gradient/gradients.h"

namespace sluice::gradient {

class LoopState final : public LoopHistory {
 public:
  // Adds the counters of iterations to both loops. `outer` is the state of the loop around
  // `forward`, or null. `call` is the context in which Gradients was called.
  LoopState(Graph& graph, WhileContext* forward, LoopState* outer, ControlFlowContext* call);
  // The state of the backward loop in whose context nodes are added now, or null.
  static LoopState* Current(const Graph& graph);

  WhileContext* forward() const override { return forward_; }
  WhileContext* backward() const { return backward_; }
  LoopState* outer() const { return outer_; }
  Output RealValue(Output value) override;

  // Push adds a stack, and a push of `value` in every iteration of the forward loop, and returns
  // the stack. Pop returns the value that the backward loop pops from that stack. kOther: `value`
  // belongs to the context of one branch of a cond, but is alive if the other branch is taken.
  enum class Branch { kSame, kOther };
  Output Push(Output value, Branch branch = Branch::kSame);
  Output Pop(Output stack, Output value, Branch branch = Branch::kSame);
  // The predicate of a cond inside the forward loop, as a tensor inside the backward loop.
  Output Predicate(Output pred);

  // Adds nodes that sum `grad`, the gradient with respect to the constant Enter `op`, over the
  // iterations.
  Grad Accumulate(const Node& op, const Grad& grad);
  // Handle the gradient that reaches the Switch of a loop variable: SwitchFromExit at the first
  // visit, from the Exit, and SwitchFromBody at the second, from the body. HasSwitch returns
  // whether the first visit has taken place.
  Output SwitchFromExit(const Node& op, Output grad);
  bool HasSwitch(const Node& op) const { return switches_.contains(&op); }
  void SwitchFromBody(const Node& op, Output grad);
  // Completes the backward loop variables that got a gradient from the Exit but none from the body:
  // their NextIteration gets zeros.
  void CloseSwitches();

  // `forward_exits` are the Exits of the forward loop. The traversal of Gradients enters the loop
  // only when it has reached all of them. `exits_to_come` counts the Exits that it has not reached
  // yet. `deferred_exits` are the reached Exits, and `unused_exits` the Exits without a gradient.
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
  Output InBranch(Output stack, const CondContext& cond, Branch branch);
  Output ZerosOutside(const Node& enter, DataType dtype);
  Output AccumulateDense(const Node& op, Output grad);
  Output FirstRow(const Node& op, const Output& values);
  IndexedSlices FirstSlices(const Node& op, const IndexedSlices& grad);
  IndexedSlices AccumulateSlices(const Node& op, const IndexedSlices& grad);
  // A sum over the iterations of the backward loop. `first` is the value before the first
  // iteration. The nodes are those of the loop variable that holds the sum.
  struct Sum {
    Output first;
    const PartialShape* shape;
    Output more;  // the summand of one iteration
    Output merge = {};
    Node* split = nullptr;
    Output next = {};
  };
  bool Open(std::vector<Sum>& sums);
  // The Enter of a new variable of the backward loop, of shape `shape` if it is not null.
  Output NewVariable(Output first, const PartialShape* shape);

  Graph& graph_;
  WhileContext* const forward_;
  LoopState* const outer_;
  ControlFlowContext* const call_;
  WhileContext* backward_ = nullptr;
  Node* forward_index_ = nullptr;   // NextIteration of the forward loop's counter
  Node* backward_index_ = nullptr;  // NextIteration of the backward loop's counter
  Node* forward_sync_ = nullptr;
  Node* backward_sync_ = nullptr;
  std::map<Output, Output> history_;         // forward value -> backward value
  std::map<const Node*, Output> switches_;   // forward Switch -> backward Merge
  std::vector<const Node*> switches_order_;  // in the order of their visits
};

}  // namespace sluice::gradient

#endif  // SLUICE_GRAPH_GRADIENT_LOOP_STATE_H_
