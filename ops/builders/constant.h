// Functions that add constants and placeholders to a graph.
//
// As in all builder functions, a `name` that ends in '/' is the full name of the node, without the
// open name scopes: "a/b/" names the node "a/b". After an error, Graph::status is set and the
// output is invalid.
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

// A number that a program passes to a builder function. It keeps an integer of 64 bits or a double
// until the dtype of its tensor is known.
class Number {
 public:
  template <typename T>
  requires std::is_arithmetic_v<T> Number(T value)  // NOLINT: numbers are numbers
      : is_integer_(std::is_integral_v<T>),
        is_above_int64_(std::is_integral_v<T> && value > 0 && static_cast<int64_t>(value) < 0),
        integer_(std::is_integral_v<T> ? static_cast<int64_t>(value) : 0),
        real_(static_cast<double>(value)) {}

  // Returns the number as a scalar tensor. A floating-point or complex `dtype` may round it.
  // INVALID_ARGUMENT for a fraction or a value out of range if `dtype` is an integer type, for
  // anything but the integers 0 and 1 if it is bool, and for all other types.
  absl::StatusOr<Tensor> As(DataType dtype) const;
  std::string ToString() const;

 private:
  bool is_integer_;
  bool is_above_int64_;  // integer_ holds the bits of a uint64_t
  int64_t integer_;
  double real_;
};

// The element type of a constant that is made from a value of C++ type T. All kinds of strings
// become std::string. Integers of 64 bits become int64_t or uint64_t. Other types do not change.
template <typename T>
using ElementTypeOf = std::conditional_t<
    std::is_convertible_v<T, std::string_view>, std::string,
    std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool> && sizeof(T) == 8,
                       std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>, T>>;

Output Constant(Graph& graph, const Tensor& value, std::string_view name = "",
                At at = At::current());

// Adds a scalar of type `dtype`: `Constant(g, 1, DT_HALF)`.
Output Constant(Graph& graph, Number value, DataType dtype, std::string_view name = "",
                At at = At::current());

// Adds a scalar whose dtype is that of the C++ type T: `Constant(g, 3.0f)`, `Constant(g, "text")`.
// An int becomes int32, and 1.0 becomes double.
template <typename T>
requires(std::is_arithmetic_v<T> || std::is_convertible_v<T, std::string_view>) Output
    Constant(Graph& graph, T value, std::string_view name = "", At at = At::current()) {
  return Constant(graph, Tensor::Scalar(ElementTypeOf<T>(value)), name, at);
}

// Adds a vector or a matrix: `Constant(g, {1, 2})`, `Constant(g, {{1, 2}, {3, 4}})`. The rows of a
// matrix must have the same length.
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

// Adds a tensor without a value. Each step that uses it must feed a value of this type and shape.
Output Placeholder(Graph& graph, DataType dtype, const PartialShape& shape,
                   std::string_view name = "", At at = At::current());

// These functions add a tensor whose elements are all equal. Zeros and Ones add a Const op for
// fewer than 1000 elements, otherwise a Fill op. The functions called Fill always add a Fill op.
// `dims` is the shape.
Output Zeros(Graph& graph, const TensorShape& shape, DataType dtype = DT_FLOAT,
             std::string_view name = "zeros", At at = At::current());
Output Ones(Graph& graph, const TensorShape& shape, DataType dtype = DT_FLOAT,
            std::string_view name = "ones", At at = At::current());
Output Fill(Graph& graph, const std::vector<int64_t>& dims, Number value, DataType dtype = DT_FLOAT,
            std::string_view name = "", At at = At::current());
Output Fill(const std::vector<int64_t>& dims, Output value, std::string_view name = "",
            At at = At::current());

// Adds the vector 0, 1, …, limit - 1. It has the type of the scalar `limit`.
Output Range(Output limit, std::string_view name = "range", At at = At::current());

// Returns a vector of integers. Its type is int32, or int64 if a number does not fit into int32.
Tensor IntegerTensor(const std::vector<int64_t>& values);

// Returns a tensor of this shape whose elements all equal `scalar`.
Tensor Splat(const Tensor& scalar, const TensorShape& shape);

// Sets an INVALID_ARGUMENT error in the graph, because the rows of a matrix differ in length.
// Returns an invalid output.
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
