// Implements RemoteTasks by calls of an RpcClient: lets a session whose master is this task run
// parts of its steps on the other tasks of the cluster. Each session has its own ClusterTasks.
//
// Thread safety: all methods may be called from any thread.
// Errors: an error of another task begins with the task's name. UNAVAILABLE if it does not answer.
#ifndef SLUICE_DISTRIBUTED_MASTER_CLUSTER_TASKS_H_
#define SLUICE_DISTRIBUTED_MASTER_CLUSTER_TASKS_H_

#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "distributed/cluster/address_book.h"
#include "distributed/master/unwanted_parts.h"
#include "distributed/proto/tensorflow_server.pb.h"
#include "distributed/rendezvous/step_rendezvous.h"
#include "distributed/rpc/rpc_client.h"
#include "executor/session/remote_tasks.h"
#include "graph/format/proto/config.pb.h"
#include "graph/mutex.h"

namespace sluice {

// Connects a session to the other tasks. All sessions of a server share the connection of its
// cluster, except a session with a cluster of its own (client_cluster.h).
struct ClusterConnection {
  TaskName task;                           // the server's task
  std::string address;                     // at which other tasks reach the server
  std::shared_ptr<AddressBook> addresses;  // of all tasks
  RpcClient* client;
  StepRendezvousTable* rendezvous;
  CancellationManager* stopping;  // cancelled when the server stops
  int64_t connect_timeout_ms;     // how long a step waits for a task
  uint64_t incarnation;           // random number of the server's task, new after each restart
  std::shared_ptr<UnwantedParts> unwanted = std::make_shared<UnwantedParts>();
  // The names of tasks in the cluster of one session. Null: the names of the server's cluster.
  std::shared_ptr<const TaskView> view = nullptr;
};

// Returns a function that receives tensors from other tasks by calls of `client`.
RemoteReceive ReceiveOver(std::shared_ptr<const AddressBook> addresses, RpcClient* client);

// Makes every other task of the cluster clear its containers. Returns the first error.
absl::Status CleanupOthers(const ClusterConnection& connection,
                           const std::vector<std::string>& containers);

class ClusterTasks final : public RemoteTasks {
 public:
  struct Options {
    std::string session;               // the session's handle
    std::vector<std::string> filters;  // names of devices that the session may use; empty: all
    pb::ConfigProto config;            // of the session
  };
  // Requests the devices of all tasks that the session may use. Does not fail if a task does not
  // answer: a step that needs the task waits for it.
  static std::shared_ptr<ClusterTasks> Connect(const ClusterConnection& connection,
                                               const Options& options);
  // Notifies the tasks that the session has ended.
  ~ClusterTasks() override;

  const std::vector<DeviceInfo>& devices() const override { return devices_; }
  absl::StatusOr<std::vector<DeviceInfo>> Join(const std::string& task,
                                               CancellationManager& cancellation) override;
  absl::StatusOr<std::string> Register(const std::string& task, const Graph& part,
                                       CancellationManager& cancellation) override;
  void Run(PartStep step, CancellationManager* cancellation, Done done) override;
  int64_t NewStepId() override;
  std::shared_ptr<Rendezvous> RendezvousOf(int64_t step_id) override;
  void EndStep(int64_t step_id, const std::vector<std::string>& tasks) override;

 private:
  ClusterTasks(const ClusterConnection& connection, const Options& options)
      : connection_(connection), options_(options), session_(options.session) {}
  absl::StatusOr<std::vector<DeviceInfo>> Await(const std::string& task,
                                                CancellationManager& cancellation) const;
  absl::Status MakeWorkerSession(const std::string& task, CancellationManager& cancellation);
  // Writes to `server` what the task has to know about the session's cluster: the master's address
  // or, if the client defined the cluster, all addresses and the task's own name.
  absl::Status DescribeCluster(const std::string& task, pb::ServerDef* server) const;
  void AskToCancel(const std::string& task, int64_t step_id,
                   std::shared_ptr<CancellationManager> abandon) const;
  // Builds a call of a method of the task.
  RpcClient::Call CallOf(const std::string& task, const char* method,
                         grpc::ByteBuffer request) const;

  const ClusterConnection connection_;
  const Options options_;
  const std::string session_;
  std::vector<DeviceInfo> devices_;
  Mutex mutex_;
  std::map<std::string, std::vector<DeviceInfo>> joined_ ABSL_GUARDED_BY(mutex_);  // by task
  // Tasks that were asked to create a worker session, which holds this session's graphs there.
  std::set<std::string> asked_ ABSL_GUARDED_BY(mutex_);
  std::mt19937_64 random_ ABSL_GUARDED_BY(mutex_){std::random_device()()};
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MASTER_CLUSTER_TASKS_H_
