// Makes the paths of the services' methods, and adds the names of tasks to errors.
#ifndef SLUICE_DISTRIBUTED_MESSAGE_SERVICE_METHODS_H_
#define SLUICE_DISTRIBUTED_MESSAGE_SERVICE_METHODS_H_

#include <string>

#include "absl/status/status.h"

namespace sluice {

// Return "/tensorflow.MasterService/<name>" and "/tensorflow.WorkerService/<name>".
std::string MasterMethod(const char* name);
std::string WorkerMethod(const char* name);
inline constexpr char kStallsMethod[] = "/sluice.Monitor/Stalls";
inline constexpr char kMetricsMethod[] = "/sluice.Monitor/Metrics";

// Whether the error begins with the name of a task, as FromTask writes it.
bool NamesTask(const absl::Status& status);

// Puts the name of `task` before an error that the task or its connection returned, unless the
// error names a task already.
absl::Status FromTask(const std::string& task, const absl::Status& status);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MESSAGE_SERVICE_METHODS_H_
