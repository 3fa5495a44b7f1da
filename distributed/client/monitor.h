// Queries the state of a server: what its steps wait for, and its metrics.
//
//   absl::StatusOr<std::string> stalls = StallsAt("grpc://ps0:7077");
//   if (stalls.ok()) std::cout << *stalls;
//
// Thread safety: the functions may be called from any thread. They block up to ten seconds.
// Ownership: each call has a connection of its own, which ends with it.
// Errors: INVALID_ARGUMENT unless `target` is "grpc://host:port". UNAVAILABLE or DEADLINE_EXCEEDED,
// naming the target, if the server cannot be reached or does not answer within ten seconds.
// UNAUTHENTICATED for a wrong token.
#ifndef SLUICE_DISTRIBUTED_CLIENT_MONITOR_H_
#define SLUICE_DISTRIBUTED_CLIENT_MONITOR_H_

#include <string>

#include "absl/status/statusor.h"
#include "distributed/security/security.h"

namespace sluice {

// Returns one line per waiting operation of the server's process, the longest wait first in each
// session. "" if nothing waits. Session::StallReport gives the same for one session.
absl::StatusOr<std::string> StallsAt(const std::string& target, const Security& security = {});

// Returns the server's metrics in Prometheus' text format, such as waiting ops, bytes sent and
// received, and memory. The server offers the same at ServerOptions::metrics_port.
absl::StatusOr<std::string> MetricsAt(const std::string& target, const Security& security = {});

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_CLIENT_MONITOR_H_
