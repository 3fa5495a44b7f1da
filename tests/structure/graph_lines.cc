#include "tests/structure/graph_lines.h"

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "absl/strings/str_join.h"
#include "graph/strings.h"

namespace sluice {
namespace {

constexpr int64_t kValuesShown = 8;

std::string Text(double v) {
  char text[32];
  snprintf(text, sizeof(text), "%.6g", v);
  return text;
}

template <typename T>
std::string Values(const Tensor& tensor) {
  std::vector<std::string> parts;
  for (int64_t i = 0; i < std::min(kValuesShown, tensor.num_elements()); ++i) {
    if constexpr (std::is_same_v<T, std::string>) {
      parts.push_back(tensor.data<T>()[i]);
    } else {
      parts.push_back(Text(static_cast<double>(tensor.data<T>()[i])));
    }
  }
  return absl::StrJoin(parts, " ");
}

std::string Values(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DT_FLOAT:
      return Values<float>(tensor);
    case DT_DOUBLE:
      return Values<double>(tensor);
    case DT_INT32:
      return Values<int32_t>(tensor);
    case DT_INT64:
      return Values<int64_t>(tensor);
    case DT_STRING:
      return Values<std::string>(tensor);
    default:
      return "?";
  }
}

std::string Line(const Node& node) {
  std::vector<std::string> inputs, controls;
  for (const Output& in : node.inputs()) {
    inputs.push_back(in.index == 0 ? in.node->name() : in.name());
  }
  for (const Node* c : node.control_inputs()) controls.push_back("^" + c->name());
  std::sort(controls.begin(), controls.end());
  inputs.insert(inputs.end(), controls.begin(), controls.end());
  std::string line = StrCat(node.name(), " ", node.op(), "(", absl::StrJoin(inputs, ", "), ")");
  if (!node.device().empty()) StrAppend(&line, " @", node.device());
  if (const auto* groups = node.FindAttr<std::vector<std::string>>("_class")) {
    StrAppend(&line, " class=", absl::StrJoin(*groups, ","));
  }
  if (const auto* value = node.FindAttr<Tensor>("value")) {
    StrAppend(&line, " value=", DataTypeName(value->dtype()), value->shape().ToString(), "{",
              Values(*value), "}");
  }
  if (const std::string name = node.AttrOr<std::string>("shared_name", ""); !name.empty()) {
    StrAppend(&line, " shared_name=", name);
  }
  if (const int64_t capacity = node.AttrOr<int64_t>("capacity", 0); capacity != 0) {
    StrAppend(&line, " capacity=", capacity);
  }
  if (const auto* seed = node.FindAttr<int64_t>("seed")) {
    StrAppend(&line, " seeds=", *seed, ",", node.AttrOr<int64_t>("seed2", 0));
  }
  return line;
}

std::vector<std::string> Minus(const std::vector<std::string>& a,
                               const std::vector<std::string>& b) {
  std::vector<std::string> rest;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(rest));
  return rest;
}

}  // namespace

std::vector<std::string> GraphLines(const Graph& graph) {
  std::vector<std::string> lines;
  for (const Node* node : graph.nodes()) lines.push_back(Line(*node));
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::vector<std::string> FixtureLines(std::string_view title) {
  std::ifstream file("tests/structure/fixtures.txt");
  std::vector<std::string> lines;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("== ")) {
      inside = line.substr(3) == title;
    } else if (inside) {
      lines.push_back(line);
    }
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

testing::AssertionResult EqualsFixture(const Graph& graph, std::string_view title) {
  if (!graph.status().ok()) return testing::AssertionFailure() << graph.status();
  const std::vector<std::string> expected = FixtureLines(title);
  if (expected.empty()) return testing::AssertionFailure() << "no fixture '" << title << "'";
  const std::vector<std::string> got = GraphLines(graph);
  if (got == expected) return testing::AssertionSuccess();
  testing::AssertionResult failure = testing::AssertionFailure();
  for (const std::string& line : Minus(expected, got)) failure << "\n- " << line;
  for (const std::string& line : Minus(got, expected)) failure << "\n+ " << line;
  return failure;
}

}  // namespace sluice
