// The MasterService of a server: sessions of clients, by handle.
//
// Thread safety: all methods from any thread. What the calls answer, and with which errors, is what
// TensorFlow's master answers (docs/distributed.md).
#ifndef SLUICE_DISTRIBUTED_MASTER_MASTER_H_
#define SLUICE_DISTRIBUTED_MASTER_MASTER_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "distributed/master/cluster_tasks.h"
#include "distributed/master/master_session.h"
#include "distributed/proto/master.pb.h"
#include "distributed/rendezvous/recent_ids.h"
#include "distributed/wire/rpc_server.h"
#include "executor/device/device_set.h"
#include "executor/session/session.h"

namespace sluice {

struct MasterOptions {
  std::string task;                    // the master's own: "/job:localhost/replica:0/task:0"
  std::shared_ptr<DeviceSet> devices;  // of that task
  SessionOptions session;              // what a client's ConfigProto does not say
  // What sessions share to reach the other tasks; null: there are none.
  const ClusterConnection* connection = nullptr;
};

class Master {
 public:
  explicit Master(MasterOptions options);

  // Paths and handlers; the master outlives the server that has them.
  std::vector<RpcMethod> Methods();
  // Closes all sessions: steps under way end with CANCELLED.
  // `ended` (may be null) is let go when they have ended.
  void CloseSessions(const std::shared_ptr<void>& ended = nullptr);

 private:
  using Handle = void (Master::*)(RpcCall&);
  void CreateSession(RpcCall& call);
  void ExtendSession(RpcCall& call);
  void PartialRunSetup(RpcCall& call);
  void RunStep(RpcCall& call);
  void CloseSession(RpcCall& call);
  void ListDevices(RpcCall& call);
  void Reset(RpcCall& call);
  absl::Status Clear(const std::vector<std::string>& containers);
  void MakeCallable(RpcCall& call);
  void RunCallable(RpcCall& call);
  void ReleaseCallable(RpcCall& call);

  absl::StatusOr<std::string> NewSession(const pb::CreateSessionRequest& request);
  std::string NewHandle();
  absl::StatusOr<std::shared_ptr<MasterSession>> Find(const std::string& handle,
                                                      const char* hint = "");
  absl::StatusOr<std::shared_ptr<MasterSession>> Take(const std::string& handle);

  const MasterOptions options_;
  RecentIds step_ids_{10000};
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<MasterSession>> sessions_;  // guarded by mutex_
  std::random_device random_;                                       // guarded by mutex_
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MASTER_MASTER_H_
