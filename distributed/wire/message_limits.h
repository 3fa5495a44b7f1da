// How large messages may be.
#ifndef SLUICE_DISTRIBUTED_WIRE_MESSAGE_LIMITS_H_
#define SLUICE_DISTRIBUTED_WIRE_MESSAGE_LIMITS_H_

#include <cstdint>

namespace sluice {

// One message of gRPC, and of any Protocol Buffer.
inline constexpr int64_t kGrpcMessageBytes = INT32_MAX;
// A request to a server that nobody set a limit for.
inline constexpr int64_t kMaxMessageBytes = int64_t{64} << 30;

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_WIRE_MESSAGE_LIMITS_H_
