#include "graph/gradient/nodes.h"

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
