// Paths of the services' methods, and the names of tasks in their errors.
#ifndef SLUICE_DISTRIBUTED_MESSAGE_SERVICE_METHODS_H_
#define SLUICE_DISTRIBUTED_MESSAGE_SERVICE_METHODS_H_

#include <string>

#include "absl/status/status.h"

namespace sluice {

// "/tensorflow.MasterService/<name>", "/tensorflow.WorkerService/<name>"
std::string MasterMethod(const char* name);
std::string WorkerMethod(const char* name);
inline constexpr char kStallsMethod[] = "/sluice.Monitor/Stalls";
inline constexpr char kMetricsMethod[] = "/sluice.Monitor/Metrics";

// True for an error that FromTask has returned.
bool NamesTask(const absl::Status& status);

// Puts the name of `task` before an error that the task or its connection returned, unless the
// error names a task already.
absl::Status FromTask(const std::string& task, const absl::Status& status);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MESSAGE_SERVICE_METHODS_H_
