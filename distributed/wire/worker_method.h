// What tasks call of one another, and whose an error is.
#ifndef SLUICE_DISTRIBUTED_WIRE_WORKER_METHOD_H_
#define SLUICE_DISTRIBUTED_WIRE_WORKER_METHOD_H_

#include <string>

#include "absl/status/status.h"

namespace sluice {

// The path of a method of the worker service: "/tensorflow.WorkerService/<name>".
std::string WorkerMethod(const char* name);

// An error that `task` sent or that its connection had: it names the task, unless a task before
// has named itself.
absl::Status FromTask(const std::string& task, const absl::Status& status);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_WIRE_WORKER_METHOD_H_
