#include "graph/build/core_ops.h"

#include <algorithm>
#include <utility>

#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"

namespace sluice::core {
namespace {

bool IsRef(const Output& value) { return IsRefType(value.dtype()); }

Node* Unary(std::string_view op, Output x, std::string_view name = "", At at = At::current()) {
  return NodeBuilder(x.graph(), op, at).Name(name).Input(x).Finish();
}

Node* Binary(std::string_view op, Output a, Output b, std::string_view name = "",
             At at = At::current()) {
  return NodeBuilder(GraphOf({&a, &b}), op, at).Name(name).Input(a).Input(b).Finish();
}

Node* Ternary(std::string_view op, Output a, Output b, Output c) {
  return NodeBuilder(GraphOf({&a, &b, &c}), op, At::current()).Input(a).Input(b).Input(c).Finish();
}

template <typename... Ts>
Tensor ScalarOf(DataType dtype, int value, TypeList<Ts...>) {
  Tensor t;
  ((dtype == kDataTypeOf<Ts> ? (void)(t = Tensor::Scalar<Ts>(Ts(static_cast<float>(value))))
                             : (void)0),
   ...);
  return t;
}

constexpr std::string_view kConst = "Const";
constexpr std::string_view kIdentity = "Identity";
constexpr std::string_view kNoOp = "NoOp";
constexpr std::string_view kControlTrigger = "ControlTrigger";
constexpr std::string_view kEnter = "Enter";
constexpr std::string_view kSwitch = "Switch";
constexpr std::string_view kShape = "Shape";

}  // namespace

Output Identity(Output x, std::string_view name, At at) { return Unary(kIdentity, x, name, at); }

Output IdentityOrRef(Output x, std::string_view name, At at) {
  return IsRef(x) ? Unary("RefIdentity", x, name, at) : Identity(x, name, at);
}

Node* Switch(Output data, Output pred, std::string_view name, At at) {
  return Binary(kSwitch, data, pred, name, at);
}

Node* SwitchOrRef(Output data, Output pred, At at) {
  return Binary(IsRef(data) ? "RefSwitch" : kSwitch, data, pred, kSwitch, at);
}

Output Merge(const OutputList& inputs, std::string_view name, At at) {
  const bool all_refs = std::all_of(inputs.begin(), inputs.end(), IsRef);
  return NodeBuilder(GraphOf({}, {&inputs}), all_refs ? "RefMerge" : "Merge", at)
      .Name(name)
      .Input(inputs)
      .Finish();
}

Output Enter(Output value, const std::string& frame, bool is_constant, int parallel_iterations,
             std::string_view name) {
  return NodeBuilder(value.graph(), IsRef(value) ? "RefEnter" : kEnter, At::current())
      .Name(name.empty() ? kEnter : name)
      .Input(value)
      .Attr("frame_name", frame)
      .Attr("is_constant", is_constant)
      .Attr("parallel_iterations", int64_t{parallel_iterations})
      .Finish();
}

Output Exit(Output value, std::string_view name, At at) {
  return Unary(IsRef(value) ? "RefExit" : "Exit", value, name, at);
}

Output NextIteration(Output value) {
  return Unary(IsRef(value) ? "RefNextIteration" : "NextIteration", value);
}

Output LoopCond(Output pred, std::string_view name, At at) {
  return Unary("LoopCond", pred, name, at);
}

Node* ControlTrigger(Graph& graph, std::string_view name) {
  return NodeBuilder(&graph, kControlTrigger, At::current()).Name(name).Finish();
}

Node* NoOp(Graph& graph, std::string_view name, const std::vector<Operation>& after, At at) {
  NodeBuilder builder(&graph, kNoOp, at);
  builder.Name(name);
  for (const Operation& op : after) builder.ControlInput(op);
  return builder.Finish();
}

Output Stack(Graph& graph, DataType dtype, std::string_view name) {
  const Output no_bound = Const(graph, Tensor::Scalar<int32_t>(-1));
  return NodeBuilder(&graph, "StackV2", At::current())
      .Name(name)
      .Input(no_bound)
      .Attr("elem_type", dtype)
      .Finish();
}

Node* StackPush(Output stack, Output value, bool swap_memory) {
  return NodeBuilder(stack.graph(), "StackPushV2", At::current())
      .Input(stack)
      .Input(value)
      .Attr("swap_memory", swap_memory)
      .Finish();
}

Output StackPop(Output stack, DataType dtype) {
  return NodeBuilder(stack.graph(), "StackPopV2", At::current())
      .Input(stack)
      .Attr("elem_type", dtype)
      .Finish();
}

Output Const(Graph& graph, const Tensor& value, std::string_view name, At at) {
  return NodeBuilder(&graph, kConst, at)
      .Name(name)
      .Attr("value", value)
      .Attr("dtype", value.dtype())
      .Finish();
}

Output Zeros(Graph& graph, DataType dtype, const PartialShape& shape, std::string_view name) {
  Tensor zeros(BaseType(dtype), shape.AsShape());
  if (!zeros.IsInitialized() || !IsPlainBytes(dtype)) return Output();
  std::fill_n(static_cast<char*>(zeros.raw()), zeros.bytes(), 0);
  return Const(graph, zeros, name);
}

Output ZerosLike(Output x, std::string_view name) { return Unary("ZerosLike", x, name); }

Output Fill(Output dims, Output value, std::string_view name) {
  return Binary("Fill", dims, value, name);
}

Output Filled(Output dims, DataType dtype, int value, std::string_view name) {
  Graph* graph = dims.graph();
  const Tensor scalar = ScalarOf(BaseType(dtype), value, NumberList());
  if (graph == nullptr || !scalar.IsInitialized()) return Output();
  NameScope scope(*graph, name);
  const Output constant = Const(*graph, scalar);
  return Fill(dims, constant, scope.prefix());
}

Output Shape(Output x) { return Unary(kShape, x); }

Output VariableShape(Output handle) { return Unary("VariableShape", handle); }

Output ShapeOf(Output x) {
  if (!x) return Output();
  if (!x.shape().IsFullyDefined()) return Shape(x);
  Tensor sizes(DT_INT32, TensorShape({x.shape().rank()}));
  for (int i = 0; i < x.shape().rank(); ++i) {
    sizes.data<int32_t>()[i] = static_cast<int32_t>(x.shape().dim(i));
  }
  return Const(*x.graph(), sizes, kShape);
}

Output StridedSlice(Output x, const OutputList& begin_end_stride, const std::string& mask,
                    std::string_view name) {
  NodeBuilder builder(x.graph(), "StridedSlice", At::current());
  builder.Name(name).Input(x).Attr(mask, int64_t{1});
  for (const Output& indices : begin_end_stride) builder.Input(indices);
  return builder.Finish();
}

Output FirstElement(Output vector) {
  Graph* graph = vector.graph();
  if (graph == nullptr) return Output();
  NameScope scope(*graph, "strided_slice");
  OutputList begin_end_stride;
  for (const int32_t n : {0, 1, 1}) {
    begin_end_stride.push_back(Const(*graph, Tensor::Vector<int32_t>({n}), "stack"));
  }
  return StridedSlice(vector, begin_end_stride, "shrink_axis_mask", scope.prefix());
}

Output ConcatV2(const OutputList& parts, Output axis, std::string_view name) {
  return NodeBuilder(GraphOf({&axis}, {&parts}), "ConcatV2", At::current())
      .Name(name)
      .Input(parts)
      .Input(axis)
      .Finish();
}

Output Concat(const OutputList& parts) {
  Graph* graph = GraphOf({}, {&parts});
  if (graph == nullptr) return Output();
  NameScope scope(*graph, "concat");
  const Output axis = Const(*graph, Tensor::Scalar<int32_t>(0), "axis");
  return ConcatV2(parts, axis, scope.prefix());
}

Output Cast(Output x, DataType dtype) {
  return NodeBuilder(x.graph(), "Cast", At::current()).Input(x).Attr("DstT", dtype).Finish();
}

Output AddV2(Output a, Output b, std::string_view name) { return Binary("AddV2", a, b, name); }

Output Increment(Output a, std::string_view name) {
  Graph* graph = a.graph();
  if (graph == nullptr) return Output();
  NameScope scope(*graph, name);
  const Output one = Const(*graph, ScalarOf(a.dtype(), 1, NumberList()), "y");
  return AddV2(a, one, scope.prefix());
}

Output Sub(Output a, Output b) { return Binary("Sub", a, b); }
Output Mul(Output a, Output b) { return Binary("Mul", a, b); }
Output Maximum(Output a, Output b) { return Binary("Maximum", a, b); }
Output Equal(Output a, Output b) { return Binary("Equal", a, b); }
Output Less(Output a, Output b) { return Binary("Less", a, b); }
Output Greater(Output a, Output b) { return Binary("Greater", a, b); }
Output GreaterEqual(Output a, Output b) { return Binary("GreaterEqual", a, b); }
Output LogicalAnd(Output a, Output b) { return Binary("LogicalAnd", a, b); }
Output LogicalOr(Output a, Output b) { return Binary("LogicalOr", a, b); }

Output ToBool(Output x) { return Unary("ToBool", x); }

Node* Assert(Output condition, const OutputList& data) {
  return NodeBuilder(condition.graph(), "Assert", At::current())
      .Input(condition)
      .Input(data)
      .Finish();
}

Output GatherV2(Output params, Output indices, Output axis) {
  return Ternary("GatherV2", params, indices, axis);
}

Output Range(Output start, Output limit, Output delta) {
  return Ternary("Range", start, limit, delta);
}

Node* TensorArray(Output size, DataType dtype, const PartialShape& element) {
  return NodeBuilder(size.graph(), "TensorArrayV3", At::current())
      .Input(size)
      .Attr("dtype", dtype)
      .Attr("element_shape", element)
      .Finish();
}

Output TensorArrayWrite(Output handle, Output index, Output value, Output flow) {
  return NodeBuilder(flow.graph(), "TensorArrayWriteV3", At::current())
      .Input(handle)
      .Input(index)
      .Input(value)
      .Input(flow)
      .Finish();
}

Output TensorArrayGather(Output handle, Output indices, Output flow, DataType dtype,
                         const PartialShape& element) {
  return NodeBuilder(indices.graph(), "TensorArrayGatherV3", At::current())
      .Input(handle)
      .Input(indices)
      .Input(flow)
      .Attr("dtype", dtype)
      .Attr("element_shape", element)
      .Finish();
}

NodeSpec ConstSpec(std::string name, const Tensor& value) {
  NodeSpec spec;
  spec.name = std::move(name);
  spec.op = kConst;
  spec.attrs = {{"dtype", value.dtype()}, {"value", value}};
  return spec;
}

NodeSpec IdentitySpec(std::string name, Output x) {
  NodeSpec spec;
  spec.name = std::move(name);
  spec.op = kIdentity;
  spec.inputs = {x};
  spec.attrs = {{"T", BaseType(x.dtype())}};
  return spec;
}

NodeSpec ControlTriggerSpec(std::string name) {
  NodeSpec spec;
  spec.name = std::move(name);
  spec.op = kControlTrigger;
  return spec;
}

NodeSpec IdentityNSpec(std::string name, const OutputList& values) {
  NodeSpec spec;
  spec.name = std::move(name);
  spec.op = values.empty() ? kNoOp : "IdentityN";
  spec.inputs = values;
  std::vector<DataType> types;
  for (const Output& value : values) types.push_back(BaseType(value.dtype()));
  if (!types.empty()) spec.attrs["T"] = types;
  return spec;
}

}  // namespace sluice::core
