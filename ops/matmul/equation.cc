#include "ops/matmul/equation.h"

#include "graph/status.h"

namespace sluice {
namespace {

constexpr std::string_view kEllipsis = "...";

absl::Status Check(std::string_view subscripts) {
  const size_t dots = subscripts.find(kEllipsis);
  for (size_t i = 0; i < subscripts.size(); ++i) {
    if (dots != std::string_view::npos && i >= dots && i < dots + 3) continue;
    SLUICE_INVALID_IF(
        subscripts[i] == '.',
        "Expected at most one ellipsis (...), but found other periods (.) in the input "
        "subscript: ",
        subscripts);
  }
  return absl::OkStatus();
}

}  // namespace

Subscripts::Subscripts(std::string_view text) {
  const size_t dots = text.find(kEllipsis);
  has_ellipsis_ = dots != std::string_view::npos;
  labels_ = std::string(text.substr(0, dots));
  before_ = named();
  if (has_ellipsis_) labels_ += text.substr(dots + 3);
}

namespace {

// Checks the output. `labels` are the labels of all inputs.
absl::Status CheckOutput(const Equation& equation, const std::string& labels,
                         std::string_view text) {
  for (char label : equation.output.labels()) {
    SLUICE_INVALID_IF(labels.find(label) == std::string::npos,
                      "Einsum output subscripts for equation '", text, "' has label '",
                      std::string(1, label), "' which is not present in the input subscripts");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Equation> ParseEquation(std::string_view text, int inputs) {
  const size_t arrow = text.find("->");
  SLUICE_INVALID_IF(
      arrow == std::string_view::npos || text.find("->", arrow + 1) != std::string_view::npos,
      "Expecting exactly one '->' in einsum equation: ", text);
  Equation equation;
  std::string_view rest = text.substr(0, arrow);
  std::string seen;
  for (;;) {
    const size_t comma = rest.find(',');
    const std::string_view one = rest.substr(0, comma);
    SLUICE_RETURN_IF_ERROR(Check(one));
    equation.inputs.emplace_back(one);
    seen += equation.inputs.back().labels();
    if (comma == std::string_view::npos) break;
    rest = rest.substr(comma + 1);
  }
  SLUICE_INVALID_IF(static_cast<int>(equation.inputs.size()) != inputs, "Expected ",
                    equation.inputs.size(), " inputs for equation ", text, " but got: ", inputs);
  SLUICE_INVALID_IF(inputs > 2, "Expecting 1 or 2 input subscripts in equation '", text,
                    "' but got: ", inputs);
  const std::string_view out = text.substr(arrow + 2);
  SLUICE_RETURN_IF_ERROR(Check(out));
  equation.output = Subscripts(out);
  SLUICE_RETURN_IF_ERROR(CheckOutput(equation, seen, text));
  return equation;
}

}  // namespace sluice
