// The other tasks of a cluster for one session of this task's master: RemoteTasks over gRPC.
//
// Thread safety: all methods from any thread. Errors of a task begin with its name; UNAVAILABLE
// where it does not answer.
#ifndef SLUICE_DISTRIBUTED_MASTER_CLUSTER_TASKS_H_
#define SLUICE_DISTRIBUTED_MASTER_CLUSTER_TASKS_H_

#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "distributed/cluster/cluster_spec.h"
#include "distributed/rendezvous/step_rendezvous.h"
#include "distributed/wire/rpc_client.h"
#include "executor/session/remote_tasks.h"
#include "graph/format/proto/config.pb.h"

namespace sluice {

// What all sessions of a server share.
struct ClusterConnection {
  Cluster cluster;
  RpcClient* client;
  StepRendezvousTable* rendezvous;
};

// A RemoteReceive over `client`.
RemoteReceive ReceiveOver(const ClusterSpec& spec, RpcClient* client);

// Asks every other task that `filters` (devices; none: all) lets through to forget its containers.
absl::Status CleanupOthers(const ClusterConnection& connection,
                           const std::vector<std::string>& containers);

class ClusterTasks final : public RemoteTasks {
 public:
  struct Options {
    std::string session;                          // handle
    std::vector<std::string> filters;             // devices that the session may use; none: all
    pb::ConfigProto config;                       // of the session
    CancellationManager* cancellation = nullptr;  // of Connect
  };
  // Waits until every task that the session may use has answered.
  static absl::StatusOr<std::shared_ptr<ClusterTasks>> Connect(const ClusterConnection& connection,
                                                               const Options& options);
  // Tells the tasks that the session has ended.
  ~ClusterTasks() override;

  const std::vector<DeviceInfo>& devices() const override { return devices_; }
  absl::StatusOr<std::string> Register(const std::string& task, const Graph& part) override;
  void Run(PartStep step, CancellationManager* cancellation, Done done) override;
  int64_t NewStepId() override;
  std::shared_ptr<Rendezvous> RendezvousOf(int64_t step_id) override;
  void EndStep(int64_t step_id, const std::vector<std::string>& tasks) override;

 private:
  ClusterTasks(const ClusterConnection& connection, const Options& options)
      : connection_(connection), session_(options.session) {}
  absl::Status Join(const TaskName& task, const std::string& address, const Options& options);
  void AskToCancel(const std::string& task, int64_t step_id,
                   std::shared_ptr<CancellationManager> abandon) const;
  // The call of a method of the task.
  RpcClient::Call CallOf(const std::string& task, const char* method,
                         grpc::ByteBuffer request) const;

  const ClusterConnection connection_;
  const std::string session_;
  std::map<std::string, std::string> addresses_;  // by task
  std::vector<DeviceInfo> devices_;
  std::mutex mutex_;
  std::mt19937_64 random_{std::random_device()()};  // guarded by mutex_
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MASTER_CLUSTER_TASKS_H_
