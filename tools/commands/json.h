// Builds JSON text, the inner values first:
//
//   JsonObject().Add("name", JsonString(name)).Add("shape", JsonShape(shape)).str()
//
// Thread safety: pure functions and values. Reference: RFC 8259.
#ifndef SLUICE_TOOLS_COMMANDS_JSON_H_
#define SLUICE_TOOLS_COMMANDS_JSON_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/flags/declare.h"
#include "graph/tensor/shape.h"
#include "graph/tensor/tensor.h"

// Commands that have --json print one JSON value instead of text.
ABSL_DECLARE_FLAG(bool, json);

namespace sluice {

// The text in quotes. {"b64": base64} if it is not UTF-8, as in TensorFlow Serving's REST API.
std::string JsonString(std::string_view text);
// Infinities and NaN are strings: "inf", "-inf", "nan".
std::string JsonNumber(double value);
std::string JsonArray(const std::vector<std::string>& elements);
std::string JsonStrings(const std::vector<std::string>& texts);
// [2,null] for [2,?]; null for an unknown rank.
std::string JsonShape(const PartialShape& shape);
// {"dtype": …, "shape": […], "values": nested arrays}. Complex numbers are [real, imaginary]. For
// types without a form in JSON (quantized types, float8, resource, …), "values" is a string.
std::string JsonTensor(const Tensor& tensor);

class JsonObject {
 public:
  // `json` is the text of a value.
  JsonObject& Add(std::string_view key, std::string_view json);
  JsonObject& Add(std::string_view key, int64_t number);
  std::string str() const { return "{" + members_ + "}"; }

 private:
  std::string members_;
};

// An object with one member per entry.
std::string JsonCounts(const std::map<std::string, int>& counts);

}  // namespace sluice

#endif  // SLUICE_TOOLS_COMMANDS_JSON_H_
