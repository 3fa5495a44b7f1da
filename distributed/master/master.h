// Implements the MasterService of a server: holds the sessions of its clients and runs their steps.
//
// Thread safety: all methods may be called from any thread. Responses and errors are those of
// TensorFlow's master (docs/distributed.md).
#ifndef SLUICE_DISTRIBUTED_MASTER_MASTER_H_
#define SLUICE_DISTRIBUTED_MASTER_MASTER_H_

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "distributed/master/cluster_tasks.h"
#include "distributed/master/master_session.h"
#include "distributed/master/session_table.h"
#include "distributed/message/rpc_call.h"
#include "distributed/proto/master.pb.h"
#include "distributed/rendezvous/recent_ids.h"
#include "executor/device/device_set.h"
#include "executor/session/session.h"
#include "graph/mutex.h"

namespace sluice {

struct MasterOptions {
  std::string task;                    // the master's task: "/job:localhost/replica:0/task:0"
  std::shared_ptr<DeviceSet> devices;  // the devices of that task
  SessionOptions session;              // defaults for what a client's ConfigProto does not set
  // The connection of sessions to the tasks of the server's cluster. Null: the server has no
  // cluster, and clients cannot define one.
  const ClusterConnection* connection = nullptr;
  // When sessions of lost clients are closed. `is_connected` returns whether a client is connected.
  SessionLimits limits;
  int64_t session_memory_bytes = 0;  // limit of the tensors' memory per session; 0: no limit
  SessionTable::IsConnected is_connected = [](const std::string&) { return true; };
};

class Master {
 public:
  explicit Master(MasterOptions options) : options_(std::move(options)) {}

  // The master must outlive the server that offers these methods.
  std::vector<RpcMethod> Methods();
  // Closes all sessions. Their running steps end with CANCELLED. Each session keeps `awaiting`,
  // which may be null, until its steps have ended. So the caller can pass an object whose
  // destructor does what must happen after the steps.
  void CloseSessions(const std::shared_ptr<void>& awaiting = nullptr);
  // Closes the sessions that exceed MasterOptions::limits. To be called at intervals.
  void CloseExpiredSessions();
  std::vector<SessionInfo> Sessions();
  // Refuses new sessions and steps with UNAVAILABLE from now on. Pieces of partial runs go on.
  void Drain() { drains_.store(true); }
  // Waits until no step of a client runs. Returns false at the deadline.
  bool AwaitSteps(std::chrono::steady_clock::time_point deadline) {
    return sessions_.AwaitUnused(deadline);
  }

 private:
  void CreateSession(const pb::CreateSessionRequest& request, RpcCall& call);
  absl::StatusOr<std::string> AddSession(const pb::CreateSessionRequest& request,
                                         const std::string& client);
  absl::Status ExtendSession(const pb::ExtendSessionRequest& request,
                             pb::ExtendSessionResponse* response);
  absl::Status PartialRunSetup(const pb::PartialRunSetupRequest& request,
                               pb::PartialRunSetupResponse* response);
  void RunStep(RpcCall& call);
  void CloseSession(const pb::CloseSessionRequest& request, RpcCall& call);
  absl::Status ListDevices(const pb::ListDevicesRequest& request,
                           pb::ListDevicesResponse* response);
  // Clears the containers after the steps of all sessions have ended, because a running step could
  // create a cleared resource again.
  void Reset(const pb::ResetRequest& request, RpcCall& call);
  absl::Status Clear(const std::vector<std::string>& containers);
  absl::Status MakeCallable(const pb::MakeCallableRequest& request,
                            pb::MakeCallableResponse* response);
  void RunCallable(RpcCall& call);
  absl::Status ReleaseCallable(const pb::ReleaseCallableRequest& request,
                               pb::ReleaseCallableResponse*);

  // Returns the tasks that a new session can use in addition to this one: the tasks of the cluster
  // that its client defines, otherwise those of the server's cluster. Nullopt if there are none.
  absl::StatusOr<std::optional<ClusterConnection>> ConnectionFor(
      const pb::CreateSessionRequest& request) const;
  std::string NewHandle();
  absl::Status CheckNotDraining() const;

  const MasterOptions options_;
  RecentIds step_ids_{10000};
  SessionTable sessions_;
  std::atomic<bool> drains_{false};
  Mutex mutex_;
  std::random_device random_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MASTER_MASTER_H_
