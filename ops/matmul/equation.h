// Parses equations of Einsum: "ab...,bc->ac...".
//
// Errors: INVALID_ARGUMENT for an equation that is malformed or does not fit the number of inputs.
#ifndef SLUICE_OPS_MATMUL_EQUATION_H_
#define SLUICE_OPS_MATMUL_EQUATION_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace sluice {

// The labels of one tensor's axes, for example "ab...". An ellipsis stands for any number of axes.
class Subscripts {
 public:
  Subscripts() = default;
  explicit Subscripts(std::string_view text);
  bool has_ellipsis() const { return has_ellipsis_; }
  // Number of labels. The ellipsis does not count.
  int named() const { return static_cast<int>(labels_.size()); }
  // Number of labels before the ellipsis. Without an ellipsis, the number of all labels.
  int before() const { return before_; }
  char label(int i) const { return labels_[i]; }
  const std::string& labels() const { return labels_; }

 private:
  std::string labels_;
  bool has_ellipsis_ = false;
  int before_ = 0;
};

struct Equation {
  std::vector<Subscripts> inputs;
  Subscripts output;
};

// Parses the equation of a node with `inputs` inputs, which must be 1 or 2.
absl::StatusOr<Equation> ParseEquation(std::string_view text, int inputs);

}  // namespace sluice

#endif  // SLUICE_OPS_MATMUL_EQUATION_H_
