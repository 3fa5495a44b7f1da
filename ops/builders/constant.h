// Builder functions of constants and placeholders.
//
// As in all builder functions, a `name` that ends in '/' is the full name of the node: the open
// name scopes are not put before it.
#ifndef SLUICE_OPS_BUILDERS_CONSTANT_H_
#define SLUICE_OPS_BUILDERS_CONSTANT_H_

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "graph/ir/graph.h"
#include "graph/tensor/tensor.h"

namespace sluice {

// A number that a program passes to a builder function. It stays exact until its dtype is known.
class Number {
 public:
  template <typename T>
  requires std::is_arithmetic_v<T> Number(T value)  // NOLINT: numbers are numbers
      : is_integer_(std::is_integral_v<T>),
        integer_(std::is_integral_v<T> ? static_cast<int64_t>(value) : 0),
        real_(static_cast<double>(value)) {}

  // The number as a scalar tensor. INVALID_ARGUMENT if `dtype` cannot hold it: a fraction in an
  // integer type, a value out of range, or a type that is not numeric.
  absl::StatusOr<Tensor> As(DataType dtype) const;
  std::string ToString() const;

 private:
  bool is_integer_;
  int64_t integer_;
  double real_;
};

// The element type of a constant that is made from a value of C++ type T. All kinds of strings
// become std::string.
template <typename T>
using ElementTypeOf = std::conditional_t<
    std::is_convertible_v<T, std::string_view>, std::string,
    std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool> && sizeof(T) == 8,
                       std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>, T>>;

Output Constant(Graph& graph, const Tensor& value, std::string_view name = "",
                At at = At::current());

// A scalar of type `dtype`: `Constant(g, 1, DT_HALF)`.
Output Constant(Graph& graph, Number value, DataType dtype, std::string_view name = "",
                At at = At::current());

// A scalar of the C++ type: `Constant(g, 3.0f)`, `Constant(g, "text")`. An int is int32, and 1.0 is
// double.
template <typename T>
requires(std::is_arithmetic_v<T> || std::is_convertible_v<T, std::string_view>) Output
    Constant(Graph& graph, T value, std::string_view name = "", At at = At::current()) {
  return Constant(graph, Tensor::Scalar(ElementTypeOf<T>(value)), name, at);
}

// A vector or a matrix: `Constant(g, {1, 2})`, `Constant(g, {{1, 2}, {3, 4}})`. Rows must have the
// same length.
template <typename T>
Output Constant(Graph& graph, std::initializer_list<T> values, std::string_view name = "",
                At at = At::current()) {
  const std::vector<ElementTypeOf<T>> elements(values.begin(), values.end());
  Tensor tensor(kDataTypeOf<ElementTypeOf<T>>, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < elements.size(); ++i) tensor.flat<ElementTypeOf<T>>()[i] = elements[i];
  return Constant(graph, tensor, name, at);
}
template <typename T>
Output Constant(Graph& graph, std::initializer_list<std::initializer_list<T>> rows,
                std::string_view name = "", At at = At::current());
template <typename T>
Output Constant(Graph& graph, const std::vector<T>& values, std::string_view name = "",
                At at = At::current()) {
  Tensor tensor(kDataTypeOf<ElementTypeOf<T>>, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) {
    tensor.flat<ElementTypeOf<T>>()[i] = ElementTypeOf<T>(values[i]);
  }
  return Constant(graph, tensor, name, at);
}

// A tensor that a step must feed if it needs the tensor.
Output Placeholder(Graph& graph, DataType dtype, const PartialShape& shape,
                   std::string_view name = "", At at = At::current());

// Tensors filled with one value. Zeros and Ones add a Const for fewer than 1000 elements, otherwise
// a Fill. The functions called Fill always add a Fill.
Output Zeros(Graph& graph, const TensorShape& shape, DataType dtype = DT_FLOAT,
             std::string_view name = "zeros", At at = At::current());
Output Ones(Graph& graph, const TensorShape& shape, DataType dtype = DT_FLOAT,
            std::string_view name = "ones", At at = At::current());
Output Fill(Graph& graph, const std::vector<int64_t>& dims, Number value, DataType dtype = DT_FLOAT,
            std::string_view name = "", At at = At::current());
Output Fill(const std::vector<int64_t>& dims, Output value, std::string_view name = "",
            At at = At::current());

// The vector 0, 1, …, limit - 1.
Output Range(Output limit, std::string_view name = "range", At at = At::current());

// A vector of integers. Its type is int32, or int64 if a number does not fit into int32.
Tensor IntegerTensor(const std::vector<int64_t>& values);

// A tensor of the given shape whose elements all equal `scalar`.
Tensor Splat(const Tensor& scalar, const TensorShape& shape);

// Reports that the rows of a nested list differ in length.
Output RaggedConstant(Graph& graph, std::string_view name, At at);

template <typename T>
Output Constant(Graph& graph, std::initializer_list<std::initializer_list<T>> rows,
                std::string_view name, At at) {
  const size_t width = rows.size() == 0 ? 0 : rows.begin()->size();
  Tensor tensor(kDataTypeOf<ElementTypeOf<T>>,
                {static_cast<int64_t>(rows.size()), static_cast<int64_t>(width)});
  size_t next = 0;
  for (const std::initializer_list<T>& row : rows) {
    if (row.size() != width) return RaggedConstant(graph, name, at);
    for (const T& v : row) tensor.flat<ElementTypeOf<T>>()[next++] = ElementTypeOf<T>(v);
  }
  return Constant(graph, tensor, name, at);
}

}  // namespace sluice

#endif  // SLUICE_OPS_BUILDERS_CONSTANT_H_
