#include "graph/gradient/nodes.h"

#include <cstring>

#include "graph/build/node_builder.h"

namespace sluice::gradient {

Output Const(Graph* graph, std::string_view name, const Tensor& value) {
  return NodeBuilder(graph, "Const", At::current())
      .Name(name)
      .Attr("value", value)
      .Attr("dtype", value.dtype())
      .Finish();
}

Output Unary(std::string_view op, std::string_view name, Output x) {
  return NodeBuilder(x.graph(), op, At::current()).Name(name).Input(x).Finish();
}

Output ShapeOf(Output x) {
  if (!x) return Output();
  if (!x.shape().IsFullyDefined()) return Unary("Shape", "Shape", x);
  Tensor sizes(DT_INT32, TensorShape({x.shape().rank()}));
  for (int i = 0; i < x.shape().rank(); ++i) {
    sizes.data<int32_t>()[i] = static_cast<int32_t>(x.shape().dim(i));
  }
  return Const(x.graph(), "Shape", sizes);
}

namespace {

template <typename... Ts>
Tensor ScalarOf(DataType dtype, int value, TypeList<Ts...>) {
  Tensor t;
  ((dtype == kDataTypeOf<Ts> ? (void)(t = Tensor::Scalar<Ts>(Ts(static_cast<float>(value))))
                             : (void)0),
   ...);
  return t;
}

}  // namespace

Output Filled(Output shape, DataType dtype, int value, std::string_view name) {
  Graph* graph = shape.graph();
  if (graph == nullptr) return Output();
  const Tensor scalar = ScalarOf(dtype, value, NumberList());
  if (!scalar.IsInitialized()) return Output();
  NameScope scope(*graph, name);
  const Output constant = Const(graph, "Const", scalar);
  return NodeBuilder(graph, "Fill", At::current())
      .Name(scope.prefix())
      .Input(shape)
      .Input(constant)
      .Finish();
}

Output ZerosAs(Output x) {
  if (const HandleData* data = x.node->output_handle(x.index)) {
    return Filled(Unary("VariableShape", "VariableShape", x), data->dtype, 0, "zeros");
  }
  constexpr int64_t kConstElementsMax = 1000;  // larger ones are computed, as tf.zeros does
  if (!x.shape().IsFullyDefined() || !IsPlainBytes(x.dtype()) ||
      x.shape().num_elements() >= kConstElementsMax) {
    return Unary("ZerosLike", "zeros_like", x);
  }
  Tensor zeros(BaseType(x.dtype()), x.shape().AsShape());
  if (zeros.bytes() > 0) std::memset(zeros.raw(), 0, zeros.bytes());
  return Const(x.graph(), "zeros_like", zeros);
}

Output FirstElement(Output vector) {
  Graph* graph = vector.graph();
  if (graph == nullptr) return Output();
  NameScope scope(*graph, "strided_slice");
  const Output begin = Const(graph, "stack", Tensor::Vector<int32_t>({0}));
  const Output end = Const(graph, "stack_1", Tensor::Vector<int32_t>({1}));
  const Output stride = Const(graph, "stack_2", Tensor::Vector<int32_t>({1}));
  return NodeBuilder(graph, "StridedSlice", At::current())
      .Name(scope.prefix())
      .Input(vector)
      .Input(begin)
      .Input(end)
      .Input(stride)
      .Attr("shrink_axis_mask", int64_t{1})
      .Finish();
}

}  // namespace sluice::gradient
