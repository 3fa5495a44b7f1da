// The WorkerService of a task: the parts of graphs that masters registered here, and their steps.
//
// Thread safety: all methods from any thread. Errors: ABORTED where a session or graph is not
// known, as after a restart; those of a step begin with this task's name.
#ifndef SLUICE_DISTRIBUTED_WORKER_WORKER_H_
#define SLUICE_DISTRIBUTED_WORKER_WORKER_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "distributed/cluster/address_book.h"
#include "distributed/proto/worker.pb.h"
#include "distributed/rendezvous/step_rendezvous.h"
#include "distributed/wire/rpc_server.h"
#include "distributed/wire/tensor_message.h"
#include "executor/device/device_set.h"
#include "executor/session/task_executor.h"

namespace sluice {

class Worker {
 public:
  // All outlive it but the devices.
  Worker(std::string task, std::shared_ptr<DeviceSet> devices, StepRendezvousTable* rendezvous,
         AddressBook* addresses, SessionOptions session);

  std::vector<RpcMethod> Methods();
  // Ends the steps under way with CANCELLED.
  void CancelSteps();

 private:
  struct RegisteredGraph {
    std::unique_ptr<SessionPlan> plan;
  };
  // What a master's session has here: stateful kernels, and graphs.
  struct WorkerSession {
    WorkerSession(const pb::CreateWorkerSessionRequest& request, SessionOptions options)
        : handle(request.session_handle()),
          master(request.master_task()),
          master_incarnation(request.master_incarnation()),
          executor(std::move(options)) {}
    const std::string handle;
    const std::string master;  // task
    const int64_t master_incarnation;
    TaskExecutor executor;
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<RegisteredGraph>> graphs;  // guarded by mutex
    int64_t next_graph = 1;                                          // guarded by mutex
  };
  // The part of a step.
  struct RunningPart {
    explicit RunningPart(CancellationManager* steps) : cancellation(steps) {}
    std::shared_ptr<WorkerSession> session;  // set before others see it
    CancellationManager cancellation;
    std::vector<std::shared_ptr<void>> awaiting;  // let go when it ends; guarded by mutex_
  };
  using Handle = void (Worker::*)(RpcCall&);
  void GetStatus(RpcCall& call);
  void CreateWorkerSession(RpcCall& call);
  void DeleteWorkerSession(RpcCall& call);
  void RegisterGraph(RpcCall& call);
  void DeregisterGraph(RpcCall& call);
  void RunGraph(RpcCall& call);
  void CleanupGraph(RpcCall& call);
  void CleanupAll(RpcCall& call);
  void RecvTensor(RpcCall& call);
  void Logging(RpcCall& call);
  void Tracing(RpcCall& call);

  absl::StatusOr<std::shared_ptr<WorkerSession>> Find(const std::string& handle);
  absl::StatusOr<std::shared_ptr<WorkerSession>> FindLocked(const std::string& handle);
  absl::Status AddSession(const pb::CreateWorkerSessionRequest& request);
  // Forgets sessions and cancels their parts; `ended` (may be null) is let go when all have ended,
  // also those of sessions that were forgotten before.
  void EndSessions(const std::function<bool(const WorkerSession&)>& which,
                   const std::shared_ptr<void>& ended);
  // Cancels it; `ended` (may be null) is let go when it has ended.
  void EndPart(int64_t step_id, const std::shared_ptr<void>& ended);
  absl::StatusOr<std::string> Register(const pb::RegisterGraphRequest& request);
  absl::Status Run(WorkerSession& session, const pb::RunGraphRequest& request,
                   const std::vector<NamedTensor>& feeds, CancellationManager* cancellation,
                   std::vector<NamedTensor>* fetches, pb::RunGraphResponse* response);
  absl::Status RunCancellably(const pb::RunGraphRequest& request,
                              const std::vector<NamedTensor>& feeds, CancellationManager& of_call,
                              std::vector<NamedTensor>* fetches, pb::RunGraphResponse* response);
  absl::Status LearnAddress(const pb::CreateWorkerSessionRequest& request);
  absl::Status CheckIncarnation(const std::string& key) const;

  const std::string task_;
  const std::shared_ptr<DeviceSet> devices_;
  StepRendezvousTable* const rendezvous_;
  AddressBook* const addresses_;
  const SessionOptions options_;
  CancellationManager steps_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<WorkerSession>> sessions_;  // guarded by mutex_
  std::map<int64_t, std::shared_ptr<RunningPart>> running_;         // by step; guarded by mutex_
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_WORKER_WORKER_H_
