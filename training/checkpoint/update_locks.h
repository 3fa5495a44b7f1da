// Lets updates and savers exclude each other, so that no checkpoint contains a part of an update.
//
// An optimizer that updates several variables in one step creates a mutex (MutexV2) and holds it
// during all writes of the step. It adds the name of the mutex's handle to the collection
// kUpdateLocks. A Saver of the graph holds the mutexes while it reads the variables, and releases
// them before it writes files. So a checkpoint shows the state between two updates, and training
// does not wait for file I/O.
#ifndef SLUICE_TRAINING_CHECKPOINT_UPDATE_LOCKS_H_
#define SLUICE_TRAINING_CHECKPOINT_UPDATE_LOCKS_H_

#include <string_view>

namespace sluice {

// Key of the graph collection with the names of the mutexes' handles.
inline constexpr std::string_view kUpdateLocks = "update_locks";

}  // namespace sluice

#endif  // SLUICE_TRAINING_CHECKPOINT_UPDATE_LOCKS_H_
