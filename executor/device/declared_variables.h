// Checks variables that jobs share by name on devices that outlive them.
#ifndef SLUICE_EXECUTOR_DEVICE_DECLARED_VARIABLES_H_
#define SLUICE_EXECUTOR_DEVICE_DECLARED_VARIABLES_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "executor/kernel/kernel.h"

namespace sluice {

// A job declares variables. Each session is a job while it is open.
struct Job {
  std::string name;
};

// If the node of `init` declares a variable: INVALID_ARGUMENT, naming both jobs, if another job has
// declared it with another type or shape. A resource variable takes the shape of its assigned
// value, so its declarations only clash while the other job's session is open. A declaration is
// removed with the resources of its container.
absl::Status DeclareVariable(const KernelInit& init, const std::shared_ptr<const Job>& job);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_DEVICE_DECLARED_VARIABLES_H_
