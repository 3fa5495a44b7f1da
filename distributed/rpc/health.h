// The messages of gRPC's health protocol, grpc.health.v1. All services of a server have one state.
#ifndef SLUICE_DISTRIBUTED_RPC_HEALTH_H_
#define SLUICE_DISTRIBUTED_RPC_HEALTH_H_

#include "absl/status/statusor.h"
#include "grpcpp/support/byte_buffer.h"

namespace sluice {

// The paths of the methods. Check returns the state once. Watch returns it at once and after each
// change.
inline constexpr char kHealthCheck[] = "/grpc.health.v1.Health/Check";
inline constexpr char kHealthWatch[] = "/grpc.health.v1.Health/Watch";

// HealthCheckResponse.ServingStatus.
enum class Health : char { kServing = 1, kNotServing = 2, kServiceUnknown = 3 };

// Whether a HealthCheckRequest asks for the server, or for a service that TensorFlow's servers
// have.
bool IsAboutServer(const grpc::ByteBuffer& request);
// A HealthCheckResponse.
grpc::ByteBuffer HealthResponse(Health health);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_RPC_HEALTH_H_
