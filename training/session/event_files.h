// The event files of a folder, as a training loop writes them.
#ifndef SLUICE_TRAINING_SESSION_EVENT_FILES_H_
#define SLUICE_TRAINING_SESSION_EVENT_FILES_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "training/session/training_events.h"

namespace sluice {

// The writer of that folder which the whole process shares (SummaryFileWriter::Shared).
absl::StatusOr<std::shared_ptr<TrainingEvents>> OpenEventFile(const std::string& folder);

}  // namespace sluice

#endif  // SLUICE_TRAINING_SESSION_EVENT_FILES_H_
