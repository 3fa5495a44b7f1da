#include "training/layers/layer.h"

#include "graph/status.h"
#include "ops/array/builders.h"
#include "ops/builders/operand.h"
#include "ops/math/builders.h"
#include "ops/matmul/builders.h"
#include "ops/nn/builders.h"
#include "ops/reduce/reduce_axes.h"

namespace sluice::layers {

Regularizer L1(double scale) {
  return [scale](const Variable& w) {
    const Output size = WithRead("Abs", w, At::current(), [](Output value, std::string_view name) {
      return Abs(value, {.name = name});
    });
    return scale * ReduceSum(size);
  };
}

Regularizer L2(double scale) {
  return [scale](const Variable& w) {
    return scale * WithRead("L2Loss", w, At::current(), [](Output value, std::string_view name) {
             return L2Loss(value, {.name = name});
           });
  };
}

Regularizer L1L2(double l1, double l2) {
  return [l1, l2](const Variable& w) {
    const Output first = L1(l1)(w);
    return first + L2(l2)(w);
  };
}

Variable Layer::MakeVariable(Graph& graph, DataType dtype, const Weight& weight, At at) const {
  const Variable v(graph, weight.name, weight.shape, weight.initializer,
                   {.dtype = BaseType(dtype),
                    .trainable = trainable_ && weight.trainable,
                    .use_resource = use_resource_},
                   at);
  if (!v || !weight.regularizer) return v;
  NameScope scope(graph, StrCat(v.name(), "/Regularizer/"));
  if (const Output cost = weight.regularizer(v)) {
    graph.AddToCollection(kRegularizationLosses, cost.name());
  }
  return v;
}

std::optional<int64_t> Layer::KnownDim(Output x, int rank, int dim, At at) const {
  if (!x) return std::nullopt;
  const PartialShape& shape = x.shape();
  if (shape.rank_known() && shape.rank() >= rank) {
    const int64_t size = shape.dim(dim < 0 ? dim + shape.rank() : dim);
    if (size >= 0) return size;
  }
  SetError(*x.graph(),
           InvalidArgument("expected an input of at least ", rank, " dimensions whose dimension ",
                           dim, " is known, got ", shape.ToString()),
           at);
  return std::nullopt;
}

void Layer::SetError(Graph& graph, const absl::Status& status, At at) const {
  graph.SetError(Annotate(status, StrCat("layer '", name_, "': ")), at);
}

Output WithRead(std::string_view name, const Variable& weight, At at,
                const std::function<Output(Output value, std::string_view name)>& make) {
  if (!weight) return Output();
  NameScope scope(weight.graph(), name);
  const Output value = weight.Read(at);
  return make(value, scope.prefix());
}

Output MatMulWith(Output x, const Variable& weight, At at) {
  return WithRead("MatMul", weight, at, [&](Output value, std::string_view name) {
    return MatMul(x, value, {.name = name}, at);
  });
}

Output BiasAddWith(Output x, const Variable& bias, At at) {
  return WithRead("BiasAdd", bias, at, [&](Output value, std::string_view name) {
    return BiasAdd(x, value, {.name = name}, at);
  });
}

}  // namespace sluice::layers
