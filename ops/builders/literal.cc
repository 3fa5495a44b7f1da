#include "ops/builders/literal.h"

#include <charconv>
#include <cmath>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "graph/strings.h"

namespace sluice {
namespace {

std::string ElementType(AttrKind kind) {
  switch (kind) {
    case AttrKind::kString:
      return "std::string";
    case AttrKind::kInt:
      return "int64_t";
    case AttrKind::kFloat:
      return "float";
    case AttrKind::kBool:
      return "bool";
    case AttrKind::kType:
      return "DataType";
    case AttrKind::kShape:
      return "PartialShape";
    case AttrKind::kTensor:
      return "Tensor";
    case AttrKind::kFunction:
      return "FunctionAttr";
  }
  return "";
}

std::string Literal(const std::string& v) { return StrCat("\"", absl::CEscape(v), "\""); }
std::string Literal(bool v) { return v ? "true" : "false"; }
std::string Literal(DataType v) {
  if (v == DT_INVALID) return "DT_INVALID";
  return "DT_" + absl::AsciiStrToUpper(DataTypeName(v));
}
std::string Literal(int64_t v) {
  if (v == INT64_MIN) return "INT64_MIN";
  return StrCat(v);
}
std::string Literal(float v) {
  if (std::isnan(v)) return "std::numeric_limits<float>::quiet_NaN()";
  if (std::isinf(v)) {
    return StrCat(v < 0 ? "-" : "", "std::numeric_limits<float>::infinity()");
  }
  char text[64];
  // Writes the shortest text from which the same number can be read.
  std::string s(text, std::to_chars(text, text + sizeof(text), v).ptr);
  if (s.find_first_of(".e") == s.npos) s += ".0";
  return s + "f";
}
std::string Literal(const PartialShape& v) {
  if (!v.rank_known()) return "PartialShape()";
  if (v.rank() == 0) return "PartialShape::Scalar()";
  std::string dims;
  for (int64_t d : v.dims()) StrAppend(&dims, dims.empty() ? "" : ", ", d);
  return StrCat("PartialShape({", dims, "})");
}
// These kinds have no literal, so members are value-initialised. Only tensors occur as defaults.
std::string Literal(const FunctionAttr&) { return "{}"; }
std::string Literal(const Tensor&) { return "{}"; }
std::string Literal(std::monostate) { return "{}"; }
std::string Literal(const AttrPlaceholder&) { return "{}"; }
template <typename T>
std::string Literal(const std::vector<T>& v) {
  std::string elements;
  for (const auto& e : v) {
    StrAppend(&elements, elements.empty() ? "" : ", ", Literal(static_cast<const T&>(e)));
  }
  return StrCat("{", elements, "}");
}

}  // namespace

std::string MemberType(const AttrDef& attr) {
  const std::string element = ElementType(attr.kind);
  return attr.is_list ? StrCat("std::vector<", element, ">") : element;
}

std::string ParameterType(const AttrDef& attr) {
  if (attr.is_list) return StrCat("const ", MemberType(attr), "&");
  switch (attr.kind) {
    case AttrKind::kString:
      return "std::string_view";
    case AttrKind::kShape:
    case AttrKind::kTensor:
    case AttrKind::kFunction:
      return StrCat("const ", MemberType(attr), "&");
    default:
      return MemberType(attr);
  }
}

std::string AsAttrValue(const AttrDef& attr, const std::string& name) {
  const bool is_string = attr.kind == AttrKind::kString && !attr.is_list;
  return is_string ? StrCat("std::string(", name, ")") : name;
}

std::string Initialiser(const AttrDef&, const AttrValue& value) {
  const std::string literal = std::visit([](const auto& v) { return Literal(v); }, value);
  return literal == "{}" ? "" : StrCat(" = ", literal);
}

std::string Identifier(std::string_view name) {
  static const std::set<std::string, std::less<>> kTaken = {
      "alignas",  "and",       "asm",    "at",       "attrs",     "auto",     "bool",
      "break",    "case",      "catch",  "char",     "class",     "concept",  "const",
      "continue", "default",   "delete", "do",       "double",    "else",     "enum",
      "explicit", "export",    "extern", "false",    "float",     "for",      "friend",
      "goto",     "graph",     "if",     "inline",   "int",       "long",     "mutable",
      "name",     "namespace", "new",    "not",      "operation", "operator", "or",
      "private",  "protected", "public", "register", "requires",  "return",   "short",
      "signed",   "sizeof",    "static", "struct",   "switch",    "template", "this",
      "throw",    "true",      "try",    "typedef",  "typename",  "union",    "unsigned",
      "using",    "virtual",   "void",   "volatile", "while",     "xor"};
  std::string id(name);
  for (char& c : id) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return kTaken.contains(id) ? id + "_" : id;
}

}  // namespace sluice
