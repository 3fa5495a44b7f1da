// Encodes and decodes the messages of gRPC's health protocol (grpc.health.v1). With it, clients
// such as load balancers ask whether a server takes calls. All services of a server have the same
// state.
#ifndef SLUICE_DISTRIBUTED_RPC_HEALTH_H_
#define SLUICE_DISTRIBUTED_RPC_HEALTH_H_

#include "absl/status/statusor.h"
#include "grpcpp/support/byte_buffer.h"

namespace sluice {

// The paths of the methods. Check returns the state once. Watch returns it at once and after each
// change.
inline constexpr char kHealthCheck[] = "/grpc.health.v1.Health/Check";
inline constexpr char kHealthWatch[] = "/grpc.health.v1.Health/Watch";

// The state of a server or service, with the values of HealthCheckResponse.ServingStatus.
enum class Health : char { kServing = 1, kNotServing = 2, kServiceUnknown = 3 };

// Whether a HealthCheckRequest asks about the whole server, or about a service that TensorFlow's
// servers have. False for other services, whose state is unknown, and for invalid requests.
bool IsAboutServer(const grpc::ByteBuffer& request);
// Returns an encoded HealthCheckResponse.
grpc::ByteBuffer HealthResponse(Health health);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_RPC_HEALTH_H_
