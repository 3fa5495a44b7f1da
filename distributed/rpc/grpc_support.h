// Converts statuses, configures gRPC for the process, and has other helpers that the gRPC client
// and server share.
#ifndef SLUICE_DISTRIBUTED_RPC_GRPC_SUPPORT_H_
#define SLUICE_DISTRIBUTED_RPC_GRPC_SUPPORT_H_

#include <atomic>
#include <cstddef>

#include "absl/status/status.h"
#include "grpcpp/support/status.h"

namespace sluice {

// The largest size of an error message in bytes. It is small, because the message travels in a
// header of the call. Longer messages are cut and end in "... [truncated]".
inline constexpr size_t kMaxErrorMessageBytes = 3072;

// Converts a status, whose code has the same number in both types. Cuts messages that exceed
// kMaxErrorMessageBytes.
grpc::Status ToGrpc(const absl::Status& status);
// Converts a status back. gRPC's UNKNOWN "Stream removed" means that the connection broke, and
// becomes UNAVAILABLE.
absl::Status FromGrpc(const grpc::Status& status);

// Keeps gRPC initialised until the process ends. Otherwise gRPC 1.51 may wait for ten seconds when
// its last user is destroyed.
void KeepGrpc();

// Makes gRPC write its log messages to the event log of the process (events/event_log.h), as events
// with the name "grpc". The event log quotes the messages, because they may contain bytes from a
// peer, and limits their number.
void LogGrpcAsEvents();

// Shows ThreadSanitizer that an object is handed over: what a thread does before it passes the
// object to gRPC happens before what another thread does after it gets the object from gRPC. gRPC's
// own locks ensure this already, but ThreadSanitizer cannot see them, because the Linux
// distribution's gRPC library is not instrumented.
class HandOver {
 public:
  void Give() { given_.store(true, std::memory_order_release); }
  void Take() const { static_cast<void>(given_.load(std::memory_order_acquire)); }

 private:
  std::atomic<bool> given_{false};
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_RPC_GRPC_SUPPORT_H_
