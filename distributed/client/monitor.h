// Queries the state of a server: what its steps wait for, and its metrics.
#ifndef SLUICE_DISTRIBUTED_CLIENT_MONITOR_H_
#define SLUICE_DISTRIBUTED_CLIENT_MONITOR_H_

#include <string>

#include "absl/status/statusor.h"
#include "distributed/security/security.h"

namespace sluice {

// Returns one line per waiting operation, the longest wait first. `target` is "grpc://host:port".
// UNAVAILABLE, naming the target, if the server does not answer within ten seconds.
absl::StatusOr<std::string> StallsAt(const std::string& target, const Security& security = {});
// Returns the server's metrics in Prometheus' text format.
absl::StatusOr<std::string> MetricsAt(const std::string& target, const Security& security = {});

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_CLIENT_MONITOR_H_
