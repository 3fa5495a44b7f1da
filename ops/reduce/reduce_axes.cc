#include "ops/reduce/reduce_axes.h"

#include <numeric>

#include "graph/build/node_builder.h"
#include "ops/builders/constant.h"

namespace sluice {
namespace {

// Returns all axes, as a constant if the rank is known.
Output AllAxes(Output x, At at) {
  Graph& graph = *x.graph();
  if (!x.shape().rank_known()) {
    return Range(NodeBuilder(&graph, "Rank", at).Input(x).Finish(), "range", at);
  }
  std::vector<int64_t> axes(x.shape().rank());
  std::iota(axes.begin(), axes.end(), 0);
  return Constant(graph, IntegerTensor(axes), "Const", at);
}

Output Reduce(std::string_view op, Output x, const Axes& axes, const ReduceOptions& options,
              At at) {
  if (!x) return Output();
  Graph& graph = *x.graph();
  auto finish = [&](Output indices, std::string_view name) {
    return Output(NodeBuilder(&graph, op, at)
                      .Name(name)
                      .Input(x)
                      .Input(indices)
                      .Attr("keep_dims", options.keep_dims)
                      .Finish());
  };
  const std::string_view name = options.name.empty() ? op : options.name;
  if (axes.all()) return finish(AllAxes(x, at), name);
  NameScope scope(graph, name);
  Tensor indices = IntegerTensor(axes.list());
  if (axes.is_scalar()) indices = indices.Reshaped(TensorShape());
  return finish(Constant(graph, indices, "reduction_indices", at), scope.prefix());
}

}  // namespace

Output ReduceSum(Output x, const Axes& axes, const ReduceOptions& options, At at) {
  return Reduce("Sum", x, axes, options, at);
}
Output ReduceMean(Output x, const Axes& axes, const ReduceOptions& options, At at) {
  return Reduce("Mean", x, axes, options, at);
}
Output ReduceProd(Output x, const Axes& axes, const ReduceOptions& options, At at) {
  return Reduce("Prod", x, axes, options, at);
}
Output ReduceMax(Output x, const Axes& axes, const ReduceOptions& options, At at) {
  return Reduce("Max", x, axes, options, at);
}
Output ReduceMin(Output x, const Axes& axes, const ReduceOptions& options, At at) {
  return Reduce("Min", x, axes, options, at);
}
Output ReduceAll(Output x, const Axes& axes, const ReduceOptions& options, At at) {
  return Reduce("All", x, axes, options, at);
}
Output ReduceAny(Output x, const Axes& axes, const ReduceOptions& options, At at) {
  return Reduce("Any", x, axes, options, at);
}

}  // namespace sluice
