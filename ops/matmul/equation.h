// An equation of Einsum, taken apart: "ab...,bc->ac...".
//
// Errors: INVALID_ARGUMENT on one that makes no sense for the number of inputs.
#ifndef SLUICE_OPS_MATMUL_EQUATION_H_
#define SLUICE_OPS_MATMUL_EQUATION_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace sluice {

// The labels of one tensor's axes, with an ellipsis among them or not.
class Subscripts {
 public:
  Subscripts() = default;
  explicit Subscripts(std::string_view text);
  bool has_ellipsis() const { return has_ellipsis_; }
  int named() const { return static_cast<int>(labels_.size()); }
  // Labels in front of the ellipsis; all where there is none.
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

absl::StatusOr<Equation> ParseEquation(std::string_view text, int inputs);

}  // namespace sluice

#endif  // SLUICE_OPS_MATMUL_EQUATION_H_
