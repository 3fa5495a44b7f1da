// The server's side of lanes: the methods of an RpcServer, open to the processes of this host.
//
// Thread safety: all methods from any thread.
#ifndef SLUICE_DISTRIBUTED_WIRE_LANE_SERVER_H_
#define SLUICE_DISTRIBUTED_WIRE_LANE_SERVER_H_

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "distributed/wire/lane_poller.h"
#include "distributed/wire/rpc_call.h"

namespace sluice {

class LaneServer {
 public:
  // `methods` outlive it. Callers have to bring the token; "": none. Larger requests end with
  // RESOURCE_EXHAUSTED.
  LaneServer(const std::vector<RpcMethod>& methods, std::string token, int64_t max_message_bytes);
  // Stops.
  ~LaneServer();
  LaneServer(const LaneServer&) = delete;
  LaneServer& operator=(const LaneServer&) = delete;

  // Callers of "host:port" find it. Nothing happens where another server has the name.
  void ListenAt(const std::string& address);
  // As RpcServer::Stop.
  void Stop();

 private:
  class Acceptor;
  class Connection;
  class Call;
  void Accept(int fd);
  void Forget(Connection* connection);
  bool Begin();  // a call; false once it stops
  void End();

  const std::vector<RpcMethod>& methods_;
  const std::string token_;
  const uint64_t max_message_bytes_;
  std::unordered_map<std::string, const RpcMethod*> by_path_;
  LanePoller poller_;
  std::mutex mutex_;
  std::condition_variable idle_;
  std::set<std::shared_ptr<Connection>> connections_;  // guarded by mutex_
  int calls_ = 0;                                      // under way; guarded by mutex_
  bool stopped_ = false;                               // guarded by mutex_
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_WIRE_LANE_SERVER_H_
