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
#include <set>
#include <string>
#include <vector>

#include "distributed/cluster/address_book.h"
#include "distributed/master/unwanted_parts.h"
#include "distributed/rendezvous/step_rendezvous.h"
#include "distributed/wire/rpc_client.h"
#include "executor/session/remote_tasks.h"
#include "graph/format/proto/config.pb.h"

namespace sluice {

// What all sessions of a server share.
struct ClusterConnection {
  TaskName task;           // this one
  std::string address;     // where the others find it
  AddressBook* addresses;  // of all
  RpcClient* client;
  StepRendezvousTable* rendezvous;
  CancellationManager* stopping;  // of the server
  int64_t connect_timeout_ms;     // for a task that a step needs and that is not there
  uint64_t incarnation;           // of this task
  std::shared_ptr<UnwantedParts> unwanted = std::make_shared<UnwantedParts>();
};

// A RemoteReceive over `client`.
RemoteReceive ReceiveOver(const AddressBook* addresses, RpcClient* client);

// Asks every other task that `filters` (devices; none: all) lets through to forget its containers.
absl::Status CleanupOthers(const ClusterConnection& connection,
                           const std::vector<std::string>& containers);

class ClusterTasks final : public RemoteTasks {
 public:
  struct Options {
    std::string session;               // handle
    std::vector<std::string> filters;  // devices that the session may use; none: all
    pb::ConfigProto config;            // of the session
  };
  // Asks every task that the session may use for its devices. Those that are not there are waited
  // for when a step needs them.
  static std::shared_ptr<ClusterTasks> Connect(const ClusterConnection& connection,
                                               const Options& options);
  // Tells the tasks that the session has ended.
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
  void AskToCancel(const std::string& task, int64_t step_id,
                   std::shared_ptr<CancellationManager> abandon) const;
  // The call of a method of the task.
  RpcClient::Call CallOf(const std::string& task, const char* method,
                         grpc::ByteBuffer request) const;

  const ClusterConnection connection_;
  const Options options_;
  const std::string session_;
  std::vector<DeviceInfo> devices_;
  std::mutex mutex_;
  std::map<std::string, std::vector<DeviceInfo>> joined_;  // by task; guarded by mutex_
  std::set<std::string> asked_;  // for a worker session, which they may have; guarded by mutex_
  std::mt19937_64 random_{std::random_device()()};  // guarded by mutex_
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MASTER_CLUSTER_TASKS_H_
