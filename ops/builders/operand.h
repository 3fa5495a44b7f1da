// Arithmetic on tensors: `MatMul(x, w) + b`, `1.0f - x`, `-x`.
//
// A number takes the dtype of the other operand. `==` compares the identity of handles. Equal, Less
// and the other comparison ops compare tensors, and have no operators.
#ifndef SLUICE_OPS_BUILDERS_OPERAND_H_
#define SLUICE_OPS_BUILDERS_OPERAND_H_

#include <concepts>
#include <optional>
#include <string_view>
#include <type_traits>

#include "graph/ir/graph.h"
#include "ops/builders/constant.h"

namespace sluice {

// An operand of an operator: a tensor, a variable (read when it is used) or a number. An Operand
// records the source line at which it was made, and must not outlive the full expression in which
// it was made.
class Operand {
 public:
  Operand(Output tensor, At at = At::current())  // NOLINT: operands are implicit
      : tensor_(tensor), at_(at) {}
  // A Variable, or another object whose value is a tensor that Read adds to the graph.
  template <typename V>
  requires requires(const V& v, At at) {
    { v.Read(at) } -> std::same_as<Output>;
    { v.handle() } -> std::same_as<Output>;
  }
  Operand(const V& variable, At at = At::current())  // NOLINT
      : tensor_(variable.handle()),
        variable_(&variable),
        read_([](const void* v, At from) { return static_cast<const V*>(v)->Read(from); }),
        dtype_(variable.dtype()),
        at_(at) {}
  template <typename T>
  requires std::is_arithmetic_v<T> Operand(T number, At at = At::current())
      : number_(number), at_(at) {}  // NOLINT

  bool is_number() const { return number_.has_value(); }
  // Null for numbers and invalid handles.
  Graph* graph() const;
  DataType dtype() const;  // DT_INVALID for numbers
  // The operand as a tensor. A number becomes a Const `name` of type `dtype` in the current scope.
  Output In(Graph& graph, DataType dtype, std::string_view name) const;
  At at() const { return at_; }

 private:
  Output tensor_;  // of a variable: its handle
  const void* variable_ = nullptr;
  Output (*read_)(const void* variable, At at) = nullptr;
  DataType dtype_ = DT_INVALID;  // dtype of a variable
  std::optional<Number> number_;
  At at_;
};

// The operators add nodes of these ops, with these names: AddV2 `add`, Sub `sub`, Mul `mul`,
// RealDiv `truediv`, FloorMod `mod` and Neg `Neg`. Division converts integers of 8 and 16 bits to
// float, and longer ones to double.
Output operator+(Operand x, Operand y);
Output operator-(Operand x, Operand y);
Output operator*(Operand x, Operand y);
Output operator/(Operand x, Operand y);
Output operator%(Operand x, Operand y);
Output operator-(Operand x);

// Applies `op` to two operands in the scope `name`, as the operators do.
Output BinaryOp(std::string_view op, std::string_view name, const Operand& x, const Operand& y);

}  // namespace sluice

#endif  // SLUICE_OPS_BUILDERS_OPERAND_H_
