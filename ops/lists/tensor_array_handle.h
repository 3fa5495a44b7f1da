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
// A method that writes returns a new handle, whose flow comes after the write. Use the new handle
// from then on. Pass flows, not handles, through loops. An array exists during one step.
//
// Thread safety: that of the graph, which one thread at a time builds.
// Ownership: a TensorArray is a small handle that can be copied, valid as long as the graph. Copies
// share the known part of the elements' shapes.
// Errors: errors of building stay in the graph (Graph::status), and results are then invalid
// handles. Errors of a step: INVALID_ARGUMENT if an index is outside of the array, if an element is
// written twice, or read twice with clear_after_read, or if types or shapes differ.
// Reference: tf.TensorArray; ops/lists/tensor_array.cc.
#ifndef SLUICE_OPS_LISTS_TENSOR_ARRAY_HANDLE_H_
#define SLUICE_OPS_LISTS_TENSOR_ARRAY_HANDLE_H_

#include <memory>
#include <string>
#include <string_view>

#include "graph/ir/graph.h"

namespace sluice {

struct TensorArrayOptions {
  // Whether a write past the end makes the array larger. Otherwise it is an error.
  bool dynamic_size = false;
  // Whether a read frees the element, so that it can be read only once.
  bool clear_after_read = true;
  // Whether all elements must have the same shape, which is then used for the static shapes of
  // results.
  bool infer_shape = true;
  // The known part of the elements' shape. By default nothing is known before the first write.
  PartialShape element_shape;
  // The name of the array in error messages. "": the node's name.
  std::string tensor_array_name;
  std::string name = "TensorArray";
};

class TensorArray {
 public:
  TensorArray() = default;

  // An array of `size` elements (int32 scalar) of one type. The array is placed on the device of
  // the first tensor that is written to it; open DeviceScopes have no effect.
  TensorArray(Graph& graph, DataType dtype, Output size, const TensorArrayOptions& options = {},
              At at = At::current());
  TensorArray(Graph& graph, DataType dtype, int size, const TensorArrayOptions& options = {},
              At at = At::current());

  // The array's resource handle, and the flow: a float scalar that orders the ops on the array.
  // Both are invalid after an error.
  Output handle() const { return handle_; }
  Output flow() const { return flow_; }
  DataType dtype() const { return state_ ? state_->dtype : DT_INVALID; }
  // The known part of the shape that all elements have.
  PartialShape element_shape() const { return state_ ? state_->element_shape : PartialShape(); }
  // A handle to the same array. The next op that uses this handle runs after `flow` is computed.
  TensorArray WithFlow(Output flow) const;

  // Element `index` (int32 scalar) becomes `value`. Each element may be written once. Elements of
  // an array from Grad may be written several times, and the values are added.
  TensorArray Write(Output index, Output value, std::string_view name = "",
                    At at = At::current()) const;
  // The value of element `index`. With clear_after_read, frees the element.
  Output Read(Output index, std::string_view name = "", At at = At::current()) const;

  // Stacks all elements, or those at `indices` (int32 vector), along a new first dimension. The
  // elements must have the same shape.
  Output Stack(std::string_view name = "", At at = At::current()) const;
  Output Gather(Output indices, std::string_view name = "", At at = At::current()) const;
  // Writes the rows of `value` to all elements, or to those at `indices`.
  TensorArray Unstack(Output value, std::string_view name = "", At at = At::current()) const;
  TensorArray Scatter(Output indices, Output value, std::string_view name = "",
                      At at = At::current()) const;
  // Concat concatenates the elements along their first dimension. Split cuts `value` into parts of
  // lengths[i] (int64) rows, and writes part i to element i.
  Output Concat(std::string_view name = "", At at = At::current()) const;
  TensorArray Split(Output value, Output lengths, std::string_view name = "",
                    At at = At::current()) const;
  // The number of elements, an int32 scalar.
  Output Size(std::string_view name = "", At at = At::current()) const;
  // Frees the elements before the step ends. Later ops on the array fail.
  Operation Close(std::string_view name = "", At at = At::current()) const;
  // The array of the gradients of the elements. There is one for each `source`, the name of a call
  // of Gradients.
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
