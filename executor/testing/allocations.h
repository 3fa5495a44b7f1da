// Counts what a test's program takes from the heap by `new`. Linking this replaces the program's
// operators; tests only.
#ifndef SLUICE_EXECUTOR_TESTING_ALLOCATIONS_H_
#define SLUICE_EXECUTOR_TESTING_ALLOCATIONS_H_

#include <cstdint>

namespace sluice::testing {

// Since the program's start, of all threads.
int64_t Allocations();

}  // namespace sluice::testing

#endif  // SLUICE_EXECUTOR_TESTING_ALLOCATIONS_H_
