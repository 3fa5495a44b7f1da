// Checks that the sessions of a task agree on the type and the shape of variables that they share
// by name. Such variables are on devices that outlive the sessions (device_set.h).
#ifndef SLUICE_EXECUTOR_DEVICE_DECLARED_VARIABLES_H_
#define SLUICE_EXECUTOR_DEVICE_DECLARED_VARIABLES_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "executor/kernel/kernel.h"

namespace sluice {

// Identifies the session that declares a variable. Each open session has one Job.
struct Job {
  std::string name;  // for errors: SessionOptions::job, or "session <number>"
};

// If the node of `init` declares a variable, records its type and shape. INVALID_ARGUMENT, naming
// both jobs, if another job declared that variable with another type or shape. The declaration of a
// resource variable counts only while the session of its job is open. Later jobs may declare
// another shape, because a resource variable takes the shape of any assigned value. Removing a
// container also removes the declarations of its variables.
absl::Status DeclareVariable(const KernelInit& init, const std::shared_ptr<const Job>& job);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_DEVICE_DECLARED_VARIABLES_H_
