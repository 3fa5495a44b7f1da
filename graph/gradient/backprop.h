// The argument of an op's gradient function: the values of the forward op, the gradients with
// respect to its outputs, and the results, which are gradients with respect to its inputs.
//
//   GRADIENT([](Backprop& b) { b.Into("x", b.Of("y") * Cos(b.Value("x"))); })
//
// An input without a call of Into has no gradient.
//
// Thread safety: that of the graph. Errors: those of builder functions stay in the graph. Fail
// reports that a node cannot be differentiated.
#ifndef SLUICE_GRAPH_GRADIENT_BACKPROP_H_
#define SLUICE_GRAPH_GRADIENT_BACKPROP_H_

#include <string_view>
#include <vector>

#include "graph/gradient/gradients.h"
#include "graph/ir/graph.h"

namespace sluice {

class Backprop {
 public:
  // `output_grads` has one entry per output.
  Backprop(Node* op, std::vector<Grad> output_grads);

  const Node& op() const { return *op_; }
  Node* node() const { return op_; }
  Graph& graph() const { return *op_->graph(); }
  template <typename T>
  T attr(std::string_view name, T otherwise = T()) const {
    return op_->AttrOr<T>(name, otherwise);
  }

  // The tensor of argument `arg` of the forward op, an input or an output. Values is for arguments
  // that are lists.
  Output Value(std::string_view arg);
  OutputList Values(std::string_view arg);
  Output In(int i) const { return op_->input(i); }
  Output Out(int i) const { return Output(op_, i); }

  // The gradient with respect to an output, as a tensor. Zeros if there is none.
  Output Of(std::string_view arg);
  Output Of(int output);
  OutputList ListOf(std::string_view arg);
  // The gradient with respect to an output without conversion: none, dense or slices.
  const Grad& GradOf(int output) const { return output_grads_[output]; }
  bool Has(int output) const { return !output_grads_[output].is_none(); }

  // Sets the gradient with respect to an input. IntoList sets one gradient per tensor of a list
  // argument.
  void Into(std::string_view arg, Grad grad);
  void Into(int input, Grad grad);
  void IntoList(std::string_view arg, const std::vector<Grad>& grads);
  void IntoList(std::string_view arg, const OutputList& grads);
  void Fail(absl::Status status);

  // Sets the tensor that Of returns for an output without a gradient.
  void SetZeros(int output, Output zeros) { zeros_[output] = zeros; }
  // The results, one per input.
  const std::vector<Grad>& input_grads() const { return input_grads_; }
  const absl::Status& status() const { return status_; }

 private:
  // Returns {first, end}: argument `arg` has inputs (or outputs) [first, end). {0, 0} after an
  // error.
  std::pair<int, int> Range(std::string_view arg, bool inputs_only = false);

  Node* op_;
  std::vector<Grad> output_grads_;
  OutputList zeros_;
  std::vector<Grad> input_grads_;
  absl::Status status_;
};

}  // namespace sluice

#endif  // SLUICE_GRAPH_GRADIENT_BACKPROP_H_
