// Implements TensorFlow's WorkerService on a task: holds the parts of graphs that masters register
// for this task, and runs them in the masters' steps.
//
// Thread safety: all methods may be called from any thread.
// Errors: ABORTED if a session or graph is unknown, for example because this task has restarted.
// The errors of a step begin with this task's name.
#ifndef SLUICE_DISTRIBUTED_WORKER_WORKER_H_
#define SLUICE_DISTRIBUTED_WORKER_WORKER_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "distributed/cluster/address_book.h"
#include "distributed/message/rpc_call.h"
#include "distributed/message/tensor_message.h"
#include "distributed/proto/worker.pb.h"
#include "distributed/rendezvous/recent_ids.h"
#include "distributed/rendezvous/step_rendezvous.h"
#include "executor/device/device_set.h"
#include "executor/session/local_step.h"
#include "executor/session/task_executor.h"
#include "graph/mutex.h"

namespace sluice {

class Worker {
 public:
  // Makes the function that receives tensors from the tasks of a cluster.
  using ReceiveFrom = std::function<RemoteReceive(std::shared_ptr<const AddressBook>)>;
  // The rendezvous table and the address book must outlive the worker. `session_memory_bytes`
  // limits the memory of the tensors that the parts of one session have on this task. 0: no limit.
  Worker(std::string task, std::shared_ptr<DeviceSet> devices, StepRendezvousTable* rendezvous,
         AddressBook* addresses, ReceiveFrom receive_from, SessionOptions session,
         int64_t session_memory_bytes = 0);

  std::vector<RpcMethod> Methods();
  // Ends the running steps with CANCELLED.
  void CancelSteps();
  // Ends the sessions that run no part and whose master has not been connected for `lost`. If
  // `lost` is 0, ends none. To be called from time to time.
  void EndLostSessions(std::chrono::milliseconds lost,
                       const std::function<bool(const std::string& client)>& is_connected);

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct RegisteredGraph {
    std::unique_ptr<LocalStep> step;
  };
  // The state of a master's session on this task: stateful kernels and graphs.
  struct WorkerSession {
    WorkerSession(const pb::CreateWorkerSessionRequest& request,
                  std::shared_ptr<const TaskView> task_view, SessionOptions options,
                  std::string first_client)
        : handle(request.session_handle()),
          master(request.master_task()),
          master_incarnation(request.master_incarnation()),
          view(std::move(task_view)),
          client(std::move(first_client)),
          executor(std::move(options)) {}
    const std::string handle;
    const std::string master;  // its task name, or its address if the client defined the cluster
    const int64_t master_incarnation;
    const std::shared_ptr<const TaskView> view;  // null: the names of the server's cluster
    // The connection of the last call that created the session or ran a part (RpcCall::client), and
    // since when it is known to be lost. Guarded by the worker's mutex.
    std::string client;
    Time lost_since = Time::max();
    TaskExecutor executor;
    Mutex mutex;
    std::map<std::string, std::shared_ptr<RegisteredGraph>> graphs ABSL_GUARDED_BY(mutex);
    int64_t next_graph ABSL_GUARDED_BY(mutex) = 1;
  };
  // A part of a step that runs on this task.
  struct RunningPart {
    RunningPart(CancellationManager* steps, std::shared_ptr<WorkerSession> part_session)
        : session(std::move(part_session)), cancellation(steps) {}
    const std::shared_ptr<WorkerSession> session;
    CancellationManager cancellation;
  };
  absl::Status GetStatus(const pb::GetStatusRequest&, pb::GetStatusResponse* response);
  void CreateWorkerSession(const pb::CreateWorkerSessionRequest& request, RpcCall& call);
  absl::Status DeleteWorkerSession(const pb::DeleteWorkerSessionRequest& request,
                                   pb::DeleteWorkerSessionResponse*);
  absl::Status RegisterGraph(const pb::RegisterGraphRequest& request,
                             pb::RegisterGraphResponse* response);
  absl::Status DeregisterGraph(const pb::DeregisterGraphRequest& request,
                               pb::DeregisterGraphResponse*);
  void RunGraph(RpcCall& call);
  absl::Status CleanupGraph(const pb::CleanupGraphRequest& request, pb::CleanupGraphResponse*);
  absl::Status CleanupAll(const pb::CleanupAllRequest& request, pb::CleanupAllResponse*);
  void RecvTensor(const pb::RecvTensorRequest& request, RpcCall& call);
  absl::Status Logging(const pb::LoggingRequest&, pb::LoggingResponse*);
  absl::Status Tracing(const pb::TracingRequest&, pb::TracingResponse*);

  absl::StatusOr<std::shared_ptr<WorkerSession>> Find(const std::string& handle);
  absl::StatusOr<std::shared_ptr<WorkerSession>> FindLocked(const std::string& handle)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status AddSession(const pb::CreateWorkerSessionRequest& request, const std::string& client);
  std::set<std::string> LostClients(
      const std::function<bool(const std::string& client)>& is_connected);
  // Removes the sessions for which `is_ended` is true, and cancels their running parts. Also
  // cancels such parts if their session was removed earlier. Each of these parts keeps `awaiting`,
  // which may be null, until the part has ended. So the destructor of `awaiting` can respond to a
  // call when all parts have ended.
  void EndSessions(const std::function<bool(const WorkerSession&)>& is_ended,
                   const std::shared_ptr<void>& awaiting);
  // Cancels the part of a step, which keeps `awaiting` (may be null) until it has ended.
  void EndPart(int64_t step_id, const std::shared_ptr<void>& awaiting);
  absl::Status Run(WorkerSession& session, const pb::RunGraphRequest& request,
                   const std::vector<NamedTensor>& feeds, CancellationManager* cancellation,
                   std::vector<NamedTensor>* fetches, pb::RunGraphResponse* response);
  // Runs a part until it ends by itself or is cancelled: by the call, when the server stops, when
  // the session ends, or by CleanupGraph for its step.
  absl::Status RunCancellably(const pb::RunGraphRequest& request,
                              const std::vector<NamedTensor>& feeds, RpcCall& call,
                              std::vector<NamedTensor>* fetches, pb::RunGraphResponse* response);
  // Returns the names of the tasks in the cluster that the client defined for its session, or null
  // if the client defined none.
  absl::StatusOr<std::shared_ptr<const TaskView>> ViewOf(const pb::ServerDef& server) const;
  absl::Status LearnAddress(const pb::CreateWorkerSessionRequest& request);
  absl::Status CheckIncarnation(const std::string& key) const;

  const std::string task_;
  const std::shared_ptr<DeviceSet> devices_;
  StepRendezvousTable* const rendezvous_;
  AddressBook* const addresses_;
  const ReceiveFrom receive_from_;
  const SessionOptions options_;
  const int64_t session_memory_bytes_;
  CancellationManager steps_;
  RecentIds requests_{10000};  // the ids of RunGraph requests
  Mutex mutex_;
  // The key of sessions_ is the session's handle. The key of running_ and awaiting_ is the step id.
  std::map<std::string, std::shared_ptr<WorkerSession>> sessions_ ABSL_GUARDED_BY(mutex_);
  std::map<int64_t, std::shared_ptr<RunningPart>> running_ ABSL_GUARDED_BY(mutex_);
  // The `awaiting` objects of EndSessions and EndPart, which are released when the part of the step
  // has ended.
  std::multimap<int64_t, std::shared_ptr<void>> awaiting_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_WORKER_WORKER_H_
