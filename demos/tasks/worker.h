// Makes the sessions of a worker. Their master is the server in the worker's process.
//
// Thread safety: that of the server.
// Lifetime: the server must outlive the sessions, and the cluster must outlive the SessionTarget.
#ifndef SLUICE_DEMOS_TASKS_WORKER_H_
#define SLUICE_DEMOS_TASKS_WORKER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "distributed/cluster/cluster_spec.h"
#include "distributed/server/server.h"
#include "executor/session/session.h"
#include "training/session/session_target.h"

namespace sluice::demos {

// Makes a session whose steps run on the parameter servers and on this worker.
absl::StatusOr<std::unique_ptr<Session>> NewWorkerSession(Server& server, const Cluster& cluster,
                                                          Graph& graph,
                                                          const SessionOptions& options = {});

// Makes the target for a worker's MonitoredTrainingSession. The chief announces that the model is
// ready, and the other workers wait for this announcement.
SessionTarget WorkerTarget(Server& server, const Cluster& cluster);

}  // namespace sluice::demos

#endif  // SLUICE_DEMOS_TASKS_WORKER_H_
