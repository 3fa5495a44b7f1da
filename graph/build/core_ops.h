// These functions add the nodes that graph/ itself needs for conds, loops, gradients and expanded
// function calls. graph/ cannot use the builders that are generated from the ops, because they need
// ops/.
//
// Each function adds its nodes under the graph's open scopes. `name` is the base of the node's
// name; "" means the op's own name. Graph::status() keeps an error, and the result is then invalid.
#ifndef SLUICE_GRAPH_BUILD_CORE_OPS_H_
#define SLUICE_GRAPH_BUILD_CORE_OPS_H_

#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/graph.h"

namespace sluice::core {

// --- control flow

// If x is a reference, Identity reads the variable, and IdentityOrRef returns the reference itself
// (RefIdentity).
Output Identity(Output x, std::string_view name = "", At at = At::current());
Output IdentityOrRef(Output x, std::string_view name = "", At at = At::current());
// Output 0 is alive if `pred` is false, output 1 if it is true. Null after an error. If `data` is a
// reference, Switch reads the variable, and SwitchOrRef forwards the reference (RefSwitch).
// SwitchOrRef names its node "Switch" in both cases.
Node* Switch(Output data, Output pred, std::string_view name = "", At at = At::current());
Node* SwitchOrRef(Output data, Output pred, At at = At::current());
// Merge, Enter, Exit and NextIteration add the reference form of the op (RefMerge, RefEnter, …) if
// all inputs are references. A RefEnter is named "Enter" by default.
Output Merge(const OutputList& inputs, std::string_view name = "", At at = At::current());
Output Enter(Output value, const std::string& frame, bool is_constant, int parallel_iterations,
             std::string_view name = "");
Output Exit(Output value, std::string_view name = "", At at = At::current());
Output NextIteration(Output value);
Output LoopCond(Output pred, std::string_view name = "", At at = At::current());
Node* ControlTrigger(Graph& graph, std::string_view name);
Node* NoOp(Graph& graph, std::string_view name = "", const std::vector<Operation>& after = {},
           At at = At::current());
// A stack of tensors of type `dtype`, without a limit on their number.
Output Stack(Graph& graph, DataType dtype, std::string_view name);
Node* StackPush(Output stack, Output value, bool swap_memory);
Output StackPop(Output stack, DataType dtype);

// --- values

Output Const(Graph& graph, const Tensor& value, std::string_view name = "", At at = At::current());
// A Const of zeros, whose `shape` must be fully defined. Invalid for strings, resources and
// variants.
Output Zeros(Graph& graph, DataType dtype, const PartialShape& shape, std::string_view name);
Output ZerosLike(Output x, std::string_view name = "zeros_like");
Output Fill(Output dims, Output value, std::string_view name = "");
// A tensor with sizes `dims` in which every element is `value` (0 or 1): nodes `<name>/Const` and
// `<name>`. Invalid for types that are not numbers.
Output Filled(Output dims, DataType dtype, int value, std::string_view name = "zeros");

Output Shape(Output x);
// The sizes of the variable that a handle refers to.
Output VariableShape(Output handle);
// The sizes of x: a Const if they are known, otherwise a Shape.
Output ShapeOf(Output x);
// x[begin : end : stride]. `begin_end_stride` holds these three tensors. `mask` names the mask
// attribute (shrink_axis_mask, end_mask, …) that is set for dimension 0.
Output StridedSlice(Output x, const OutputList& begin_end_stride, const std::string& mask,
                    std::string_view name = "");
// vector[0], with the nodes that TensorFlow's indexing adds.
Output FirstElement(Output vector);
Output ConcatV2(const OutputList& parts, Output axis, std::string_view name = "");
// The parts, concatenated along dimension 0: nodes `concat/axis` and `concat`.
Output Concat(const OutputList& parts);

Output Cast(Output x, DataType dtype);
Output AddV2(Output a, Output b, std::string_view name = "");
// a + 1 of an int32 or int64: nodes `<name>/y` and `<name>`.
Output Increment(Output a, std::string_view name);
Output Sub(Output a, Output b);
Output Mul(Output a, Output b);
Output Maximum(Output a, Output b);
Output Equal(Output a, Output b);
Output Less(Output a, Output b);
Output Greater(Output a, Output b);
Output GreaterEqual(Output a, Output b);
Output LogicalAnd(Output a, Output b);
Output LogicalOr(Output a, Output b);

// --- calls of functions

// Returns a bool scalar: whether x is true, non-zero or not empty.
Output ToBool(Output x);
// If `condition` is false, the step fails, and the error shows `data`.
Node* Assert(Output condition, const OutputList& data);
// The slices of `params` at positions `indices` of dimension `axis`.
Output GatherV2(Output params, Output indices, Output axis);
Output Range(Output start, Output limit, Output delta);
// Adds a TensorArray of `size` elements of one type and shape. Output 0 is its handle. Output 1 is
// the flow, a scalar that orders reads after writes: each TensorArrayWrite returns a new flow.
Node* TensorArray(Output size, DataType dtype, const PartialShape& element);
Output TensorArrayWrite(Output handle, Output index, Output value, Output flow);
Output TensorArrayGather(Output handle, Output indices, Output flow, DataType dtype,
                         const PartialShape& element);

// --- nodes that passes add: the pass sets the device, and open scopes have no effect

NodeSpec ConstSpec(std::string name, const Tensor& value);
NodeSpec IdentitySpec(std::string name, Output x);
NodeSpec ControlTriggerSpec(std::string name);
// An IdentityN of the values, or a NoOp if there are none.
NodeSpec IdentityNSpec(std::string name, const OutputList& values);

}  // namespace sluice::core

#endif  // SLUICE_GRAPH_BUILD_CORE_OPS_H_
