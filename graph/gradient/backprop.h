// What an op's gradient function sees: the forward op's values, the gradients that flow into its
// outputs, and where to put the gradients of its inputs.
//
//   GRADIENT([](Backprop& b) { b.Into("x", b.Of("y") * Cos(b.Value("x"))); })
//
// Inputs that nothing is put into have no gradient. Errors of the builder stay in the graph; a case
// that cannot be differentiated says so with Fail.
#ifndef SLUICE_GRAPH_GRADIENT_BACKPROP_H_
#define SLUICE_GRAPH_GRADIENT_BACKPROP_H_

#include <string_view>
#include <vector>

#include "graph/gradient/gradients.h"
#include "graph/ir/graph.h"

namespace sluice {

class Backprop {
 public:
  // `output_grads` has one entry an output.
  Backprop(Node* op, std::vector<Grad> output_grads);

  const Node& op() const { return *op_; }
  Node* node() const { return op_; }
  Graph& graph() const { return *op_->graph(); }
  template <typename T>
  T attr(std::string_view name, T otherwise = T()) const {
    return op_->AttrOr<T>(name, otherwise);
  }

  // The forward op's tensor called `arg`: an input, else an output. Lists with Values.
  Output Value(std::string_view arg);
  OutputList Values(std::string_view arg);
  Output In(int i) const { return op_->input(i); }
  Output Out(int i) const { return Output(op_, i); }

  // Gradient that flows into an output, as a dense tensor: zeros where there is none.
  Output Of(std::string_view arg);
  Output Of(int output);
  OutputList ListOf(std::string_view arg);
  // As it came: none, dense or slices.
  const Grad& GradOf(int output) const { return output_grads_[output]; }
  bool Has(int output) const { return !output_grads_[output].is_none(); }

  // Sets the gradient of an input; a list argument takes one a tensor.
  void Into(std::string_view arg, Grad grad);
  void Into(int input, Grad grad);
  void IntoList(std::string_view arg, const std::vector<Grad>& grads);
  void IntoList(std::string_view arg, const OutputList& grads);
  void Fail(absl::Status status);

  // What Of answers for an output without gradient, where it was made beforehand.
  void SetZeros(int output, Output zeros) { zeros_[output] = zeros; }
  // The result: one entry an input.
  const std::vector<Grad>& input_grads() const { return input_grads_; }
  const absl::Status& status() const { return status_; }

 private:
  // [first, last) of the inputs, or else outputs, of an argument; empty after an error.
  std::pair<int, int> Range(std::string_view arg, bool inputs_only = false);

  Node* op_;
  std::vector<Grad> output_grads_;
  OutputList zeros_;
  std::vector<Grad> input_grads_;
  absl::Status status_;
};

}  // namespace sluice

#endif  // SLUICE_GRAPH_GRADIENT_BACKPROP_H_
