// Connects the members of collective groups on several tasks of a cluster. A member is a device
// that takes part in a collective op. Each member registers with one task, the leader, which
// responds with the list of all members when all have registered (CompleteGroup of TensorFlow's
// WorkerService). The members then fetch tensors from each other (RecvBuf).
//
// The leader is the task "chief". Without a chief it is worker 0, and without workers the first
// task.
//
// Thread safety: all methods may be called from any thread.
// Errors: an error of another task begins with its name. UNAVAILABLE if the task does not answer.
#ifndef SLUICE_DISTRIBUTED_COLLECTIVE_COLLECTIVE_SERVICE_H_
#define SLUICE_DISTRIBUTED_COLLECTIVE_COLLECTIVE_SERVICE_H_

#include <memory>
#include <string>
#include <vector>

#include "distributed/cluster/cluster_spec.h"
#include "distributed/message/rpc_call.h"
#include "distributed/proto/worker.pb.h"
#include "distributed/rpc/rpc_client.h"
#include "executor/collective/collectives.h"

namespace sluice {

class CollectiveService final : public CollectiveNetwork {
 public:
  // `collectives` holds the collective operations of this task. `client` must outlive this object.
  CollectiveService(const Cluster& cluster, RpcClient* client,
                    std::shared_ptr<Collectives> collectives);

  std::vector<RpcMethod> Methods();
  // Ends the operations of this task with CANCELLED, because the server stops.
  void Stop();

  void Join(int key, int size, const GroupMember& member, CancellationManager* cancellation,
            GroupTable::Done done) override;
  void Fetch(const CollectiveMessage& message, CancellationManager* cancellation,
             Done done) override;
  std::string leader() const override { return leader_.ToString(); }

 private:
  void CompleteGroup(const pb::CompleteGroupRequest& request, RpcCall& call);
  void RecvBuf(const pb::RecvBufRequest& request, RpcCall& call);

  const ClusterSpec spec_;
  const TaskName self_;
  const TaskName leader_;
  RpcClient* const client_;
  const std::shared_ptr<Collectives> collectives_;
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_COLLECTIVE_COLLECTIVE_SERVICE_H_
