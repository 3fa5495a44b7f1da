// The errors of a step that fails in several places, and the one status that its caller gets.
//
// A root error is what went wrong. A derived error follows from it: a node that was cancelled, or a
// receiver whose sender failed. Derived errors are reported only if there is no root error.
//
// Thread safety: none.
// Order: root errors are sorted by their text, in descending order. So the status does not depend
//   on which of them came first.
// Reference: TensorFlow's StatusGroup. The devices of a task give a summary, the tasks of a cluster
//   a concatenation. Only the line "<n> successful operations." is missing.
#ifndef SLUICE_EXECUTOR_WAIT_ERROR_GROUP_H_
#define SLUICE_EXECUTOR_WAIT_ERROR_GROUP_H_

#include <vector>

#include "absl/status/status.h"

namespace sluice {

// Marks an error as derived. Annotations keep the mark. It does not pass the wire.
absl::Status DerivedError(absl::Status status);
bool IsDerived(const absl::Status& status);

class ErrorGroup {
 public:
  void Add(absl::Status status);
  bool ok() const { return roots_.empty() && derived_.empty(); }
  // Different root errors.
  size_t num_roots() const { return roots_.size(); }

  // OK without errors. The root error if there is one. If there are several, a message that begins
  // with "<n> root error(s) found.", and the code of the first one that is not CANCELLED. If there
  // is none, the first derived error that is not CANCELLED, or else the first one.
  absl::Status Summary() const;
  // The same, except that several root errors are listed between two lines of "=====", with the
  // code of the first one. It is the error of the whole step, so it is never marked as derived.
  absl::Status Concatenation() const;

 private:
  // The status if at most one error matters for it.
  const absl::Status* Single() const;
  absl::Status Grouped(absl::StatusCode code, std::string message) const;

  std::vector<absl::Status> roots_;  // in order, without duplicates
  std::vector<absl::Status> derived_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_WAIT_ERROR_GROUP_H_
