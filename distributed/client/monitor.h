// How a server is doing, asked from outside: what its steps wait for, and its numbers.
#ifndef SLUICE_DISTRIBUTED_CLIENT_MONITOR_H_
#define SLUICE_DISTRIBUTED_CLIENT_MONITOR_H_

#include <string>

#include "absl/status/statusor.h"
#include "distributed/wire/security.h"

namespace sluice {

// A line a wait, the longest first; "" if none waits. `target` is "grpc://host:port". UNAVAILABLE
// with the target where no server answers within ten seconds.
absl::StatusOr<std::string> StallsAt(const std::string& target, const Security& security = {});
// The server's numbers in Prometheus' text format, likewise.
absl::StatusOr<std::string> MetricsAt(const std::string& target, const Security& security = {});

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_CLIENT_MONITOR_H_
