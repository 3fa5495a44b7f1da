// Calls servers over lanes, which are connections between processes of one host and replace gRPC
// there (lane_socket.h).
//
// Thread safety: all methods may be called from any thread.
#ifndef SLUICE_DISTRIBUTED_LANE_LANE_CLIENT_H_
#define SLUICE_DISTRIBUTED_LANE_LANE_CLIENT_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "distributed/lane/lane_poller.h"
#include "distributed/message/limits.h"
#include "distributed/message/open_calls.h"
#include "executor/wait/cancellation.h"
#include "graph/mutex.h"
#include "grpcpp/support/byte_buffer.h"

namespace sluice {

class LaneClient {
 public:
  LaneClient(std::string token, const Heartbeat& heartbeat);
  // Waits until all open calls have ended.
  ~LaneClient();
  LaneClient(const LaneClient&) = delete;
  LaneClient& operator=(const LaneClient&) = delete;

  using Done = std::function<void(absl::StatusOr<grpc::ByteBuffer>& response)>;
  // Like RpcClient::Start. Returns false, and does nothing, if there is no lane to the address yet.
  // In that case it begins to connect, so that a later call may succeed.
  bool Start(const std::string& address, const std::string& path, const grpc::ByteBuffer& request,
             CancellationManager* cancellation, int64_t timeout_ms, Done& done);
  // Like RpcClient::Notify. Returns false like Start.
  bool Notify(const std::string& address, const std::string& path, const grpc::ByteBuffer& request);

 private:
  class Connection;
  using Time = std::chrono::steady_clock::time_point;
  // Returns the connection to the address. It may not be ready yet. Null if the server cannot be
  // reached, or could not be reached just before.
  std::shared_ptr<Connection> ConnectionTo(const std::string& address);
  void Forget(Connection* connection);
  // Ends calls after their timeout and sends heartbeats. Returns the number of milliseconds until
  // its next call.
  int Tick();

  const std::string token_;
  const Heartbeat heartbeat_;
  std::atomic<uint64_t> next_call_{1};
  OpenCalls calls_;
  Mutex mutex_;
  struct Peer {
    std::shared_ptr<Connection> connection;
    Time tried{};
  };
  std::map<std::string, Peer> peers_ ABSL_GUARDED_BY(mutex_);  // by address
  LanePoller poller_;
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_LANE_LANE_CLIENT_H_
