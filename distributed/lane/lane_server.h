// Offers the methods of an RpcServer over lanes, which are connections between processes of one
// host and replace gRPC there (lane_socket.h).
//
// Thread safety: all methods may be called from any thread.
#ifndef SLUICE_DISTRIBUTED_LANE_LANE_SERVER_H_
#define SLUICE_DISTRIBUTED_LANE_LANE_SERVER_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "distributed/lane/lane_poller.h"
#include "distributed/message/open_calls.h"
#include "distributed/message/rpc_call.h"
#include "graph/mutex.h"

namespace sluice {

class LaneServer {
 public:
  // `methods` must outlive the server. Clients must present the token, unless it is empty. Requests
  // above `max_message_bytes` end with RESOURCE_EXHAUSTED.
  LaneServer(const std::vector<RpcMethod>& methods, std::string token, int64_t max_message_bytes);
  ~LaneServer();  // stops
  LaneServer(const LaneServer&) = delete;
  LaneServer& operator=(const LaneServer&) = delete;

  // Lets clients find the server as "host:port". Does nothing if another server already has this
  // name.
  void ListenAt(const std::string& address);
  // Whether the connection with this name (RpcCall::client) is open.
  bool IsConnected(const std::string& client);
  // Like RpcServer::Stop.
  void Stop();

 private:
  class Acceptor;
  class Connection;
  class Call;
  void Accept(int fd);
  void Forget(const std::shared_ptr<Connection>& connection);

  std::unordered_map<std::string, const RpcMethod*> methods_;  // by path
  const std::string token_;
  const uint64_t max_message_bytes_;
  OpenCalls calls_;
  LanePoller poller_;
  Mutex mutex_;
  int64_t next_connection_ ABSL_GUARDED_BY(mutex_) = 0;
  std::set<std::shared_ptr<Connection>> connections_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_LANE_LANE_SERVER_H_
