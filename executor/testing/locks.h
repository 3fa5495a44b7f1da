// Counts the locks that a test's program takes. Linking this replaces the program's
// pthread_mutex_lock and its like, under which all of the standard library's are; tests only.
#ifndef SLUICE_EXECUTOR_TESTING_LOCKS_H_
#define SLUICE_EXECUTOR_TESTING_LOCKS_H_

#include <cstdint>

namespace sluice::testing {

// Since the program's start, of all threads; not those that shared libraries take.
int64_t Locks();

}  // namespace sluice::testing

#endif  // SLUICE_EXECUTOR_TESTING_LOCKS_H_
