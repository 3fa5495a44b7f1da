// Counts the calls of operator new in a test program. Linking this library replaces the program's
// operators new and delete. For tests only.
#ifndef SLUICE_EXECUTOR_TESTING_ALLOCATIONS_H_
#define SLUICE_EXECUTOR_TESTING_ALLOCATIONS_H_

#include <cstdint>

namespace sluice::testing {

// Returns the number of calls by all threads since the program's start.
int64_t Allocations();

}  // namespace sluice::testing

#endif  // SLUICE_EXECUTOR_TESTING_ALLOCATIONS_H_
