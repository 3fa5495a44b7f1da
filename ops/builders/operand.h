// Operators that add nodes for arithmetic on tensors: `MatMul(x, w) + b`, `1.0f - x`, `-x`.
//
// A number takes the dtype of the other operand. No operators compare values; use Equal, Less and
// the other comparison ops. `==` tells whether two handles refer to the same tensor.
#ifndef SLUICE_OPS_BUILDERS_OPERAND_H_
#define SLUICE_OPS_BUILDERS_OPERAND_H_

#include <concepts>
#include <optional>
#include <string_view>
#include <type_traits>

#include "graph/ir/graph.h"
#include "ops/builders/constant.h"

namespace sluice {

// An operand of an operator: a tensor, a variable or a number. The operator adds the op that reads
// the variable. An Operand records the source line that makes it, for error messages. It points to
// the variable, so it must not outlive the expression that makes it.
class Operand {
 public:
  Operand(Output tensor, At at = At::current())  // NOLINT: operands are implicit
      : tensor_(tensor), at_(at) {}
  // Accepts a Variable, or another object with the methods Read and handle. Its value is the tensor
  // that Read adds to the graph.
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
  // Returns the operand as a tensor. A number becomes a Const called `name` of type `dtype` in the
  // current name scope of `graph`. Other operands ignore the arguments.
  Output In(Graph& graph, DataType dtype, std::string_view name) const;
  At at() const { return at_; }

 private:
  Output tensor_;  // the handle if the operand is a variable
  const void* variable_ = nullptr;
  Output (*read_)(const void* variable, At at) = nullptr;
  DataType dtype_ = DT_INVALID;  // only set for a variable
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

// Adds a node of `op` called `name` with the inputs x and y, as the operators do. Numbers become
// constants in the name scope `name`.
Output BinaryOp(std::string_view op, std::string_view name, const Operand& x, const Operand& y);

}  // namespace sluice

#endif  // SLUICE_OPS_BUILDERS_OPERAND_H_
