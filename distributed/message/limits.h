// Limits of calls between tasks: sizes of messages and times to wait.
#ifndef SLUICE_DISTRIBUTED_MESSAGE_LIMITS_H_
#define SLUICE_DISTRIBUTED_MESSAGE_LIMITS_H_

#include <chrono>
#include <cstdint>

namespace sluice {

// The greatest size of a gRPC message, and of a protocol buffer.
inline constexpr int64_t kGrpcMessageBytes = INT32_MAX;
// The default limit of the size of a request to a server.
inline constexpr int64_t kMaxMessageBytes = int64_t{64} << 30;

// When a silent peer counts as lost. While calls wait for a silent peer, it is pinged every
// `interval_ms`. After `timeout_ms` of silence the calls end with UNAVAILABLE.
struct Heartbeat {
  int interval_ms = 2'000;
  int timeout_ms = 10'000;
};

// When a client of a server counts as lost although its connection has not ended. After
// `kClientPingMs` of silence the server pings the client. The client is lost if no answer arrives
// within `kClientAnswerMs`.
inline constexpr int kClientPingMs = 30'000;
inline constexpr int kClientAnswerMs = 20'000;
// A connection that does not speak HTTP/2 (or TLS) within this time is closed.
inline constexpr int kGreetingMs = 20'000;

// The time in which calls may finish when a server stops, before it cancels them. Their blocked
// operations have ended by then, so only the responses have to be sent.
inline constexpr auto kStopGrace = std::chrono::seconds(2);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MESSAGE_LIMITS_H_
