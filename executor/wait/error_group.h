// Collects the errors of a step that fails in several places, and makes the one status that its
// caller gets.
//
// A root error is what went wrong. A derived error follows from it: a node that was cancelled, or a
// receiver whose sender failed. Derived errors are reported only if there is no root error.
//
// Thread safety: none.
// Order: root errors are sorted by their text, in descending order. So the status does not depend
//   on which of them came first.
// Reference: TensorFlow's StatusGroup. A task returns the Summary of its devices' errors, a cluster
//   the Concatenation of its tasks' errors. Only the line "<n> successful operations." is missing.
#ifndef SLUICE_EXECUTOR_WAIT_ERROR_GROUP_H_
#define SLUICE_EXECUTOR_WAIT_ERROR_GROUP_H_

#include <vector>

#include "absl/status/status.h"

namespace sluice {

// Returns the error, marked as derived. Annotate and AnnotateAfter keep the mark. Messages between
// tasks do not contain the mark.
absl::Status DerivedError(absl::Status status);
bool IsDerived(const absl::Status& status);

class ErrorGroup {
 public:
  // Adds an error. OK is ignored.
  void Add(absl::Status status);
  bool ok() const { return roots_.empty() && derived_.empty(); }
  // The number of different root errors.
  size_t num_roots() const { return roots_.size(); }

  // Returns OK if there is no error, and the root error if there is exactly one. For several root
  // errors, the message begins with "<n> root error(s) found.", and the code is that of the first
  // root error that is not CANCELLED. Without a root error, returns the first derived error that is
  // not CANCELLED, or the first one if all are.
  absl::Status Summary() const;
  // Like Summary, but several root errors are listed between two lines of "=====", with the code of
  // the first root error. The result is the error of the whole step, so it is never marked as
  // derived.
  absl::Status Concatenation() const;

 private:
  // Returns the error that Summary returns unchanged. Null if there are several root errors.
  const absl::Status* Single() const;
  absl::Status Grouped(absl::StatusCode code, std::string message) const;

  std::vector<absl::Status> roots_;  // sorted as above, without duplicates
  std::vector<absl::Status> derived_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_WAIT_ERROR_GROUP_H_
