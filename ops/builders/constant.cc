#include "ops/builders/constant.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "graph/build/node_builder.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Calls `f(T())` for the C++ type of a numeric dtype.
template <typename F, typename... Ts>
void ForType(DataType dtype, TypeList<Ts...>, F&& f) {
  ((dtype == kDataTypeOf<Ts> && (f(Ts()), true)) || ...);
}

template <typename T>
bool Fits(bool is_integer, int64_t integer, double real) {
  if constexpr (std::is_integral_v<T>) {
    if (!is_integer) {
      return std::floor(real) == real && std::abs(real) < 9e15 &&
             Fits<T>(true, static_cast<int64_t>(real), real);
    }
    if constexpr (std::is_same_v<T, uint64_t>) return integer >= 0;
    return integer >= static_cast<int64_t>(std::numeric_limits<T>::min()) &&
           integer <= static_cast<int64_t>(std::numeric_limits<T>::max());
  } else {
    return true;
  }
}

// Adds a Const if there are few elements, else a Fill, as tf.zeros and tf.ones do.
Output ConstOrFill(Graph& graph, const TensorShape& shape, DataType dtype, Number number,
                   std::string_view name, At at) {
  absl::StatusOr<Tensor> value = number.As(dtype);
  if (!value.ok()) {
    graph.SetError(value.status(), at);
    return Output();
  }
  constexpr int64_t kSmall = 1000;
  if (shape.num_elements() < kSmall) return Constant(graph, Splat(*value, shape), name, at);
  NameScope scope(graph, name);
  const std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  const Output dims_tensor = Constant(graph, IntegerTensor(dims), "shape_as_tensor", at);
  return NodeBuilder(&graph, "Fill", at)
      .Name(scope.prefix())
      .Input(dims_tensor)
      .Input(Constant(graph, *value, "Const", at))
      .Finish();
}

}  // namespace

std::string Number::ToString() const {
  if (is_above_int64_) return StrCat(static_cast<uint64_t>(integer_));
  return is_integer_ ? StrCat(integer_) : StrCat(real_);
}

absl::StatusOr<Tensor> Number::As(DataType dtype) const {
  dtype = BaseType(dtype);
  if (dtype == DT_BOOL && is_integer_ && (integer_ == 0 || integer_ == 1)) {
    return Tensor::Scalar(integer_ == 1);
  }
  Tensor scalar;
  ForType(dtype, NumberList(), [&](auto zero) {
    using T = decltype(zero);
    const bool fits = is_above_int64_ ? std::is_same_v<T, uint64_t> || !std::is_integral_v<T>
                                      : Fits<T>(is_integer_, integer_, real_);
    if (!fits) return;
    if constexpr (std::is_integral_v<T>) {
      scalar = Tensor::Scalar(static_cast<T>(is_integer_ ? integer_ : static_cast<int64_t>(real_)));
    } else {
      scalar = Tensor::Scalar(T(static_cast<float>(0)));
      if constexpr (std::is_same_v<T, double> || std::is_same_v<T, complex128>) {
        scalar.scalar<T>() = T(real_);
      } else {
        scalar.scalar<T>() = T(static_cast<float>(real_));
      }
    }
  });
  if (scalar.IsInitialized()) return scalar;
  return InvalidArgument("the number ", ToString(), " cannot be a tensor of type ",
                         DataTypeName(dtype));
}

Output Constant(Graph& graph, const Tensor& value, std::string_view name, At at) {
  return NodeBuilder(&graph, "Const", at)
      .Name(name)
      .Attr("value", value)
      .Attr("dtype", value.dtype())
      .Finish();
}

Output Constant(Graph& graph, Number value, DataType dtype, std::string_view name, At at) {
  absl::StatusOr<Tensor> tensor = value.As(dtype);
  if (tensor.ok()) return Constant(graph, *tensor, name, at);
  graph.SetError(Annotate(tensor.status(), StrCat("Const '", name, "': ")), at);
  return Output();
}

Output RaggedConstant(Graph& graph, std::string_view name, At at) {
  graph.SetError(InvalidArgument("Const '", name, "': its rows differ in length"), at);
  return Output();
}

Output Placeholder(Graph& graph, DataType dtype, const PartialShape& shape, std::string_view name,
                   At at) {
  return NodeBuilder(&graph, "Placeholder", at)
      .Name(name)
      .Attr("dtype", dtype)
      .Attr("shape", shape)
      .Finish();
}

Output Zeros(Graph& graph, const TensorShape& shape, DataType dtype, std::string_view name, At at) {
  return ConstOrFill(graph, shape, dtype, 0, name, at);
}
Output Ones(Graph& graph, const TensorShape& shape, DataType dtype, std::string_view name, At at) {
  return ConstOrFill(graph, shape, dtype, 1, name, at);
}

Output Fill(Graph& graph, const std::vector<int64_t>& dims, Number value, DataType dtype,
            std::string_view name, At at) {
  NameScope scope(graph, name.empty() ? "Fill" : name);
  const Output dims_tensor = Constant(graph, IntegerTensor(dims), "dims", at);
  return NodeBuilder(&graph, "Fill", at)
      .Name(scope.prefix())
      .Input(dims_tensor)
      .Input(Constant(graph, value, dtype, "value", at))
      .Finish();
}

Output Fill(const std::vector<int64_t>& dims, Output value, std::string_view name, At at) {
  if (!value) return Output();
  NameScope scope(*value.graph(), name.empty() ? "Fill" : name);
  return NodeBuilder(value.graph(), "Fill", at)
      .Name(scope.prefix())
      .Input(Constant(*value.graph(), IntegerTensor(dims), "dims", at))
      .Input(value)
      .Finish();
}

Output Range(Output limit, std::string_view name, At at) {
  if (!limit) return Output();
  Graph& graph = *limit.graph();
  NameScope scope(graph, name);
  const Output start = Constant(graph, 0, limit.dtype(), "start", at);
  const Output delta = Constant(graph, 1, limit.dtype(), "delta", at);
  return NodeBuilder(&graph, "Range", at)
      .Name(scope.prefix())
      .Input(start)
      .Input(limit)
      .Input(delta)
      .Finish();
}

Tensor Splat(const Tensor& scalar, const TensorShape& shape) {
  Tensor all(scalar.dtype(), shape);
  if (!all.IsInitialized()) return all;
  if (scalar.dtype() == DT_STRING) {
    std::fill_n(all.data<std::string>(), all.num_elements(), scalar.scalar<std::string>());
    return all;
  }
  const size_t size = DataTypeSize(scalar.dtype());
  char* to = static_cast<char*>(all.raw());
  for (int64_t i = 0; i < all.num_elements(); ++i) std::memcpy(to + i * size, scalar.raw(), size);
  return all;
}

Tensor IntegerTensor(const std::vector<int64_t>& values) {
  const TensorShape shape({static_cast<int64_t>(values.size())});
  for (int64_t v : values) {
    if (v != static_cast<int32_t>(v)) return Tensor::Of<int64_t>(shape, values);
  }
  Tensor narrow(DT_INT32, shape);
  std::copy(values.begin(), values.end(), narrow.data<int32_t>());
  return narrow;
}

}  // namespace sluice
