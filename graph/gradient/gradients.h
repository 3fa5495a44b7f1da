// Gradients adds nodes to the graph that compute d(sum of ys) / dx for each x in xs.
//
//   absl::StatusOr<std::vector<Grad>> grads = Gradients({loss}, {w.handle(), b.handle()});
//   Output dw = ToDense((*grads)[0]);
//
// Gradients of gradients work the same way, but not through while loops. Optimizers call Gradients
// themselves.
//
// Thread safety: that of the graph, which one thread at a time builds.
// Ownership: a Grad is a value that refers to nodes. The graph owns the nodes.
// Errors: Gradients returns them. Nodes that it added before an error stay in the graph, unused.
// Reference: tf.gradients, which adds the same nodes with the same names. Aggregation, gating and
// colocation are the same, too.
#ifndef SLUICE_GRAPH_GRADIENT_GRADIENTS_H_
#define SLUICE_GRAPH_GRADIENT_GRADIENTS_H_

#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/ir/graph.h"

namespace sluice {

// The gradient with respect to a tensor x. It has one of three forms:
//   none: no path leads from x to a y, or an op on the path is not differentiable;
//   dense: a tensor of x's shape;
//   slices: some rows of the gradient, with their indices. The other rows are zero. The gradient of
//       a Gather has this form. Optimizers apply it without a dense tensor.
// A Grad that is made from an invalid Output is none.
class Grad {
 public:
  Grad() = default;
  Grad(Output dense) : value_(dense) {  // NOLINT: a tensor is a gradient
    if (!dense) value_ = std::monostate();
  }
  Grad(IndexedSlices slices) : value_(slices) {}  // NOLINT

  bool is_none() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_dense() const { return std::holds_alternative<Output>(value_); }
  bool is_slices() const { return std::holds_alternative<IndexedSlices>(value_); }
  // dense() is invalid unless is_dense(). The Outputs of slices() are invalid unless is_slices().
  Output dense() const { return is_dense() ? std::get<Output>(value_) : Output(); }
  IndexedSlices slices() const {
    return is_slices() ? std::get<IndexedSlices>(value_) : IndexedSlices();
  }
  explicit operator bool() const { return !is_none(); }

 private:
  std::variant<std::monostate, Output, IndexedSlices> value_;
};

// The nodes that add the gradients of all uses of one tensor, if these gradients are dense.
// Reference: tf.AggregationMethod.
//   kAddN: one AddN per device, and one that adds the sums of the devices.
//   kExperimentalTree: a chain of AddN nodes, each of which adds one gradient to the sum so far.
//   kExperimentalAccumulateN: one AccumulateNV2. If a shape is not known or there are fewer than
//       three gradients, the chain of AddN nodes.
enum class AggregationMethod { kAddN = 0, kExperimentalTree = 1, kExperimentalAccumulateN = 2 };
// The result of Gradients for an x without a path to any y: a Grad that is none, or zeros of the
// shape of x. Reference: tf.UnconnectedGradients.
enum class UnconnectedGradients { kNone, kZero };

struct GradientOptions {
  // The gradients from which the computation starts: one per y, in the order of the ys. A grad_y
  // that is none stands for ones. If the list is empty, all grad_ys are ones. Complex ys need a
  // grad_y.
  std::vector<Grad> grad_ys;
  std::string name = "gradients";

  // Whether the gradient of an op is computed on the device of that op. Set it to true for models
  // on several devices.
  bool colocate_gradients_with_ops = false;

  // Whether the gradients with respect to the inputs of an op are used only after all of them are
  // computed. This avoids races, but fewer ops can run at the same time.
  bool gate_gradients = false;
  AggregationMethod aggregation = AggregationMethod::kAddN;
  // Tensors that count as constants: no gradient flows through them.
  OutputList stop_gradients;
  UnconnectedGradients unconnected = UnconnectedGradients::kNone;
};

// Returns one gradient per x, in the order of xs. An x is a tensor, or the handle or reference of a
// variable. Only floating-point and complex tensors have gradients.
//
// NOT_FOUND if an op on a path from an x to a y has no registered gradient. The error names the op,
// the node and the path. INVALID_ARGUMENT for grad_ys that do not fit, for complex ys without a
// grad_y, for empty ys or xs, for invalid handles and for handles of several graphs. UNIMPLEMENTED
// for the second gradient of a while loop, and for a call of a function with a stateful node that
// must not run twice. FAILED_PRECONDITION for a while loop that was imported without its context,
// which a MetaGraphDef contains and a GraphDef does not (graph/format/contexts.h). If the graph
// already has an error, returns that error.
absl::StatusOr<std::vector<Grad>> Gradients(const OutputList& ys, const OutputList& xs,
                                            GradientOptions options = {});

// Replaces each gradient (for slices, their values) by an Identity that waits for all gradients.
// So an op that applies one gradient cannot change a variable before all gradients are computed.
// Gradients that are none stay none.
void GateTogether(Graph& graph, std::vector<Grad>& grads);

// Returns `grad` as a dense tensor. Slices become a dense tensor of the size of the whole variable,
// in which rows with equal indices are added. Avoid this for large embedding tables. `name` is the
// name of the UnsortedSegmentSum node that makes the tensor. Returns an invalid Output for a
// gradient that is none. Slices without dense_shape are an error of the graph, and the result is
// invalid.
Output ToDense(const Grad& grad, std::string_view name = "");

}  // namespace sluice

#endif  // SLUICE_GRAPH_GRADIENT_GRADIENTS_H_
