// Symbolic gradients: adds the nodes that compute d(sum of ys) / d(xs) to the graph.
//
//   absl::StatusOr<std::vector<Grad>> grads = Gradients({loss}, {w.handle(), b.handle()});
//   Output dw = ToDense((*grads)[0]);
//
// Gradients of gradients work the same way, but not through while loops. Optimizers call Gradients
// themselves.
//
// Thread safety: that of the graph, which one thread at a time builds.
// Ownership: a Grad is a value of handles. The graph owns the nodes.
// Errors: returned. Nodes that were added before an error stay in the graph, unused.
// Reference: tf.gradients. Nodes, names, aggregation, gating and colocation are the same.
#ifndef SLUICE_GRAPH_GRADIENT_GRADIENTS_H_
#define SLUICE_GRAPH_GRADIENT_GRADIENTS_H_

#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/ir/graph.h"

namespace sluice {

// A gradient: none (no path, or not differentiable), a tensor of x's shape, or rows of a tensor.
// The gradient of a Gather consists of rows, which optimizers apply without making a dense tensor.
// A Grad of an invalid Output is none.
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
  // Invalid unless is_dense / is_slices.
  Output dense() const { return is_dense() ? std::get<Output>(value_) : Output(); }
  IndexedSlices slices() const {
    return is_slices() ? std::get<IndexedSlices>(value_) : IndexedSlices();
  }
  explicit operator bool() const { return !is_none(); }

 private:
  std::variant<std::monostate, Output, IndexedSlices> value_;
};

// Methods to add the gradients of the uses of one tensor: one AddN per device, a tree of AddN with
// two inputs each, or AccumulateNV2. AccumulateNV2 is replaced by the tree if a shape is unknown or
// there are fewer than three summands. Reference: tf.AggregationMethod.
enum class AggregationMethod { kAddN = 0, kExperimentalTree = 1, kExperimentalAccumulateN = 2 };
// The result of Gradients for an x without a path to any y. Reference: tf.UnconnectedGradients.
enum class UnconnectedGradients { kNone, kZero };

struct GradientOptions {
  // The gradients with respect to the ys, in their order. A grad_y that is none stands for ones. If
  // the list is empty, all grad_ys are ones. Complex ys need a grad_y.
  std::vector<Grad> grad_ys;
  std::string name = "gradients";

  // Whether the gradient of an op is computed on the device of that op. Set it to true for models
  // on several devices.
  bool colocate_gradients_with_ops = false;

  // Whether each gradient of an op waits until all gradients of that op are computed. This avoids
  // races, but fewer ops can run at the same time.
  bool gate_gradients = false;
  AggregationMethod aggregation = AggregationMethod::kAddN;
  // Tensors that count as constants in this call.
  OutputList stop_gradients;
  UnconnectedGradients unconnected = UnconnectedGradients::kNone;
};

// Returns one entry per x, in their order. An x is a tensor, or the handle or reference of a
// variable. Only floating-point and complex tensors have gradients.
//
// NOT_FOUND if an op on a path from an x to a y has no registered gradient. The error names the op,
// the node and the path. INVALID_ARGUMENT for grad_ys that do not fit, for complex ys without a
// grad_y, for empty ys or xs, for invalid handles and for handles of several graphs. UNIMPLEMENTED
// for the second gradient of a while loop. FAILED_PRECONDITION for a loop that was imported without
// its context (graph/format/contexts.h). If the graph already has an error, returns that error.
absl::StatusOr<std::vector<Grad>> Gradients(const OutputList& ys, const OutputList& xs,
                                            GradientOptions options = {});

// Replaces each gradient by an Identity that waits for all of them, so that an op that applies one
// of them cannot change a variable before all are computed. Gradients that are none stay none.
void GateTogether(Graph& graph, std::vector<Grad>& grads);

// Returns the gradient as a tensor. Slices become a dense tensor of the size of the whole variable,
// in which rows with equal indices are added (UnsortedSegmentSum), so avoid it for large tables.
// Returns an invalid Output for a gradient that is none. Slices without dense_shape are an error of
// the graph, and the result is invalid.
Output ToDense(const Grad& grad, std::string_view name = "");

}  // namespace sluice

#endif  // SLUICE_GRAPH_GRADIENT_GRADIENTS_H_
