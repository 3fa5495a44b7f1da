// Counts the locks that a test program takes. Linking this library replaces pthread_mutex_lock and
// similar functions, on which the locks of the standard library are built. For tests only.
#ifndef SLUICE_EXECUTOR_TESTING_LOCKS_H_
#define SLUICE_EXECUTOR_TESTING_LOCKS_H_

#include <cstdint>

namespace sluice::testing {

// Returns the number of locks that all threads took since the program's start. Locks taken by
// shared libraries do not count.
int64_t Locks();

}  // namespace sluice::testing

#endif  // SLUICE_EXECUTOR_TESTING_LOCKS_H_
