// Trains a small network with SGD, either alone on whole batches or by synchronous replicas on
// parts of the batches. Tests compare the results.
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
  // Returns part `i` of the rows, which are divided into `parts` equal parts.
  SyncBatch Part(int i, int parts) const;
};
// The whole batch of a step, the same in every run.
SyncBatch BatchOfStep(int step);

// A network of two layers.
struct SyncNet {
  Output x, y, loss;
  std::vector<Variable> variables;
};

// One of `replicas` replicas. Every update uses the gradients of all of them. The graphs of all
// replicas give the shared variables the same names. `wire_dtype` is
// SyncReplicasOptions::wire_dtype.
struct SyncReplica {
  SyncReplica(int index, int replicas, bool use_resource, std::shared_ptr<DeviceSet> devices,
              DataType wire_dtype = DT_INVALID);
  // The same without a session.
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

// Makes all replicas of a job. Each has its own device. The variables are on a further device.
absl::StatusOr<std::vector<std::unique_ptr<SyncReplica>>> MakeReplicas(
    int replicas, bool use_resource, DataType wire_dtype = DT_INVALID);

// Each returns the variables after kSyncSteps steps.
absl::StatusOr<Tensors> TrainAlone(bool use_resource);
absl::StatusOr<Tensors> TrainTogether(std::vector<std::unique_ptr<SyncReplica>>& replicas);
// Runs step `step` of replica `index` of `replicas`.
absl::Status TrainStep(SyncReplica& replica, int step, int index, int replicas);

}  // namespace sluice

#endif  // SLUICE_TESTS_ENDTOEND_SYNC_TRAINING_H_
