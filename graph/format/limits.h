// How much a message from outside (a file, a peer) may make us hold. A few bytes can describe
// 2^62 elements or nest without end; whoever reads messages passes one Budget through the reading.
//
// Thread safety: as for any value; one reader uses one Budget.
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

// What is left while a message is read.
struct FormatBudget {
  explicit FormatBudget(const FormatLimits& l = {}) : limits(l), bytes_left(l.max_total_bytes) {}
  FormatLimits limits;
  int64_t bytes_left;
};

}  // namespace sluice

#endif  // SLUICE_GRAPH_FORMAT_LIMITS_H_
