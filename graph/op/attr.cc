#include "graph/op/attr.h"

#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_join.h"
#include "graph/strings.h"

namespace sluice {
namespace {

bool Equal(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  if (a.dtype() == DT_STRING) return a.flat<std::string>() == b.flat<std::string>();
  if (!IsPlainBytes(a.dtype())) return a.raw() == b.raw();
  return a.bytes() == 0 || std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}
bool Equal(const FunctionAttr& a, const FunctionAttr& b) {
  if (a == b) return true;
  return a && b && a->name == b->name && AttrMapsEqual(a->attrs, b->attrs);
}
template <typename T>
bool Equal(const T& a, const T& b) {
  return a == b;
}
template <typename T>
bool Equal(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!Equal(static_cast<const T&>(a[i]), static_cast<const T&>(b[i]))) return false;
  }
  return true;
}

std::string Text(std::monostate) { return "<unset>"; }
std::string Text(const std::string& v) { return StrCat("\"", absl::CEscape(v), "\""); }
std::string Text(int64_t v) { return StrCat(v); }
std::string Text(float v) { return StrCat(v); }
std::string Text(bool v) { return v ? "true" : "false"; }
std::string Text(DataType v) {
  if (!IsValidDataType(v)) return "DT_INVALID";
  return "DT_" + absl::AsciiStrToUpper(DataTypeName(v));
}
std::string Text(const PartialShape& v) { return v.ToString(); }
std::string Text(const Tensor& v) { return v.ToString(3); }
std::string Text(const FunctionAttr& v) { return v ? v->name : "<no function>"; }
std::string Text(const AttrPlaceholder& v) { return "$" + v.name; }
template <typename T>
std::string Text(const std::vector<T>& v) {
  std::vector<std::string> parts;
  for (const auto& e : v) parts.push_back(Text(static_cast<const T&>(e)));
  return StrCat("[", absl::StrJoin(parts, ", "), "]");
}

}  // namespace

bool AttrEquals(const AttrValue& a, const AttrValue& b) {
  if (a.index() != b.index()) return false;
  return std::visit([&](const auto& v) { return Equal(v, std::get<std::decay_t<decltype(v)>>(b)); },
                    a);
}

bool AttrMapsEqual(const AttrMap& a, const AttrMap& b) {
  if (a.size() != b.size()) return false;
  for (auto i = a.begin(), j = b.begin(); i != a.end(); ++i, ++j) {
    if (i->first != j->first || !AttrEquals(i->second, j->second)) return false;
  }
  return true;
}

std::string AttrToString(const AttrValue& v) {
  return std::visit([](const auto& x) { return Text(x); }, v);
}

}  // namespace sluice
