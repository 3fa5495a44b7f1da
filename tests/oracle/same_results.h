// Compares the results of two runs of a step.
#ifndef SLUICE_TESTS_ORACLE_SAME_RESULTS_H_
#define SLUICE_TESTS_ORACLE_SAME_RESULTS_H_

#include "absl/status/status.h"
#include "graph/tensor/tensor.h"

namespace sluice::oracle {

// INTERNAL, with the first different element, if the results differ. Elements are compared by bits.
// Floating-point numbers may differ by 1e-6 of the largest element (16-bit types: by one unit in
// its last place), because passes may change the order of sums.
absl::Status ExpectSame(const Tensors& expected, const Tensors& found);

}  // namespace sluice::oracle

#endif  // SLUICE_TESTS_ORACLE_SAME_RESULTS_H_
