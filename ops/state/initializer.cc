#include "ops/state/initializer.h"

#include "graph/status.h"

namespace sluice {

Initializer Zeros() {
  return [](Graph& g, const TensorShape& shape, DataType dtype) { return Zeros(g, shape, dtype); };
}
Initializer Ones() {
  return [](Graph& g, const TensorShape& shape, DataType dtype) { return Ones(g, shape, dtype); };
}

Initializer ConstantInit(Number value) {
  return [value](Graph& g, const TensorShape& shape, DataType dtype) {
    if (shape.IsScalar()) return Constant(g, value, dtype, "Const");
    // Adds a Const that has all elements of the shape.
    absl::StatusOr<Tensor> scalar = value.As(dtype);
    if (!scalar.ok()) {
      g.SetError(scalar.status());
      return Output();
    }
    return Constant(g, Splat(*scalar, shape), "Const");
  };
}
Initializer ConstantInit(Tensor value) {
  return [value](Graph& g, const TensorShape& shape, DataType) {
    if (value.shape() == shape) return Constant(g, value, "Const");
    g.SetError(InvalidArgument("ConstantInit: expected a tensor of shape ", shape.ToString(),
                               ", got ", value.shape().ToString()));
    return Output();
  };
}

}  // namespace sluice
