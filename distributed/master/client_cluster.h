// Connects a session to the cluster that its client defines for it (ConfigProto.cluster_def). The
// servers need not have been started as one cluster. In the session, each server has the task name
// that the client's cluster gives to its address.
//
// Thread safety: all functions may be called from any thread.
// Reference: ClusterSpec propagation in TensorFlow.
#ifndef SLUICE_DISTRIBUTED_MASTER_CLIENT_CLUSTER_H_
#define SLUICE_DISTRIBUTED_MASTER_CLIENT_CLUSTER_H_

#include <string>

#include "absl/status/statusor.h"
#include "distributed/master/cluster_tasks.h"
#include "graph/format/proto/cluster.pb.h"

namespace sluice {

// Returns the connection of a session to the tasks of `cluster`. `server` is the connection of the
// session's master to its own cluster. The master's task in `cluster` is the one with the address
// of `target`, the client's "grpc://host:port". INVALID_ARGUMENT if not exactly one task has this
// address, if this task has the name that the master was started with, or if the name of a job
// cannot be part of a device name.
absl::StatusOr<ClusterConnection> ConnectionTo(const pb::ClusterDef& cluster,
                                               const std::string& target,
                                               const ClusterConnection& server);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MASTER_CLIENT_CLUSTER_H_
