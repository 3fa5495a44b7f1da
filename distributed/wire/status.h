// absl::Status as gRPC sends it, and back. The codes have the same numbers.
#ifndef SLUICE_DISTRIBUTED_WIRE_STATUS_H_
#define SLUICE_DISTRIBUTED_WIRE_STATUS_H_

#include "absl/status/status.h"
#include "grpcpp/support/status.h"

namespace sluice {

// Longer messages are cut, with "… [truncated]" behind: they travel in a header.
inline constexpr size_t kMostMessageBytes = 3072;

grpc::Status ToGrpc(const absl::Status& status);
// A stream that was removed by the transport counts as UNAVAILABLE.
absl::Status FromGrpc(const grpc::Status& status);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_WIRE_STATUS_H_
