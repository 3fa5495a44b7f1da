// The text of one op's builder function.
#ifndef SLUICE_OPS_BUILDERS_OP_FUNCTION_H_
#define SLUICE_OPS_BUILDERS_OP_FUNCTION_H_

#include <string>

#include "graph/op/op_def.h"

namespace sluice {

// Whether users get a function for `op`: hidden and internal ops have none.
bool HasBuilder(const OpDef& op);
// The struct of optional attributes, the struct of outputs where there are several, and the
// function's declaration, with the op's documentation.
std::string DeclarationText(const OpDef& op);
std::string DefinitionText(const OpDef& op);

}  // namespace sluice

#endif  // SLUICE_OPS_BUILDERS_OP_FUNCTION_H_
