// A small network trained by SGD, alone on whole batches and by synchronous replicas on parts of
// them: what the tests of the equality of the two share.
#ifndef SLUICE_TESTS_ENDTOEND_SYNC_TRAINING_H_
#define SLUICE_TESTS_ENDTOEND_SYNC_TRAINING_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "sluice.h"

namespace sluice {

constexpr int kSyncSteps = 50;
constexpr int64_t kSyncBatch = 24;

struct SyncBatch {
  Tensor x;
  Tensor y;
  // Part `i` of `parts`.
  SyncBatch Part(int i, int parts) const;
};
// The whole batch of a step: the same in every run.
SyncBatch BatchOfStep(int step);

// A network of two layers.
struct SyncNet {
  Output x, y, loss;
  std::vector<Variable> variables;
};

// One of `replicas`, all of whose gradients go into every update. Its graph names the shared
// variables as every other replica's does.
struct SyncReplica {
  SyncReplica(int index, int replicas, bool use_resource, std::shared_ptr<DeviceSet> devices,
              DataType wire_dtype = DT_INVALID);
  // Without a session.
  SyncReplica(int replicas, bool use_resource, const DeviceFunction& devices,
              DataType wire_dtype = DT_INVALID);
  SyncReplica(const SyncReplica&) = delete;

  SyncReplicasOptimizer optimizer;
  Graph graph;
  SyncNet net;
  Operation train, init;
  OutputList reads;
  std::unique_ptr<Session> session;
};

// Every replica of a job; each has a device of its own beside that of the variables.
absl::StatusOr<std::vector<std::unique_ptr<SyncReplica>>> MakeReplicas(
    int replicas, bool use_resource, DataType wire_dtype = DT_INVALID);

// The variables after kSyncSteps steps.
absl::StatusOr<Tensors> TrainAlone(bool use_resource);
absl::StatusOr<Tensors> TrainTogether(std::vector<std::unique_ptr<SyncReplica>>& replicas);
// Step `step` of replica `index` of `replicas`.
absl::Status TrainStep(SyncReplica& replica, int step, int index, int replicas);

}  // namespace sluice

#endif  // SLUICE_TESTS_ENDTOEND_SYNC_TRAINING_H_
