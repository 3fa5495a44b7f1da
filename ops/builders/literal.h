// Writes types and values of attributes as C++ code, for the generated builder functions.
#ifndef SLUICE_OPS_BUILDERS_LITERAL_H_
#define SLUICE_OPS_BUILDERS_LITERAL_H_

#include <string>
#include <string_view>

#include "graph/op/op_def.h"

namespace sluice {

// The type of the member for the attribute: "std::vector<int64_t>".
std::string MemberType(const AttrDef& attr);
// The type of the parameter for the attribute, which callers can pass without a copy.
std::string ParameterType(const AttrDef& attr);
// An expression that converts the parameter or member `name` to MemberType.
std::string AsAttrValue(const AttrDef& attr, const std::string& name);
// The initialiser of the member, such as " = true". "" for a default-constructed value.
std::string Initialiser(const AttrDef& attr, const AttrValue& value);
// `name`, followed by '_' if it is a C++ keyword or would hide a name that the function body uses.
std::string Identifier(std::string_view name);

}  // namespace sluice

#endif  // SLUICE_OPS_BUILDERS_LITERAL_H_
