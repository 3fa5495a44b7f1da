// A task of a cluster: its devices, open to clients (TensorFlow's MasterService) and to the other
// tasks.
//
//   absl::StatusOr<std::unique_ptr<Server>> server = Server::Start({.port = 7077});
//   (*server)->Join();                       // until Stop
//
// Thread safety: all methods from any thread. The destructor stops the server.
// Security: listens on this host alone; other addresses need TLS, or `insecure` to say that the
// network is trusted.
#ifndef SLUICE_DISTRIBUTED_SERVER_SERVER_H_
#define SLUICE_DISTRIBUTED_SERVER_SERVER_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distributed/cluster/address_book.h"
#include "distributed/cluster/cluster_spec.h"
#include "distributed/collective/collective_service.h"
#include "distributed/master/master.h"
#include "distributed/rendezvous/step_rendezvous.h"
#include "distributed/server/announcements.h"
#include "distributed/server/metrics_page.h"
#include "distributed/server/task_watch.h"
#include "distributed/wire/heartbeat.h"
#include "distributed/wire/message_limits.h"
#include "distributed/wire/rpc_client.h"
#include "distributed/wire/rpc_server.h"
#include "distributed/wire/security.h"
#include "distributed/worker/worker.h"
#include "executor/device/device_set.h"
#include "executor/session/session.h"
#include "executor/wait/cancellation.h"

namespace sluice {

struct ServerOptions {
  // Without tasks: a cluster of one, "/job:localhost/task:0".
  Cluster cluster;
  std::string bind = "127.0.0.1";
  int port = -1;  // -1: the one of the cluster's address; 0: any free one
  int cpus = 1;   // CPU devices
  bool insecure = false;
  // Of all that the server says and hears, to clients and to the other tasks.
  Security security;
  int64_t max_message_bytes = kMaxMessageBytes;  // larger ones end with RESOURCE_EXHAUSTED
  // What goes as one message of gRPC, to clients and tasks; more goes in pieces.
  int64_t grpc_message_bytes = kGrpcMessageBytes;
  Heartbeat heartbeat;  // of calls to the other tasks
  // Processes of this host talk to it by lanes (distributed/wire/lane_socket.h), but not with TLS.
  bool lanes = true;
  // How long a step waits for a task that it needs and that is not there.
  int64_t connect_timeout_ms = 60'000;
  // GET /metrics over HTTP, on `bind`; -1: none, 0: any free port. With a token only for who brings
  // it as "Authorization: Bearer <token>".
  int metrics_port = -1;
  SessionOptions session;  // what clients do not say
};

class Server {
 public:
  // INVALID_ARGUMENT for clusters without this task and for addresses that need TLS or `insecure`;
  // UNAVAILABLE where the port is taken.
  static absl::StatusOr<std::unique_ptr<Server>> Start(ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const { return rpc_->port(); }
  // "grpc://127.0.0.1:7077": what clients take.
  std::string target() const;
  int metrics_port() const { return metrics_ == nullptr ? -1 : metrics_->port(); }
  DeviceSet& devices() const { return *devices_; }

  // A session of this process over the whole cluster, with this task as its master: what C++
  // programs on a worker run. Ends before the server. Uses only tasks that the filters (device
  // names; none: all) let through, and waits for those that its steps need.
  absl::StatusOr<std::unique_ptr<Session>> NewSession(Graph& graph, SessionOptions options = {},
                                                      const std::vector<std::string>& filters = {});

  // Tells the tasks that watch this one.
  void Announce() { announcements_.Announce(); }
  // Hears of another task of the cluster; ends before the server.
  std::unique_ptr<TaskWatch> Watch(const TaskName& task, TaskWatch::Handlers handlers);

  // Refuses new calls, cancels those under way, and returns when all were answered.
  void Stop();
  // Returns when the server was stopped.
  void Join();

 private:
  explicit Server(ServerOptions options);

  const ServerOptions options_;
  std::shared_ptr<DeviceSet> devices_;
  std::unique_ptr<AddressBook> addresses_;
  CancellationManager stopping_;  // ends what waits for other tasks
  std::unique_ptr<RpcClient> client_;
  std::unique_ptr<StepRendezvousTable> rendezvous_;
  ClusterConnection connection_;
  std::unique_ptr<CollectiveService> collectives_;
  std::unique_ptr<Worker> worker_;
  std::unique_ptr<Master> master_;
  Announcements announcements_;
  std::unique_ptr<RpcServer> rpc_;
  std::unique_ptr<MetricsPage> metrics_;  // null: none
  std::mutex mutex_;
  std::condition_variable stopped_changed_;
  bool stopped_ = false;  // guarded by mutex_
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_SERVER_SERVER_H_
