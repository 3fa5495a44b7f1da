// Serves unary methods, whose messages are bytes, over gRPC and over lanes (lane/lane_socket.h).
//
// The thread that takes a call from the completion queue also runs its handler. A handler may
// block, and may finish the call later from another thread. If no other thread listens to the
// queue, the server starts one. If it cannot, calls that may block end with RESOURCE_EXHAUSTED, so
// that there is always a thread that listens. The calls of one method take at most three quarters
// of the threads for calls (executor/wait/thread.h).
//
// Thread safety: all methods may be called from any thread.
#ifndef SLUICE_DISTRIBUTED_RPC_RPC_SERVER_H_
#define SLUICE_DISTRIBUTED_RPC_RPC_SERVER_H_

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distributed/lane/lane_server.h"
#include "distributed/message/limits.h"
#include "distributed/message/rpc_call.h"
#include "distributed/rpc/call_gate.h"
#include "distributed/rpc/chunks.h"
#include "distributed/rpc/connections.h"
#include "distributed/security/task_credentials.h"
#include "executor/wait/thread.h"
#include "graph/mutex.h"

namespace sluice {

class RpcServer {
 public:
  struct Options {
    std::string address;  // "127.0.0.1:0": any free port
    std::shared_ptr<TaskCredentials> credentials;
    // The largest size of a request, chunked or not.
    int64_t max_message_bytes = kMaxMessageBytes;
    // Larger messages are chunked (chunks.h).
    int64_t grpc_message_bytes = kGrpcMessageBytes;
    std::string token;  // every call must carry it, unless it is empty
    // Whether processes of this host may call over lanes (lane/lane_socket.h).
    bool lanes = false;
    std::vector<std::string> lane_addresses;     // more "host:port" names of this server for lanes
    int max_connections = 0;                     // see Connections::Options
    int64_t max_calls = CallGate::DefaultMax();  // open calls of all clients
  };
  // Makes a server that listens at the address, but accepts no connection before Accept is called.
  // UNAVAILABLE if it cannot listen there.
  static absl::StatusOr<std::unique_ptr<RpcServer>> Make(const Options& options,
                                                         std::vector<RpcMethod> methods);
  absl::Status Accept();
  // Make, then Accept.
  static absl::StatusOr<std::unique_ptr<RpcServer>> Start(const Options& options,
                                                          std::vector<RpcMethod> methods);
  ~RpcServer();  // stops
  RpcServer(const RpcServer&) = delete;
  RpcServer& operator=(const RpcServer&) = delete;

  int port() const { return port_; }
  // Whether the connection of a call (RpcCall::client) is still open. True for calls from this
  // process.
  bool IsConnected(const std::string& client);
  Connections& connections() { return *connections_; }
  // Makes the server answer NOT_SERVING to gRPC's health checks. Before this call it answers
  // SERVING.
  void StopServing();
  // Takes no new calls, cancels the open ones after kStopGrace, and returns when all have ended.
  void Stop();

 private:
  class Service;
  class Call;
  RpcServer();
  absl::Status StartGrpc();
  void Listen();
  // Waits for the next event whose handling may take time. Handles short events itself meanwhile.
  // Returns false after Stop.
  bool Next(void** tag, bool* ok);
  absl::Status StartThread(ThreadUse use) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Runs the handler of a call. `may_block` is OK if the handler may block, because another thread
  // listens.
  void Handle(int method, RpcCall& call, const absl::Status& may_block);
  RpcMethod HealthCheck();
  // Continues a call of Health.Watch: writes the server's state if it has changed, or finishes the
  // call if it has ended.
  void Continue(Call& call) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::unique_ptr<Service> service_;
  struct Grpc;
  std::unique_ptr<Grpc> grpc_;
  Options options_;
  std::unique_ptr<Connections> connections_;
  std::shared_ptr<CallGate> gate_;
  std::unique_ptr<ChunkedMessages> chunked_;
  std::unique_ptr<LaneServer> lanes_;
  std::vector<RpcMethod> methods_;
  int port_ = 0;

  Mutex mutex_;
  CondVar changed_;                            // calls_ or threads_ has become 0
  int listening_ ABSL_GUARDED_BY(mutex_) = 0;  // threads that wait for an event
  int threads_ ABSL_GUARDED_BY(mutex_) = 0;
  int calls_ ABSL_GUARDED_BY(mutex_) = 0;            // open, or requested from gRPC
  bool stopped_ ABSL_GUARDED_BY(mutex_) = true;      // or not started yet
  std::set<Call*> watches_ ABSL_GUARDED_BY(mutex_);  // open calls of Health.Watch
  std::atomic<bool> is_serving_{true};
  std::vector<std::atomic<int>> blocked_;  // running handlers that may block, by method
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_RPC_RPC_SERVER_H_
