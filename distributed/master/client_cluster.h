// The cluster that a client defines for one session (ConfigProto.cluster_def). The servers need not
// know each other. The session calls their tasks by the names of this cluster.
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

// The connection of a session to the tasks of `cluster`. The master is the task whose address is
// that of `target`, the client's "grpc://host:port". INVALID_ARGUMENT if there is not exactly one,
// if its name is the one that `server` was started with, or if a job's name is not valid in names
// of devices.
absl::StatusOr<ClusterConnection> ConnectionTo(const pb::ClusterDef& cluster,
                                               const std::string& target,
                                               const ClusterConnection& server);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MASTER_CLIENT_CLUSTER_H_
