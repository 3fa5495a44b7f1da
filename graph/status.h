// Macros that return early from a function with an error (absl::Status, absl::StatusOr), and
// functions that make errors or extend their messages. Thread safety: pure functions.
#ifndef SLUICE_GRAPH_STATUS_H_
#define SLUICE_GRAPH_STATUS_H_

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/strings.h"

#define SLUICE_RETURN_IF_ERROR(expr)                                             \
  do {                                                                           \
    if (absl::Status sluice_status_ = (expr); !sluice_status_.ok()) [[unlikely]] \
      return sluice_status_;                                                     \
  } while (false)

#define SLUICE_CONCAT_INNER_(a, b) a##b
#define SLUICE_CONCAT_(a, b) SLUICE_CONCAT_INNER_(a, b)
// Returns the error of `expr`, an absl::StatusOr, or else assigns its value to `lhs`, which may
// declare a variable: SLUICE_ASSIGN_OR_RETURN(auto x, F());
#define SLUICE_ASSIGN_OR_RETURN(lhs, expr) \
  SLUICE_ASSIGN_OR_RETURN_IMPL_(SLUICE_CONCAT_(sluice_or_, __LINE__), lhs, expr)
#define SLUICE_ASSIGN_OR_RETURN_IMPL_(tmp, lhs, expr) \
  auto tmp = (expr);                                  \
  if (!tmp.ok()) [[unlikely]]                         \
    return tmp.status();                              \
  lhs = *std::move(tmp)

// Returns INVALID_ARGUMENT with the concatenated arguments if the condition holds:
// SLUICE_INVALID_IF(x.rank() != 2, "x must be a matrix, got shape ", x.shape().ToString());
#define SLUICE_INVALID_IF(condition, ...)            \
  do {                                               \
    if (condition) [[unlikely]]                      \
      return ::sluice::InvalidArgument(__VA_ARGS__); \
  } while (false)

namespace sluice {

// Returns `status` with `prefix` before its message and the same code and payloads. OK stays OK.
absl::Status Annotate(const absl::Status& status, std::string_view prefix);
// Like Annotate, but puts `suffix` after the message.
absl::Status AnnotateAfter(const absl::Status& status, std::string_view suffix);
// Returns the text that errors end with to name their node, as in TensorFlow:
// "\n\t [[{{node NAME}}]]".
std::string AtNode(std::string_view name);

// Returns INVALID_ARGUMENT with the concatenated arguments as its message.
template <typename... Args>
absl::Status InvalidArgument(const Args&... args) {
  return absl::InvalidArgumentError(StrCat(args...));
}

}  // namespace sluice

#endif  // SLUICE_GRAPH_STATUS_H_
