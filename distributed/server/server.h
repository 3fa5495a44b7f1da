// Runs one task of a cluster. A Server opens the task's devices to clients (TensorFlow's
// MasterService) and to the other tasks.
//
//   absl::StatusOr<std::unique_ptr<Server>> server = Server::Start({.port = 7077});
//   (*server)->Join();                       // until Stop
//
// A parameter server only waits in Join. A worker also creates sessions over the cluster with
// NewSession, and its replica trains in them.
//
// Thread safety: all methods may be called from any thread.
// Lifetime: sessions, watches and references from a server must end before it. The state of its
// devices (variables, queues, …) is lost when the process ends, unless a checkpoint has it.
// Security: by default only this host can connect. Other bind addresses need TLS together with a
// token or client certificates, unless `insecure` states that the network is trusted.
// Errors: see Start. Steps that need a lost task end with UNAVAILABLE or ABORTED.
// Reference: tf.distribute.Server.
#ifndef SLUICE_DISTRIBUTED_SERVER_SERVER_H_
#define SLUICE_DISTRIBUTED_SERVER_SERVER_H_

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distributed/cluster/cluster_spec.h"
#include "distributed/master/session_limits.h"
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
  // Port of the server. -1: that of the task's address in the cluster; 0: any free port.
  int port = -1;
  // Number of CPU devices: /device:CPU:0, ….
  int cpus = 1;
  // Permits bind addresses other than this host's without TLS or authentication, although anybody
  // may then connect or read the traffic.
  bool insecure = false;
  // TLS and token for the traffic with clients and with the other tasks.
  Security security;
  // Larger requests end with RESOURCE_EXHAUSTED.
  int64_t max_message_bytes = kMaxMessageBytes;
  // Larger messages are chunked (rpc/chunks.h).
  int64_t grpc_message_bytes = kGrpcMessageBytes;
  // Intervals at which calls to the other tasks check that the peer is alive.
  Heartbeat heartbeat;
  // Whether processes of this host connect over lanes instead of gRPC. A lane is a Unix socket with
  // direct access to the peer's memory (lane/lane_socket.h). Lanes are not used with TLS.
  bool lanes = true;
  // Time that a step waits for a task that it needs.
  int64_t connect_timeout_ms = 60'000;
  // Address and port of GET /metrics, /healthz and /readyz. Port -1: none; 0: any free port. HTTPS
  // if `security` has a certificate.
  std::string metrics_bind = "127.0.0.1";
  int metrics_port = -1;
  // Token that requests of GET /metrics must carry as "Authorization: Bearer <token>". If it is
  // empty, they must carry the token of `security`, if there is one.
  std::string metrics_token;
  // Defaults for options that clients do not set.
  SessionOptions session;
  // When sessions of dead clients are closed.
  SessionLimits session_limits;
  // Limits of the memory of tensors (executor/device/pool_allocator.h, memory_account.h), for all
  // sessions of this process together and for each one. Steps that exceed them end with
  // RESOURCE_EXHAUSTED. 0: no limit.
  int64_t memory_bytes = 0;
  int64_t session_memory_bytes = 0;
  // The largest number of open connections. 0: as many as the limit of file descriptors permits
  // (rpc/connections.h).
  int max_connections = 0;
  // Interval at which the server checks that it accepts connections, closes expired sessions, and
  // returns unused memory to the system.
  int watch_interval_ms = 5'000;
};

class Server {
 public:
  // Listens and returns; the server works on threads of its own. The other tasks need not be up.
  //
  // NOT_FOUND if the task is not in the cluster, or a certificate cannot be read. INVALID_ARGUMENT
  // for a port above 65535 or an address that needs `insecure`. UNAVAILABLE if the port is taken.
  static absl::StatusOr<std::unique_ptr<Server>> Start(ServerOptions options);
  // Stops.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // The port that it listens on.
  int port() const;
  // The target for clients: "grpc://127.0.0.1:7077".
  std::string target() const;
  // The port of /metrics. -1 if there is none.
  int metrics_port() const;
  // This task's devices. Valid as long as the server.
  DeviceSet& devices() const;

  // Creates a session in this process that runs its steps on the cluster. This task is its master.
  // C++ programs on a worker use it. The session may use the tasks that match `filters`, which are
  // device names. Without filters it may use all tasks. A step waits up to connect_timeout_ms for
  // the tasks that it needs, then ends with UNAVAILABLE. The session must end before the server.
  absl::StatusOr<std::unique_ptr<Session>> NewSession(Graph& graph, SessionOptions options = {},
                                                      const std::vector<std::string>& filters = {});

  // Notifies the tasks that watch this one.
  void Announce();
  // Watches another task of the cluster. The watch must end before the server.
  std::unique_ptr<TaskWatch> Watch(const TaskName& task, TaskWatch::Handlers handlers);

  // Refuses new sessions and steps with UNAVAILABLE, reports "not serving" to health checks, and
  // waits until no step runs, but not longer than `limit`. The parts of steps that other masters
  // run on this task go on. The caller calls Stop afterwards.
  void Drain(std::chrono::milliseconds limit);
  // Refuses new calls, cancels the open ones, and returns when all have ended. Closes the sessions
  // of clients, so that blocked operations in their steps end. A second call has no effect.
  void Stop();
  // Blocks until another thread has called Stop and Stop has ended.
  void Join();

 private:
  struct Services;
  explicit Server(std::unique_ptr<Services> services);

  const std::unique_ptr<Services> services_;
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_SERVER_SERVER_H_
