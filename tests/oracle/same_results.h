// Compares the results of two runs of a step.
#ifndef SLUICE_TESTS_ORACLE_SAME_RESULTS_H_
#define SLUICE_TESTS_ORACLE_SAME_RESULTS_H_

#include "absl/status/status.h"
#include "graph/tensor/tensor.h"

namespace sluice::oracle {

// INTERNAL, with the first different element, if the results differ. Floating-point numbers may
// differ by a fraction of the largest element, because passes may change the order of sums: 1e-12
// for double, 1e-6 for float, 1e-3 for half, 1e-2 for bfloat16. Strings and elements of other types
// must be equal, but resources and variants are not compared.
absl::Status ExpectSame(const Tensors& expected, const Tensors& found);

}  // namespace sluice::oracle

#endif  // SLUICE_TESTS_ORACLE_SAME_RESULTS_H_
