// C++ spellings of attributes for the generated builder functions.
#ifndef SLUICE_OPS_BUILDERS_LITERAL_H_
#define SLUICE_OPS_BUILDERS_LITERAL_H_

#include <string>
#include <string_view>

#include "graph/op/op_def.h"

namespace sluice {

// The type of a member that holds such an attribute: "std::vector<int64_t>".
std::string MemberType(const AttrDef& attr);
// The type of a parameter: what a caller can give without a copy.
std::string ParameterType(const AttrDef& attr);
// The parameter or member `name` as a value of MemberType.
std::string AsAttrValue(const AttrDef& attr, const std::string& name);
// An initialiser of MemberType, with its "= ": " = true"; "" for a default-constructed value.
std::string Initialiser(const AttrDef& attr, const AttrValue& value);
// `name`, with '_' behind it where it is a C++ keyword or would hide what a function body uses.
std::string Identifier(std::string_view name);

}  // namespace sluice

#endif  // SLUICE_OPS_BUILDERS_LITERAL_H_
