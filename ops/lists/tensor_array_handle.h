// Arrays of tensors that loops write to and read from: the nodes and names of tf.TensorArray.
//
//   TensorArray out(g, DT_FLOAT, steps);
//   OutputList r = WhileLoop(
//       [&](const OutputList& v) { return Less(v[0], steps); },
//       [&](const OutputList& v) {
//         TensorArray written = out.WithFlow(v[1]).Write(v[0], Tanh(x));
//         return OutputList{v[0] + 1, written.flow()};
//       },
//       {Constant(g, 0), out.flow()});
//   Output all = out.WithFlow(r[1]).Stack();
//
// A small handle that copies freely. Every op that writes gives a new one, whose flow comes after
// the write: use that one from then on, and pass flows through loops. Errors stay in the graph.
// Semantics: ops/tensor_array.
#ifndef SLUICE_OPS_LISTS_TENSOR_ARRAY_HANDLE_H_
#define SLUICE_OPS_LISTS_TENSOR_ARRAY_HANDLE_H_

#include <memory>
#include <string>
#include <string_view>

#include "graph/ir/graph.h"

namespace sluice {

struct TensorArrayAttrsOf {
  bool dynamic_size = false;      // writes past the end make it grow
  bool clear_after_read = true;   // an element can be read once
  bool infer_shape = true;        // all elements have one shape
  PartialShape element_shape;     // what is known of it
  std::string tensor_array_name;  // in messages
  std::string name = "TensorArray";
};

class TensorArray {
 public:
  TensorArray() = default;
  TensorArray(Graph& graph, DataType dtype, Output size, const TensorArrayAttrsOf& options = {},
              At at = At::current());
  TensorArray(Graph& graph, DataType dtype, int size, const TensorArrayAttrsOf& options = {},
              At at = At::current());

  Output handle() const { return handle_; }
  Output flow() const { return flow_; }
  DataType dtype() const { return state_ ? state_->dtype : DT_INVALID; }
  PartialShape element_shape() const { return state_ ? state_->element_shape : PartialShape(); }
  // The same array, whose next op comes after `flow`.
  TensorArray WithFlow(Output flow) const;

  TensorArray Write(Output index, Output value, std::string_view name = "",
                    At at = At::current()) const;
  Output Read(Output index, std::string_view name = "", At at = At::current()) const;
  // All elements along a new first dimension; those at `indices`.
  Output Stack(std::string_view name = "", At at = At::current()) const;
  Output Gather(Output indices, std::string_view name = "", At at = At::current()) const;
  // The rows of `value` become the elements; those at `indices`.
  TensorArray Unstack(Output value, std::string_view name = "", At at = At::current()) const;
  TensorArray Scatter(Output indices, Output value, std::string_view name = "",
                      At at = At::current()) const;
  // Elements joined along their first dimension; and parts of lengths[i] (int64) rows each.
  Output Concat(std::string_view name = "", At at = At::current()) const;
  TensorArray Split(Output value, Output lengths, std::string_view name = "",
                    At at = At::current()) const;
  Output Size(std::string_view name = "", At at = At::current()) const;
  Operation Close(std::string_view name = "", At at = At::current()) const;
  // The array of gradients of the elements, for the call of Gradients that `source` names.
  TensorArray Grad(std::string source, Output flow = {}, At at = At::current()) const;

 private:
  // What all handles to one array share.
  struct State {
    DataType dtype = DT_INVALID;
    bool dynamic_size = false;
    bool infer_shape = true;
    PartialShape element_shape;
    Output size;          // as the array was made with; invalid for a gradient's
    int fixed_size = -1;  // where it was given as a number
    Output first;         // the first tensor written: the array stands beside it
  };
  void CheckShape(const PartialShape& shape, std::string_view what, At at) const;
  Output Typed(Output value, const PartialShape& shape) const;
  Graph& graph() const { return *handle_.graph(); }

  Output handle_;
  Output flow_;
  std::shared_ptr<State> state_;
};

}  // namespace sluice

#endif  // SLUICE_OPS_LISTS_TENSOR_ARRAY_HANDLE_H_
