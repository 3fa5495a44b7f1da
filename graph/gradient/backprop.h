// A Backprop is the argument of an op's gradient function. From it the function reads the inputs
// and outputs of the op (the forward op) and the gradients with respect to the outputs. In it the
// function stores its results, the gradients with respect to the inputs.
//
//   GRADIENT([](Backprop& b) { b.Into("x", b.Of("y") * Cos(b.Value("x"))); })
//
// An input for which Into is not called has no gradient.
//
// Thread safety: that of the graph, which one thread at a time builds.
// Errors: Graph::status() keeps those of builder functions. With Fail, the function reports that
// the node cannot be differentiated.
#ifndef SLUICE_GRAPH_GRADIENT_BACKPROP_H_
#define SLUICE_GRAPH_GRADIENT_BACKPROP_H_

#include <string_view>
#include <vector>

#include "graph/gradient/gradients.h"
#include "graph/ir/graph.h"

namespace sluice {

class Backprop {
 public:
  // `output_grads` has one gradient per output of `op`, none for outputs without a gradient.
  Backprop(Node* op, std::vector<Grad> output_grads);

  const Node& op() const { return *op_; }
  Node* node() const { return op_; }
  Graph& graph() const { return *op_->graph(); }
  template <typename T>
  T attr(std::string_view name, T otherwise = T()) const {
    return op_->AttrOr<T>(name, otherwise);
  }

  // Returns the tensor of `arg`, the name of an input or output argument of the forward op. Values
  // returns the tensors of an argument that is a list.
  Output Value(std::string_view arg);
  OutputList Values(std::string_view arg);
  Output In(int i) const { return op_->input(i); }
  Output Out(int i) const { return Output(op_, i); }

  // Returns the gradient with respect to an output, as a dense tensor. Returns zeros if the output
  // has no gradient. ListOf returns one gradient per tensor of a list argument.
  Output Of(std::string_view arg);
  Output Of(int output);
  OutputList ListOf(std::string_view arg);
  // Returns the gradient with respect to an output in the form that it has: none, dense or slices.
  const Grad& GradOf(int output) const { return output_grads_[output]; }
  bool Has(int output) const { return !output_grads_[output].is_none(); }

  // Sets the gradient with respect to an input. IntoList sets one gradient per tensor of a list
  // argument.
  void Into(std::string_view arg, Grad grad);
  void Into(int input, Grad grad);
  void IntoList(std::string_view arg, const std::vector<Grad>& grads);
  void IntoList(std::string_view arg, const OutputList& grads);
  void Fail(absl::Status status);

  // Sets the tensor that Of returns if the output has no gradient. The default is a ZerosLike node.
  void SetZeros(int output, Output zeros) { zeros_[output] = zeros; }
  // The gradients that Into and IntoList have set, one per input. Those of other inputs are none.
  const std::vector<Grad>& input_grads() const { return input_grads_; }
  const absl::Status& status() const { return status_; }

 private:
  // Returns {first, end}: argument `arg` has inputs (or outputs) [first, end). If there is no such
  // argument, calls Fail and returns {0, 0}. With `inputs_only`, outputs do not count.
  std::pair<int, int> Range(std::string_view arg, bool inputs_only = false);

  Node* op_;
  std::vector<Grad> output_grads_;
  OutputList zeros_;
  std::vector<Grad> input_grads_;
  absl::Status status_;
};

}  // namespace sluice

#endif  // SLUICE_GRAPH_GRADIENT_BACKPROP_H_
