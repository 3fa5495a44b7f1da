// Calls to other tasks: unary, of bytes, answered to a callback.
//
// Thread safety: all methods from any thread. `done` runs on a thread of this object and must not
// block for long. Servers of this host are called by lanes (lane_socket.h), others, and with TLS
// all, over gRPC. A task from which nothing is heard (heartbeat.h) counts as gone: calls to it end
// with UNAVAILABLE.
#ifndef SLUICE_DISTRIBUTED_WIRE_RPC_CLIENT_H_
#define SLUICE_DISTRIBUTED_WIRE_RPC_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distributed/wire/heartbeat.h"
#include "distributed/wire/message_limits.h"
#include "distributed/wire/security.h"
#include "executor/wait/cancellation.h"
#include "grpcpp/support/byte_buffer.h"

namespace sluice {

class RpcClient {
 public:
  struct Options {
    Security security;
    Heartbeat heartbeat;
    bool lanes = true;  // where there is no TLS
    // What goes as one message of gRPC; more goes in pieces (parcels.h).
    int64_t grpc_message_bytes = kGrpcMessageBytes;
  };
  // As ChannelCredentials.
  static absl::StatusOr<std::unique_ptr<RpcClient>> Make(const Options& options);
  static absl::StatusOr<std::unique_ptr<RpcClient>> Make(const Security& security) {
    return Make(Options{.security = security});
  }
  // Waits for the calls under way.
  virtual ~RpcClient() = default;
  RpcClient(const RpcClient&) = delete;
  RpcClient& operator=(const RpcClient&) = delete;

  struct Call {
    std::string address;  // "host:port"
    std::string path;     // "/tensorflow.WorkerService/RunGraph"
    grpc::ByteBuffer request;
    CancellationManager* cancellation = nullptr;  // outlives the call
    int64_t timeout_ms = 0;                       // 0: none
    bool wait_for_ready = false;                  // else fails at once where nobody listens
    bool connects_anew = false;                   // even if an attempt just failed
  };
  // Who takes the response may empty it while he reads (TakeMessage): nobody else holds it.
  using Done = std::function<void(absl::Status, grpc::ByteBuffer& response)>;
  virtual void Start(Call call, Done done) = 0;
  // Of which nobody hears how it ends. It may go out with the next message to the same server, or
  // with a heartbeat. The method's handler finishes at once (RpcMethod::at_once).
  virtual void Tell(Call call) {
    Start(std::move(call), [](absl::Status, grpc::ByteBuffer) {});
  }

  struct Answer {
    absl::Status status;
    grpc::ByteBuffer response;
  };
  // All at a time; returns when all were answered.
  virtual std::vector<Answer> RunAll(std::vector<Call> calls);
  absl::Status Run(Call call, grpc::ByteBuffer* response);

 protected:
  RpcClient() = default;
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_WIRE_RPC_CLIENT_H_
