// Symbolic gradients: adds the nodes that compute d(sum of ys) / d(xs) to the graph.
//
// Thread safety: as the graph's. Reference: tf.gradients, with the same nodes and names,
// aggregation, gating, colocation, and None without a path.
#ifndef SLUICE_GRAPH_GRADIENT_GRADIENTS_H_
#define SLUICE_GRAPH_GRADIENT_GRADIENTS_H_

#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/ir/graph.h"

namespace sluice {

// A gradient: none (no path, or not differentiable), a tensor, or rows of a tensor.
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

enum class AggregationMethod { kAddN = 0, kExperimentalTree = 1, kExperimentalAccumulateN = 2 };
enum class UnconnectedGradients { kNone, kZero };

struct GradientOptions {
  std::vector<Grad> grad_ys;  // one per y (none: ones), or empty
  std::string name = "gradients";
  bool colocate_gradients_with_ops = false;
  bool gate_gradients = false;  // the gradients of one op wait for each other
  AggregationMethod aggregation = AggregationMethod::kAddN;
  OutputList stop_gradients;  // constants for this call
  UnconnectedGradients unconnected = UnconnectedGradients::kNone;
};

// One entry per x. NOT_FOUND for an op on a path without a registered gradient, with op, node and
// path. INVALID_ARGUMENT for grad_ys that do not fit, and for invalid handles.
absl::StatusOr<std::vector<Grad>> Gradients(const OutputList& ys, const OutputList& xs,
                                            GradientOptions options = {});

// Replaces each gradient by an Identity that waits for all of them, so that no use of one changes a
// variable before the others are computed. Nones stay.
void GateTogether(Graph& graph, std::vector<Grad>& grads);

// The gradient as a tensor (slices by UnsortedSegmentSum). Invalid for none.
Output ToDense(const Grad& grad, std::string_view name = "");

}  // namespace sluice

#endif  // SLUICE_GRAPH_GRADIENT_GRADIENTS_H_
