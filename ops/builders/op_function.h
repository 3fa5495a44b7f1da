// Generates the C++ text of the builder function of an op.
#ifndef SLUICE_OPS_BUILDERS_OP_FUNCTION_H_
#define SLUICE_OPS_BUILDERS_OP_FUNCTION_H_

#include <string>

#include "graph/op/op_def.h"

namespace sluice {

// Whether the op has a builder function. Hidden ops, and internal ops, whose names begin with '_',
// have none.
bool HasBuilder(const OpDef& op);
// Returns the text for the header: the struct of optional attributes, the struct of outputs if
// there are several, and the declaration of the function with the documentation of the op.
std::string DeclarationText(const OpDef& op);
// Returns the definition of the function, for the .cc file.
std::string DefinitionText(const OpDef& op);

}  // namespace sluice

#endif  // SLUICE_OPS_BUILDERS_OP_FUNCTION_H_
