// A gRPC server of unary calls whose messages are bytes: handlers by path.
//
// Whoever takes a call from the queue runs its handler, on the same thread: no call changes thread
// on its way in. A handler may block, and may answer later from another thread; when no thread is
// left to listen, another is started.
//
// Thread safety: all methods from any thread.
#ifndef SLUICE_DISTRIBUTED_WIRE_RPC_SERVER_H_
#define SLUICE_DISTRIBUTED_WIRE_RPC_SERVER_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distributed/wire/lane_server.h"
#include "distributed/wire/message_limits.h"
#include "distributed/wire/parcels.h"
#include "distributed/wire/rpc_call.h"
#include "grpcpp/security/server_credentials.h"

namespace sluice {

class RpcServer {
 public:
  struct Options {
    std::string address;  // "127.0.0.1:0": any free port
    std::shared_ptr<grpc::ServerCredentials> credentials;
    int64_t max_message_bytes = kMaxMessageBytes;  // of a request; in pieces, all of them
    // What goes as one message of gRPC; more goes in pieces (parcels.h).
    int64_t grpc_message_bytes = kGrpcMessageBytes;
    std::string token;  // that every call has to have; "": none
    // Processes of this host may call by lanes (lane_socket.h).
    bool lanes = false;
    std::vector<std::string> lane_addresses;  // beside `address`, what callers may know it by
  };
  // UNAVAILABLE when nothing can listen there.
  static absl::StatusOr<std::unique_ptr<RpcServer>> Start(const Options& options,
                                                          std::vector<RpcMethod> methods);
  // Stop, with nothing to wait for.
  ~RpcServer();
  RpcServer(const RpcServer&) = delete;
  RpcServer& operator=(const RpcServer&) = delete;

  int port() const { return port_; }
  // Takes no new calls, lets those under way end by themselves for two seconds, cancels the rest,
  // and returns when all were answered.
  void Stop();

 private:
  class Service;
  class Call;
  RpcServer();
  void OpenLanes(const Options& options);
  void Listen();
  void StartThread();  // with mutex_ held

  std::unique_ptr<Service> service_;
  struct Grpc;
  std::unique_ptr<Grpc> grpc_;
  int64_t grpc_message_bytes_ = kGrpcMessageBytes;
  std::unique_ptr<Parcels> parcels_;
  std::unique_ptr<LaneServer> lanes_;
  std::vector<RpcMethod> methods_;
  std::string token_;
  int port_ = 0;

  std::mutex mutex_;
  std::condition_variable idle_;  // no calls, or no threads
  int listening_ = 0;             // threads that wait for an event; guarded by mutex_
  int threads_ = 0;               // guarded by mutex_
  int calls_ = 0;                 // awaited or under way; guarded by mutex_
  bool stopped_ = true;           // or not started; guarded by mutex_
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_WIRE_RPC_SERVER_H_
