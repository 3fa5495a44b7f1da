// Arrays of tensors that loops write to and read from, with the nodes and names of tf.TensorArray.
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
// A TensorArray is a small handle that can be copied. An op that writes returns a new handle, whose
// flow comes after the write. Use the new handle from then on, and pass flows through loops. Errors
// stay in the graph. Reference: ops/lists/tensor_array.cc.
#ifndef SLUICE_OPS_LISTS_TENSOR_ARRAY_HANDLE_H_
#define SLUICE_OPS_LISTS_TENSOR_ARRAY_HANDLE_H_

#include <memory>
#include <string>
#include <string_view>

#include "graph/ir/graph.h"

namespace sluice {

struct TensorArrayOptions {
  bool dynamic_size = false;      // the array grows by writes past its end
  bool clear_after_read = true;   // elements can be read once
  bool infer_shape = true;        // all elements have the same shape
  PartialShape element_shape;     // the known part of that shape
  std::string tensor_array_name;  // used in messages
  std::string name = "TensorArray";
};

class TensorArray {
 public:
  TensorArray() = default;
  TensorArray(Graph& graph, DataType dtype, Output size, const TensorArrayOptions& options = {},
              At at = At::current());
  TensorArray(Graph& graph, DataType dtype, int size, const TensorArrayOptions& options = {},
              At at = At::current());

  Output handle() const { return handle_; }
  Output flow() const { return flow_; }
  DataType dtype() const { return state_ ? state_->dtype : DT_INVALID; }
  PartialShape element_shape() const { return state_ ? state_->element_shape : PartialShape(); }
  // The same array. Its next op comes after `flow`.
  TensorArray WithFlow(Output flow) const;

  TensorArray Write(Output index, Output value, std::string_view name = "",
                    At at = At::current()) const;
  Output Read(Output index, std::string_view name = "", At at = At::current()) const;
  // Stacks all elements, or those at `indices`, along a new first dimension.
  Output Stack(std::string_view name = "", At at = At::current()) const;
  Output Gather(Output indices, std::string_view name = "", At at = At::current()) const;
  // Writes the rows of `value` to all elements, or to those at `indices`.
  TensorArray Unstack(Output value, std::string_view name = "", At at = At::current()) const;
  TensorArray Scatter(Output indices, Output value, std::string_view name = "",
                      At at = At::current()) const;
  // Concatenates the elements along their first dimension, or writes parts of `value` with
  // lengths[i] (int64) rows each.
  Output Concat(std::string_view name = "", At at = At::current()) const;
  TensorArray Split(Output value, Output lengths, std::string_view name = "",
                    At at = At::current()) const;
  Output Size(std::string_view name = "", At at = At::current()) const;
  Operation Close(std::string_view name = "", At at = At::current()) const;
  // The array for the gradients of the elements. `source` names the call of Gradients.
  TensorArray Grad(std::string source, Output flow = {}, At at = At::current()) const;

 private:
  // Shared by all handles of an array.
  struct State {
    DataType dtype = DT_INVALID;
    bool dynamic_size = false;
    bool infer_shape = true;
    PartialShape element_shape;
    Output size;          // size at creation. Invalid for the array of a gradient
    int fixed_size = -1;  // the size, if it was given as a number
    Output first;         // the first tensor that is written. Writes are placed on its device
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
