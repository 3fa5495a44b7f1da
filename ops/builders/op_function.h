// Generates the C++ text of the builder function of an op.
#ifndef SLUICE_OPS_BUILDERS_OP_FUNCTION_H_
#define SLUICE_OPS_BUILDERS_OP_FUNCTION_H_

#include <string>

#include "graph/op/op_def.h"

namespace sluice {

// Hidden and internal ops have no builder function.
bool HasBuilder(const OpDef& op);
// The struct of optional attributes, the struct of outputs if there are several, and the
// declaration of the function with the documentation of the op.
std::string DeclarationText(const OpDef& op);
std::string DefinitionText(const OpDef& op);

}  // namespace sluice

#endif  // SLUICE_OPS_BUILDERS_OP_FUNCTION_H_
