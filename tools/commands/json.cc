#include "tools/commands/json.h"

#include <charconv>
#include <cmath>
#include <complex>

#include "absl/flags/flag.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "graph/json.h"
#include "graph/strings.h"

ABSL_FLAG(bool, json, false, "ops, inspect, run: print JSON; ops: one object per line");

namespace sluice {
namespace {

template <typename T>
std::string Element(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return JsonString(value);
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_integral_v<T>) {
    return StrCat(static_cast<std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>(value));
  } else if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>) {
    return JsonArray({Element(value.real()), Element(value.imag())});
  } else {
    // The shortest text that reads back as the same float or double.
    using Number = std::conditional_t<std::is_same_v<T, double>, double, float>;
    const auto number = static_cast<Number>(value);
    if (!std::isfinite(number)) return JsonNumber(number);
    char text[32];
    return std::string(text, std::to_chars(text, text + sizeof text, number).ptr);
  }
}

// The elements of dimensions `dim` and up, from `*next` on.
template <typename T>
std::string Nested(const Tensor& tensor, int dim, int64_t* next) {
  if (dim == tensor.rank()) return Element(tensor.data<T>()[(*next)++]);
  std::vector<std::string> parts;
  for (int64_t i = 0; i < tensor.dim(dim); ++i) parts.push_back(Nested<T>(tensor, dim + 1, next));
  return JsonArray(parts);
}

template <DataType... kTypes>
std::string ValuesAs(const Tensor& tensor) {
  std::string text;
  int64_t next = 0;
  const DataType dtype = BaseType(tensor.dtype());
  ((dtype == kTypes ? void(text = Nested<typename CppTypeOf<kTypes>::type>(tensor, 0, &next))
                    : void()),
   ...);
  return text;
}

}  // namespace

std::string JsonString(std::string_view text) {
  if (IsUtf8(text)) return JsonQuoted(text);
  return StrCat("{\"b64\": \"", absl::Base64Escape(ToAbsl(text)), "\"}");
}

std::string JsonNumber(double value) {
  if (std::isnan(value)) return "\"nan\"";
  if (std::isinf(value)) return value > 0 ? "\"inf\"" : "\"-inf\"";
  return absl::StrFormat("%.10g", value);
}

std::string JsonArray(const std::vector<std::string>& elements) {
  return StrCat("[", absl::StrJoin(elements, ", "), "]");
}

std::string JsonStrings(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const std::string& text : texts) quoted.push_back(JsonString(text));
  return JsonArray(quoted);
}

std::string JsonShape(const PartialShape& shape) {
  if (!shape.rank_known()) return "null";
  std::vector<std::string> dims;
  for (const int64_t dim : shape.dims()) dims.push_back(dim < 0 ? "null" : StrCat(dim));
  return JsonArray(dims);
}

std::string JsonTensor(const Tensor& tensor) {
  std::string values = ValuesAs<DT_FLOAT, DT_DOUBLE, DT_HALF, DT_BFLOAT16, DT_INT8, DT_INT16,
                                DT_INT32, DT_INT64, DT_UINT8, DT_UINT16, DT_UINT32, DT_UINT64,
                                DT_BOOL, DT_COMPLEX64, DT_COMPLEX128, DT_STRING>(tensor);
  if (values.empty()) values = JsonString(tensor.SummarizeValues(-1));
  return JsonObject()
      .Add("dtype", JsonString(DataTypeName(tensor.dtype())))
      .Add("shape", JsonShape(tensor.shape()))
      .Add("values", values)
      .str();
}

JsonObject& JsonObject::Add(std::string_view key, std::string_view json) {
  StrAppend(&members_, members_.empty() ? "" : ", ", JsonString(key), ": ", json);
  return *this;
}

JsonObject& JsonObject::Add(std::string_view key, int64_t number) {
  return Add(key, StrCat(number));
}

std::string JsonCounts(const std::map<std::string, int>& counts) {
  JsonObject object;
  for (const auto& [name, count] : counts) object.Add(name, int64_t{count});
  return object.str();
}

}  // namespace sluice
