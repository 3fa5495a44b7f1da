// Whether two runs of a step gave the same.
#ifndef SLUICE_TESTS_ORACLE_SAME_RESULTS_H_
#define SLUICE_TESTS_ORACLE_SAME_RESULTS_H_

#include "absl/status/status.h"
#include "graph/tensor/tensor.h"

namespace sluice::oracle {

// INTERNAL, and the first element that differs: by bits, and for floating numbers by more than 1e-6
// of the largest element (of the last place for 16-bit ones), since passes may change the order of
// sums.
absl::Status ExpectSame(const Tensors& expected, const Tensors& found);

}  // namespace sluice::oracle

#endif  // SLUICE_TESTS_ORACLE_SAME_RESULTS_H_
