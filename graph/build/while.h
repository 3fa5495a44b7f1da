// A loop: `body` runs as long as `condition` holds.
//
//   OutputList r = WhileLoop(
//       [&](const OutputList& v) { return Less(v[0], n); },
//       [&](const OutputList& v) { return OutputList{v[0] + 1, v[1] * x}; },
//       {Constant(g, 0), x});
//
// Values from outside enter as constants of the loop; what both functions make lies inside and
// cannot be fetched; ops without inputs wait for the loop's pivot. Loops and conds nest. Several
// iterations run at once where values allow it.
// Reference behaviour: tf.compat.v1.while_loop with control flow v1: same nodes and names.
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
  int parallel_iterations = 10;  // iterations that may be open at once; 1 runs them in order
  bool back_prop = true;         // false: no gradient flows through the loop
  bool swap_memory = false;      // kept for graphs that go elsewhere: there is no GPU to swap from
  // One a variable, or empty: what holds of its shape in every iteration. By default a variable
  // keeps the shape that it enters with.
  std::vector<PartialShape> shape_invariants;
  Output maximum_iterations;  // a scalar: the loop ends after so many at the latest
  std::string_view name = "while";
};

// The variables' values after the loop. INVALID_ARGUMENT, kept in the graph, where the body gives
// another number, types or shapes than the variables have; then empty.
OutputList WhileLoop(const std::function<Output(const OutputList&)>& condition,
                     const std::function<OutputList(const OutputList&)>& body,
                     const OutputList& variables, const WhileOptions& options = {},
                     At at = At::current());

// Where a gradient's loop takes the values of the loop that it differentiates from.
class LoopHistory {
 public:
  virtual ~LoopHistory() = default;
  virtual WhileContext* forward() const = 0;
  // In the gradient's loop, the value that `value` had in the same iteration of the forward loop.
  virtual Output RealValue(Output value) = 0;
};

// One loop, as the gradient engine and the builder see it.
class WhileContext final : public ControlFlowContext {
 public:
  WhileContext(Graph& graph, std::string name, ControlFlowContext* outer,
               const WhileOptions& options);

  int parallel_iterations() const { return parallel_iterations_; }
  bool back_prop() const { return back_prop_; }
  bool swap_memory() const { return swap_memory_; }
  Output maximum_iterations() const { return maximum_iterations_; }
  // Set while the loop is built: the first Merge, the LoopCond, and the first value of the body.
  Output pivot_for_pred, pivot, pivot_for_body;
  OutputList enters, exits;
  // Set in the loop of a gradient; owned by the graph.
  LoopHistory* history = nullptr;

  // An Enter of a variable of the loop.
  Output NewEnter(Output value, std::string_view name = "Enter");
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

// `value` arrives at `merge` in the next iteration.
Output AddBackEdge(Output merge, Output value);

bool IsConstantEnter(const Output& value);
// A Switch that a loop's variable goes through.
bool IsLoopSwitch(const Node& node);

}  // namespace sluice

#endif  // SLUICE_GRAPH_BUILD_WHILE_H_
