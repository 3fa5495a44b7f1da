// Parts of the use of gRPC that the client and the server share.
#ifndef SLUICE_DISTRIBUTED_RPC_GRPC_SUPPORT_H_
#define SLUICE_DISTRIBUTED_RPC_GRPC_SUPPORT_H_

#include <atomic>
#include <cstddef>

#include "absl/status/status.h"
#include "grpcpp/support/status.h"

namespace sluice {

// Error messages travel in a header. Longer ones are cut and end in "... [truncated]".
inline constexpr size_t kMaxErrorMessageBytes = 3072;

// The codes of both kinds of status have the same numbers.
grpc::Status ToGrpc(const absl::Status& status);
// A stream that the transport removed counts as UNAVAILABLE.
absl::Status FromGrpc(const grpc::Status& status);

// Keeps gRPC initialised until the process ends. Otherwise gRPC 1.51 may wait for ten seconds when
// its last user is destroyed.
void KeepGrpc();

// Makes gRPC write its messages, which may have bytes of a peer, as events "grpc" of the event log:
// quoted and limited. For the whole process.
void LogGrpcAsEvents();

// Orders the actions of one thread before it passes an object to gRPC before those of another
// thread that gets the object from gRPC. gRPC's own locks do that too. But ThreadSanitizer does not
// see them, because the distribution's library is not instrumented.
class HandOver {
 public:
  void Give() { given_.store(true, std::memory_order_release); }
  void Take() const { static_cast<void>(given_.load(std::memory_order_acquire)); }

 private:
  std::atomic<bool> given_{false};
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_RPC_GRPC_SUPPORT_H_
