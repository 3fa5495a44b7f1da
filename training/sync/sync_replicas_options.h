// Options of SyncReplicasOptimizer and LegacySyncReplicasOptimizer, which train replicas
// synchronously.
//
// An update applies gradients of several replicas. It then puts tokens into a queue, each of which
// permits a replica to compute its next gradient (token_queues.h).
#ifndef SLUICE_TRAINING_SYNC_SYNC_REPLICAS_OPTIONS_H_
#define SLUICE_TRAINING_SYNC_SYNC_REPLICAS_OPTIONS_H_

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ops/state/variable.h"
#include "training/sync/lost_replicas.h"

namespace sluice {

// A reference to any object with a method `StatusOr<Operation> Apply(const std::vector<Variable>&)`
// whose op updates averages of the variables, such as an ExponentialMovingAverage. The object must
// live until ApplyGradients returns. A default-constructed VariableAverages refers to none.
class VariableAverages {
 public:
  VariableAverages() = default;
  template <typename Average>
  VariableAverages(Average* average)  // NOLINT: a pointer to an average converts implicitly
      : apply_([average](const std::vector<Variable>& v) { return average->Apply(v); }) {}
  explicit operator bool() const { return apply_ != nullptr; }
  absl::StatusOr<Operation> Apply(const std::vector<Variable>& variables) const {
    return apply_(variables);
  }

 private:
  std::function<absl::StatusOr<Operation>(const std::vector<Variable>&)> apply_;
};

// The reaction of the other replicas when one replica ends because it has no more data.
enum class WhenOneEnds {
  kOthersGoOn,  // they compute its gradients, too, until the chief ends
  kAllEnd,      // all replicas end, as they always do in deterministic training
};

struct SyncReplicasOptions {
  // Number of gradients per update.
  int replicas_to_aggregate = 1;
  // Number of replicas. If larger than replicas_to_aggregate, the slowest replicas of an update are
  // backups, whose gradients are dropped. If smaller, replicas compute several batches per update.
  // Absent: replicas_to_aggregate.
  std::optional<int> total_num_replicas;
  // The number of the replica that runs this graph, in [0, NumReplicas()). Counts of applied and
  // dropped gradients (ReplicaSynchronizer::LedgerTotals) and reports of waiting ops name it.
  // Deterministic training requires it. If it is absent, LegacySyncReplicasOptimizer uses 0.
  std::optional<int> replica_id;
  // Moving averages, which are updated after each update, and their variables (empty: all trainable
  // variables).
  VariableAverages variable_averages;
  std::vector<Variable> variables_to_average;
  // Whether trainings with equal seeds have bitwise equal results, in whichever order gradients
  // arrive and with any number of threads. Excludes backups, because the order of arrival would
  // decide which gradients are dropped.
  bool deterministic = false;
  WhenOneEnds when_one_ends = WhenOneEnds::kOthersGoOn;
  // The type to which a replica rounds float and double gradients before it sends them: DT_BFLOAT16
  // or DT_HALF. DT_INVALID: no rounding. The gradients are converted back before they are summed.
  // With DT_HALF, elements above 65504 become infinite. Only for SyncReplicasOptimizer.
  DataType wire_dtype = DT_INVALID;
  // The chief's reaction when `watch` reports a lost replica (lost_replicas.h). Without `watch` no
  // replica counts as lost. kShrink requires SyncReplicasOptimizer and excludes deterministic
  // training. With kShrink, the tokens of an update replace unused tokens of earlier updates.
  OnLostReplica on_lost_replica = OnLostReplica::kWait;
  ReplicaWatch watch;
  // Whether each update holds a lock that Savers also hold while they read variables. A checkpoint
  // then has the variables and averages of one global step, even if replicas continue during the
  // save. The lock adds ops that TensorFlow's graph does not have.
  bool whole_checkpoints = false;
  bool use_locking = false;
  std::string name = "sync_replicas";

  int NumReplicas() const { return total_num_replicas.value_or(replicas_to_aggregate); }
  // Number of tokens that an update puts into the queue (token_queues.h).
  int TokensPerStep() const { return std::max(NumReplicas(), replicas_to_aggregate); }
  // The number of gradients per update if only `replicas` replicas are left, at least 1. If
  // replicas_to_aggregate is at most the number of replicas, the result is at most `replicas`, so
  // that one gradient of each replica suffices. Otherwise the result shrinks in proportion.
  int GradientsPerUpdate(int replicas) const {
    const int all = replicas_to_aggregate, total = NumReplicas();
    return std::max(all <= total ? std::min(all, replicas) : all * replicas / total, 1);
  }
  // The replica_id, or -1 if it is absent.
  int ReplicaId() const { return replica_id.value_or(-1); }
  bool Shrinks() const { return on_lost_replica == OnLostReplica::kShrink; }
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_SYNC_SYNC_REPLICAS_OPTIONS_H_
