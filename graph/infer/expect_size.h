// ExpectSize checks the size of a dimension in a shape function. Thread safety: a pure function.
#ifndef SLUICE_GRAPH_INFER_EXPECT_SIZE_H_
#define SLUICE_GRAPH_INFER_EXPECT_SIZE_H_

#include <cstdint>

#include "graph/status.h"

namespace sluice {

// Returns OK if the size of a dimension is unknown (negative) or as expected. Otherwise returns
// INVALID_ARGUMENT "Dimension must be 2 but is 3".
inline absl::Status ExpectSize(int64_t size, int64_t expected) {
  SLUICE_INVALID_IF(size >= 0 && size != expected, "Dimension must be ", expected, " but is ",
                    size);
  return absl::OkStatus();
}

}  // namespace sluice

#endif  // SLUICE_GRAPH_INFER_EXPECT_SIZE_H_
