// Variables that jobs share by name, on devices that outlive them.
#ifndef SLUICE_EXECUTOR_SESSION_DECLARED_VARIABLES_H_
#define SLUICE_EXECUTOR_SESSION_DECLARED_VARIABLES_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "executor/kernel/kernel.h"

namespace sluice {

// Who declares variables: a session, while it is open.
struct Job {
  std::string name;
};

// Where the node of `init` declares a variable: INVALID_ARGUMENT if another job has declared it
// with another type or shape, naming both. A resource variable takes the shape of the value that it
// is given, so that clashes only while the other job's session is open. A declaration goes with the
// resources of its container.
absl::Status DeclareVariable(const KernelInit& init, const std::shared_ptr<const Job>& job);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_SESSION_DECLARED_VARIABLES_H_
