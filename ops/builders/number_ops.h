// Builder functions of ops with two operands, of which one may be a number: `Maximum(norm, 1e-6f)`.
//
// They add TensorFlow's nodes: the op under a scope `name` ("": the op's name), and a number as the
// constant `<name>/x` or `<name>/y`. The generated functions of these names take two tensors.
// Errors stay in the graph and give an invalid tensor.
#ifndef SLUICE_OPS_BUILDERS_NUMBER_OPS_H_
#define SLUICE_OPS_BUILDERS_NUMBER_OPS_H_

#include <string_view>

#include "ops/builders/operand.h"

namespace sluice {

Output Equal(const Operand& x, const Operand& y, std::string_view name = "");
Output Greater(const Operand& x, const Operand& y, std::string_view name = "");
Output GreaterEqual(const Operand& x, const Operand& y, std::string_view name = "");
Output Maximum(const Operand& x, const Operand& y, std::string_view name = "");
Output Minimum(const Operand& x, const Operand& y, std::string_view name = "");
Output NotEqual(const Operand& x, const Operand& y, std::string_view name = "");

}  // namespace sluice

#endif  // SLUICE_OPS_BUILDERS_NUMBER_OPS_H_
