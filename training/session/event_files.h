// Opens the event files of a folder for a training loop.
#ifndef SLUICE_TRAINING_SESSION_EVENT_FILES_H_
#define SLUICE_TRAINING_SESSION_EVENT_FILES_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "training/session/training_events.h"

namespace sluice {

// The writer of the folder, shared in this process (SummaryFileWriter::Shared).
absl::StatusOr<std::shared_ptr<TrainingEvents>> OpenEventFile(const std::string& folder);

}  // namespace sluice

#endif  // SLUICE_TRAINING_SESSION_EVENT_FILES_H_
