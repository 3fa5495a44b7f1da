// The caller's side of lanes: calls to servers of this host.
//
// Thread safety: all methods from any thread.
#ifndef SLUICE_DISTRIBUTED_WIRE_LANE_CLIENT_H_
#define SLUICE_DISTRIBUTED_WIRE_LANE_CLIENT_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "distributed/wire/heartbeat.h"
#include "distributed/wire/lane_poller.h"
#include "executor/wait/cancellation.h"
#include "grpcpp/support/byte_buffer.h"

namespace sluice {

class LaneClient {
 public:
  LaneClient(std::string token, const Heartbeat& heartbeat);
  // Waits for the calls under way.
  ~LaneClient();
  LaneClient(const LaneClient&) = delete;
  LaneClient& operator=(const LaneClient&) = delete;

  using Done = std::function<void(absl::Status, grpc::ByteBuffer& response)>;
  // As RpcClient::Start. False when there is no lane to the address, or none yet: then nothing was
  // taken, and a server of this host that can be reached by a lane soon will be.
  bool Start(const std::string& address, const std::string& path, const grpc::ByteBuffer& request,
             CancellationManager* cancellation, int64_t timeout_ms, Done& done);
  // As RpcClient::Tell. False as above.
  bool Tell(const std::string& address, const std::string& path, const grpc::ByteBuffer& request);

 private:
  class Connection;
  using Time = std::chrono::steady_clock::time_point;
  std::shared_ptr<Connection> To(const std::string& address);
  void Forget(Connection* connection);
  int Tick();

  const std::string token_;
  const Heartbeat heartbeat_;
  std::atomic<uint64_t> next_call_{1};
  std::mutex mutex_;
  std::condition_variable idle_;
  struct Peer {
    std::shared_ptr<Connection> connection;
    Time tried{};
  };
  std::map<std::string, Peer> peers_;  // by address; guarded by mutex_
  // Calls that have a deadline, the next first; guarded by mutex_.
  std::map<std::pair<Time, uint64_t>, std::weak_ptr<Connection>> deadlines_;
  int calls_ = 0;  // under way; guarded by mutex_
  LanePoller poller_;
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_WIRE_LANE_CLIENT_H_
