// FormatLimits bounds the memory and the recursion that a message from a file or a peer may cost.
// Without bounds, a few bytes could describe a tensor of 2^62 elements. Code that reads a message
// passes one FormatBudget to all calls.
//
// Thread safety: values. A FormatBudget is used by one thread.
#ifndef SLUICE_GRAPH_FORMAT_LIMITS_H_
#define SLUICE_GRAPH_FORMAT_LIMITS_H_

#include <cstdint>

namespace sluice {

struct FormatLimits {
  int64_t max_tensor_bytes = int64_t{1} << 33;  // one tensor
  int64_t max_total_bytes = int64_t{1} << 34;   // all tensors of the message
  int64_t max_nodes = int64_t{1} << 23;
  int64_t max_list_length = int64_t{1} << 20;  // elements of a list in an attribute
  int max_attr_depth = 32;                     // nesting of functions in attributes of functions
};

// The limits, and the number of bytes that tensors in the rest of the message may use.
struct FormatBudget {
  explicit FormatBudget(const FormatLimits& l = {}) : limits(l), bytes_left(l.max_total_bytes) {}
  FormatLimits limits;
  int64_t bytes_left;
};

}  // namespace sluice

#endif  // SLUICE_GRAPH_FORMAT_LIMITS_H_
