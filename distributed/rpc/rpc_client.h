// Calls methods of other tasks. Requests and responses are bytes. A callback gets the response.
//
// Servers on this host are called over lanes, which are Unix sockets with direct access to the
// peer's memory (lane/lane_socket.h). Other servers, and all servers with TLS, are called over
// gRPC.
//
// Thread safety: all methods may be called from any thread. Callbacks run on threads of the client
// and must not block for long.
// Errors: UNAVAILABLE if the server cannot be reached or falls silent (Heartbeat).
#ifndef SLUICE_DISTRIBUTED_RPC_RPC_CLIENT_H_
#define SLUICE_DISTRIBUTED_RPC_RPC_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "distributed/message/limits.h"
#include "distributed/security/security.h"
#include "executor/wait/cancellation.h"
#include "grpcpp/support/byte_buffer.h"

namespace sluice {

class RpcClient {
 public:
  struct Options {
    Security security;
    Heartbeat heartbeat;
    bool lanes = true;  // whether to use lanes; with TLS they are never used
    // Larger messages are chunked (chunks.h).
    int64_t grpc_message_bytes = kGrpcMessageBytes;
  };
  // Returns the errors of ChannelCredentials (security.h). RESOURCE_EXHAUSTED if no thread can be
  // started.
  static absl::StatusOr<std::unique_ptr<RpcClient>> Make(const Options& options);
  // Waits for open calls.
  virtual ~RpcClient() = default;
  RpcClient(const RpcClient&) = delete;
  RpcClient& operator=(const RpcClient&) = delete;

  struct Call {
    std::string address;  // "host:port"
    std::string path;     // "/tensorflow.WorkerService/RunGraph"
    grpc::ByteBuffer request;
    CancellationManager* cancellation = nullptr;  // must outlive the call
    int64_t timeout_ms = 0;                       // 0: none
    // Whether the call waits until a server listens. If false, it fails at once if none does.
    bool wait_for_ready = false;
    // Whether the call connects at once if the last attempt failed. If false, it may wait or fail
    // until gRPC's next attempt.
    bool reconnects = false;
  };
  // The callback may empty the response while it reads it (TakeMessage).
  using Done = std::function<void(absl::StatusOr<grpc::ByteBuffer>& response)>;
  virtual void Start(Call call, Done done) = 0;
  // Sends a one-way call, whose result is not reported. It may be delayed until the next message to
  // the same server, or the next heartbeat. The method must be one-way (RpcMethod::is_one_way).
  virtual void Notify(Call call) {
    Start(std::move(call), [](absl::StatusOr<grpc::ByteBuffer>&) {});
  }

  // Runs all calls at once and waits for their responses.
  virtual std::vector<absl::StatusOr<grpc::ByteBuffer>> RunAll(std::vector<Call> calls);
  absl::StatusOr<grpc::ByteBuffer> Run(Call call);

 protected:
  RpcClient() = default;
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_RPC_RPC_CLIENT_H_
