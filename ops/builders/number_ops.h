// Builder functions of binary ops that accept a number as one operand: `Maximum(norm, 1e-6f)`.
//
// A call adds the same nodes as in TensorFlow: the op's node, called `name` (by default the name of
// the op), and for a number a constant called `<name>/x` or `<name>/y`. The generated builder
// functions with the same names as these accept only tensors.
// Errors: an error is stored in the graph (Graph::status), and the result is an invalid handle.
#ifndef SLUICE_OPS_BUILDERS_NUMBER_OPS_H_
#define SLUICE_OPS_BUILDERS_NUMBER_OPS_H_

#include <string_view>

#include "graph/ir/graph.h"
#include "ops/builders/operand.h"

namespace sluice {

Output Equal(const Operand& x, const Operand& y, std::string_view name = "");
Output Greater(const Operand& x, const Operand& y, std::string_view name = "");
Output GreaterEqual(const Operand& x, const Operand& y, std::string_view name = "");
Output Maximum(const Operand& x, const Operand& y, std::string_view name = "");
Output Minimum(const Operand& x, const Operand& y, std::string_view name = "");
Output NotEqual(const Operand& x, const Operand& y, std::string_view name = "");

// Converts `x` to `dtype`. A number becomes the float constant `Cast/x`. A variable is read inside
// the scope `Cast`. A value that has the type already is returned as it is.
Output Cast(Graph& graph, const Operand& x, DataType dtype);

}  // namespace sluice

#endif  // SLUICE_OPS_BUILDERS_NUMBER_OPS_H_
