// A server of one task of a cluster. It opens the task's devices to clients (TensorFlow's
// MasterService) and to the other tasks.
//
//   absl::StatusOr<std::unique_ptr<Server>> server = Server::Start({.port = 7077});
//   (*server)->Join();                       // until Stop
//
// Thread safety: all methods may be called from any thread.
// Security: by default only this host can connect. Other bind addresses need TLS, or `insecure`,
// which states that the network is trusted.
#ifndef SLUICE_DISTRIBUTED_SERVER_SERVER_H_
#define SLUICE_DISTRIBUTED_SERVER_SERVER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distributed/cluster/cluster_spec.h"
#include "distributed/message/limits.h"
#include "distributed/security/security.h"
#include "distributed/server/task_watch.h"
#include "executor/device/device_set.h"
#include "executor/session/session.h"

namespace sluice {

struct ServerOptions {
  // The default is a cluster of one task, "/job:localhost/task:0".
  Cluster cluster;
  std::string bind = "127.0.0.1";
  int port = -1;  // -1: that of the task's address in the cluster; 0: any free port
  int cpus = 1;   // number of CPU devices
  bool insecure = false;
  // For the traffic with clients and with the other tasks.
  Security security;
  int64_t max_message_bytes = kMaxMessageBytes;  // larger requests end with RESOURCE_EXHAUSTED
  // Larger messages are chunked (rpc/chunks.h).
  int64_t grpc_message_bytes = kGrpcMessageBytes;
  Heartbeat heartbeat;  // of calls to the other tasks
  // Whether processes of this host use lanes (lane/lane_socket.h). With TLS they never do.
  bool lanes = true;
  // Limit of a step's wait for a task that it needs.
  int64_t connect_timeout_ms = 60'000;
  // Port of GET /metrics on `bind`; -1: none; 0: any free port. It requires the token as
  // "Authorization: Bearer <token>" if `security` has one.
  int metrics_port = -1;
  SessionOptions session;  // defaults for what clients do not set
};

class Server {
 public:
  // NOT_FOUND if the task is not in the cluster. INVALID_ARGUMENT for an address that needs TLS or
  // `insecure`. UNAVAILABLE if the port is taken.
  static absl::StatusOr<std::unique_ptr<Server>> Start(ServerOptions options);
  ~Server();  // stops
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const;
  // The target for clients: "grpc://127.0.0.1:7077".
  std::string target() const;
  int metrics_port() const;  // -1 without a page of metrics
  DeviceSet& devices() const;

  // Makes a session of this process over the cluster, with this task as its master. C++ programs on
  // a worker use it. It may use the tasks that match the filters, which are device names, or all
  // tasks if there are none, and waits for those that its steps need. Must end before the server.
  absl::StatusOr<std::unique_ptr<Session>> NewSession(Graph& graph, SessionOptions options = {},
                                                      const std::vector<std::string>& filters = {});

  // Notifies the tasks that watch this one.
  void Announce();
  // Watches another task of the cluster. Must end before the server.
  std::unique_ptr<TaskWatch> Watch(const TaskName& task, TaskWatch::Handlers handlers);

  // Refuses new calls, cancels the open ones, and returns when all have ended.
  void Stop();
  // Returns after Stop.
  void Join();

 private:
  struct Services;
  explicit Server(std::unique_ptr<Services> services);

  const std::unique_ptr<Services> services_;
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_SERVER_SERVER_H_
