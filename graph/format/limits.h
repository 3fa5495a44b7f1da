// Bounds on the memory and recursion that a message from a file or a peer may cost. A few bytes can
// describe 2^62 elements or nest without end. A reader passes one FormatBudget through all calls.
//
// Thread safety: values; one reader uses one FormatBudget.
#ifndef SLUICE_GRAPH_FORMAT_LIMITS_H_
#define SLUICE_GRAPH_FORMAT_LIMITS_H_

#include <cstdint>

namespace sluice {

struct FormatLimits {
  int64_t max_tensor_bytes = int64_t{1} << 33;  // one tensor
  int64_t max_total_bytes = int64_t{1} << 34;   // all tensors of the message
  int64_t max_nodes = int64_t{1} << 23;
  int64_t max_list_length = int64_t{1} << 20;  // tensors in one argument, elements of a list
  int max_attr_depth = 32;                     // functions as attributes of functions as …
};

// The memory that the rest of a message may use.
struct FormatBudget {
  explicit FormatBudget(const FormatLimits& l = {}) : limits(l), bytes_left(l.max_total_bytes) {}
  FormatLimits limits;
  int64_t bytes_left;
};

}  // namespace sluice

#endif  // SLUICE_GRAPH_FORMAT_LIMITS_H_
