// The collective groups of a cluster: members of several tasks find each other at the leader, and
// fetch from each other what their exchanges post. In the words of TensorFlow's WorkerService:
// CompleteGroup and RecvBuf.
//
// The leader is the cluster's chief; without one worker 0, without workers the first task.
//
// Thread safety: all methods from any thread. Errors: those of another task begin with its name;
// UNAVAILABLE where it does not answer.
#ifndef SLUICE_DISTRIBUTED_COLLECTIVE_COLLECTIVE_SERVICE_H_
#define SLUICE_DISTRIBUTED_COLLECTIVE_COLLECTIVE_SERVICE_H_

#include <memory>
#include <string>
#include <vector>

#include "distributed/cluster/cluster_spec.h"
#include "distributed/wire/rpc_client.h"
#include "distributed/wire/rpc_server.h"
#include "executor/collective/collectives.h"

namespace sluice {

class CollectiveService final : public CollectiveNetwork {
 public:
  // `collectives` are this task's; both must outlive this object, which they call.
  CollectiveService(const Cluster& cluster, RpcClient* client,
                    std::shared_ptr<Collectives> collectives);

  std::vector<RpcMethod> Methods();
  // Ends the calls of this task with CANCELLED: the server stops.
  void Stop();

  void Join(int key, int size, const GroupMember& member, CancellationManager* cancellation,
            GroupTable::Done done) override;
  void Fetch(const CollectiveMessage& message, CancellationManager* cancellation,
             Done done) override;
  std::string leader() const override { return leader_.ToString(); }

 private:
  void CompleteGroup(RpcCall& call);
  void RecvBuf(RpcCall& call);

  const ClusterSpec spec_;
  const TaskName self_;
  TaskName leader_;
  RpcClient* const client_;
  const std::shared_ptr<Collectives> collectives_;
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_COLLECTIVE_COLLECTIVE_SERVICE_H_
