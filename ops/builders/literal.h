// Writes types and values of attributes as C++ code, for the generated builder functions. A
// required attribute is a parameter of such a function. The optional attributes are the members of
// a struct, which the function takes as parameter `attrs`.
#ifndef SLUICE_OPS_BUILDERS_LITERAL_H_
#define SLUICE_OPS_BUILDERS_LITERAL_H_

#include <string>
#include <string_view>

#include "graph/op/op_def.h"

namespace sluice {

// The type of the struct member for attribute `attr`, such as "std::vector<int64_t>".
std::string MemberType(const AttrDef& attr);
// The type of the parameter for attribute `attr`. Passing it copies no data: for a string
// attribute, the type is "std::string_view".
std::string ParameterType(const AttrDef& attr);
// An expression that converts the parameter or struct member `name` to the type MemberType(attr).
std::string AsAttrValue(const AttrDef& attr, const std::string& name);
// The initialiser of the struct member, such as " = true". "" if `value` is the default-constructed
// value of its type.
std::string Initialiser(const AttrDef& attr, const AttrValue& value);
// `name`, followed by '_' if it is a C++ keyword or would hide a name that the function body uses.
std::string Identifier(std::string_view name);

}  // namespace sluice

#endif  // SLUICE_OPS_BUILDERS_LITERAL_H_
