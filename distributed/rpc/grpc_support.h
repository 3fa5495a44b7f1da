// Helpers for gRPC that the client and the server share.
#ifndef SLUICE_DISTRIBUTED_RPC_GRPC_SUPPORT_H_
#define SLUICE_DISTRIBUTED_RPC_GRPC_SUPPORT_H_

#include <atomic>
#include <cstddef>

#include "absl/status/status.h"
#include "grpcpp/support/status.h"

namespace sluice {

// The largest size of an error message, because it travels in a header of the call. Longer messages
// are cut and end in "... [truncated]".
inline constexpr size_t kMaxErrorMessageBytes = 3072;

// Converts a status. The codes of both types have the same numbers. Cuts a long message.
grpc::Status ToGrpc(const absl::Status& status);
// Converts a status back. gRPC's UNKNOWN "Stream removed" means that the connection broke, and
// becomes UNAVAILABLE.
absl::Status FromGrpc(const grpc::Status& status);

// Keeps gRPC initialised until the process ends. Otherwise gRPC 1.51 may wait for ten seconds when
// its last user is destroyed.
void KeepGrpc();

// Makes gRPC write its log messages as events "grpc" of the event log, for the whole process. The
// event log quotes them, because they may have bytes of a peer, and limits their number.
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
