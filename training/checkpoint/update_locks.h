// Updates that must not be cut in two by a checkpoint.
//
// Who updates several variables in one step makes a mutex (MutexV2), holds it from before the first
// write to after the last, and enters its handle here. A Saver of the graph reads all variables
// while it holds the mutexes, and lets them go before it writes: the checkpoint is of one moment
// between two updates, and training waits for no file.
#ifndef SLUICE_TRAINING_CHECKPOINT_UPDATE_LOCKS_H_
#define SLUICE_TRAINING_CHECKPOINT_UPDATE_LOCKS_H_

#include <string_view>

namespace sluice {

// Key of the collection: names of handles.
inline constexpr std::string_view kUpdateLocks = "update_locks";

}  // namespace sluice

#endif  // SLUICE_TRAINING_CHECKPOINT_UPDATE_LOCKS_H_
