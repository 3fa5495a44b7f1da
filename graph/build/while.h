// A loop, which runs `body` as long as `condition` holds.
//
//   OutputList r = WhileLoop(
//       [&](const OutputList& v) { return Less(v[0], n); },
//       [&](const OutputList& v) { return OutputList{v[0] + 1, v[1] * x}; },
//       {Constant(g, 0), x});
//
// Values from outside enter as constants of the loop. The nodes that both functions add are inside
// the loop and cannot be fetched. Those without inputs wait for a node of the loop, so that they
// run in each iteration. Loops and conds nest. Several iterations may run at once.
//
// Thread safety: that of the graph, which one thread at a time builds.
// Ownership: the graph owns the loop's context.
// Errors: Graph::status() keeps the first one. WhileLoop then returns an empty list.
// Reference: tf.compat.v1.while_loop with control flow v1, with the same nodes and names.
#ifndef SLUICE_GRAPH_BUILD_WHILE_H_
#define SLUICE_GRAPH_BUILD_WHILE_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/build/control_flow_context.h"
#include "graph/ir/graph.h"

namespace sluice {

struct WhileOptions {
  // The number of iterations that may run at the same time, at least 1. With 1 they run one after
  // another. A larger number takes more memory.
  int parallel_iterations = 10;

  // Whether gradients flow through the loop. They need intermediate values of all iterations, and
  // Gradients makes the loop keep these values. If false, gradients stop at the loop's results, and
  // the loop keeps nothing.
  bool back_prop = true;
  // Has no effect in Sluice. It is kept for other programs, which may run the graph on a GPU.
  bool swap_memory = false;

  // One shape per variable, which holds in every iteration. If the list is empty, a variable keeps
  // the shape of its first value, and a body that changes the shape is an error.
  std::vector<PartialShape> shape_invariants;

  // The largest number of iterations, an int32 or int64 scalar. Invalid means no limit.
  Output maximum_iterations;
  // Prefix of the names of the loop's nodes, made unique.
  std::string_view name = "while";
};

// Adds the loop. `variables` holds the first value of each variable; there is at least one.
// `condition` gets the current values and returns a bool scalar. `body` gets them too and returns
// the values for the next iteration, one per variable. Each function is called once, during the
// call.
//
// Returns the values of the variables after the loop. If the condition does not hold at the
// beginning, these are the first values.
//
// Returns an empty list after an error: INVALID_ARGUMENT if number, types or shapes of the body's
// results differ from those of the variables, if the condition is no bool, or if an option is
// invalid.
OutputList WhileLoop(const std::function<Output(const OutputList&)>& condition,
                     const std::function<OutputList(const OutputList&)>& body,
                     const OutputList& variables, const WhileOptions& options = {},
                     At at = At::current());

// Gives the loop that computes a gradient access to the values of the forward loop, which is the
// loop that was differentiated.
class LoopHistory {
 public:
  virtual ~LoopHistory() = default;
  virtual WhileContext* forward() const = 0;
  // The value that `value` had in the same iteration of the forward loop, as a tensor inside the
  // gradient's loop.
  virtual Output RealValue(Output value) = 0;
};

// One loop, as the gradient engine and the builder see it. User programs call WhileLoop instead.
class WhileContext final : public ControlFlowContext {
 public:
  WhileContext(Graph& graph, std::string name, ControlFlowContext* outer,
               const WhileOptions& options);

  int parallel_iterations() const { return parallel_iterations_; }
  bool back_prop() const { return back_prop_; }
  bool swap_memory() const { return swap_memory_; }
  Output maximum_iterations() const { return maximum_iterations_; }
  // Set during the construction of the loop: the first Merge, the LoopCond, and the body's first
  // value.
  Output pivot_for_pred, pivot, pivot_for_body;
  // The Enter and the Exit of each variable, in their order.
  OutputList enters, exits;
  // Set if this is the loop that computes the gradient of another loop. The graph owns the object.
  LoopHistory* history = nullptr;

  // Adds the Enter of a variable. Invalid after an error.
  Output NewEnter(Output value, std::string_view name = "");

  // Returns the value as seen inside the loop: the output of a constant Enter, added at the first
  // use of each value. In the loop of a gradient, values of the forward loop come from `history`.
  Output AddValue(Output value) override;
  absl::StatusOr<ControlFlowContext*> Enter(NodeSpec& spec) override;
  Node* control_pivot() const override {
    return pivot_for_body ? pivot_for_body.node : pivot_for_pred.node;
  }

 private:
  Output MakeEnter(Output value, bool is_constant, std::string_view name);
  void DrawInControls(NodeSpec& spec);

  Graph& graph_;
  const int parallel_iterations_;
  const bool back_prop_;
  const bool swap_memory_;
  const Output maximum_iterations_;
};

// Adds a NextIteration, which passes `value` to input 1 of `merge` in the next iteration. Returns
// its output.
Output AddBackEdge(Output merge, Output value);

}  // namespace sluice

#endif  // SLUICE_GRAPH_BUILD_WHILE_H_
