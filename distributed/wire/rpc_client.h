// Calls to other tasks: unary, of bytes, answered to a callback.
//
// Thread safety: all methods from any thread. `done` runs on a thread of this object and must not
// block for long. Servers of this host are called by lanes (lane_socket.h), others, and with TLS
// all, over gRPC. A task from which nothing is heard (heartbeat.h) counts as gone: calls to it end
// with UNAVAILABLE.
#ifndef SLUICE_DISTRIBUTED_WIRE_RPC_CLIENT_H_
#define SLUICE_DISTRIBUTED_WIRE_RPC_CLIENT_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distributed/wire/heartbeat.h"
#include "distributed/wire/lane_client.h"
#include "distributed/wire/message_limits.h"
#include "distributed/wire/security.h"
#include "executor/step/cancellation.h"
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
  // Without TLS and token.
  RpcClient();
  // As ChannelCredentials.
  static absl::StatusOr<std::unique_ptr<RpcClient>> Make(const Options& options);
  static absl::StatusOr<std::unique_ptr<RpcClient>> Make(const Security& security) {
    return Make(Options{.security = security});
  }
  // Waits for the calls under way.
  ~RpcClient();
  RpcClient(const RpcClient&) = delete;
  RpcClient& operator=(const RpcClient&) = delete;

  struct Call {
    std::string address;  // "host:port"
    std::string path;     // "/tensorflow.WorkerService/RunGraph"
    grpc::ByteBuffer request;
    CancellationManager* cancellation = nullptr;  // outlives the call
    int64_t timeout_ms = 0;                       // 0: none
    bool wait_for_ready = false;                  // else fails at once where nobody listens
  };
  // Who takes the response may empty it while he reads (TakeMessage): nobody else holds it.
  using Done = std::function<void(absl::Status, grpc::ByteBuffer& response)>;
  void Start(Call call, Done done);
  // The same, waiting for the answer.
  absl::Status Run(Call call, grpc::ByteBuffer* response);

 private:
  class Pending;
  class Upload;
  class Download;
  struct Grpc;
  // Over gRPC, in one message; `parcel`: where the server has the request.
  void StartWhole(Call call, const std::string& parcel, Done done);
  // A call begins, ends.
  void Begin();
  void End();
  std::shared_ptr<grpc::Channel> ChannelTo(const std::string& address);
  void Listen();

  RpcClient(std::shared_ptr<grpc::ChannelCredentials> credentials, const Options& options);

  const std::shared_ptr<grpc::ChannelCredentials> credentials_;
  const std::string token_;
  const std::string server_name_;
  const Heartbeat heartbeat_;
  const uint64_t message_bytes_;
  std::unique_ptr<LaneClient> lanes_;  // null: none
  std::unique_ptr<Grpc> grpc_;
  std::mutex mutex_;
  std::condition_variable idle_;  // no calls
  int calls_ = 0;                 // over gRPC, under way; guarded by mutex_
  std::map<std::string, std::shared_ptr<grpc::Channel>> channels_;  // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_WIRE_RPC_CLIENT_H_
