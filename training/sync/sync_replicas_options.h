// Options of synchronous training.
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

// Refers to any object with a method `StatusOr<Operation> Apply(const std::vector<Variable>&)` that
// updates averages of the variables, such as an ExponentialMovingAverage. The object must live
// until ApplyGradients returns.
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
  kOthersGoOn,  // they compute in its place until the chief ends
  kAllEnd,      // always the case in deterministic training
};

struct SyncReplicasOptions {
  // Number of gradients per update.
  int replicas_to_aggregate = 1;
  // Number of replicas. If larger than replicas_to_aggregate, the slowest replicas of an update are
  // backups, whose gradients are dropped. If smaller, replicas compute several batches per update.
  // Absent: replicas_to_aggregate.
  std::optional<int> total_num_replicas;
  // The number of the replica that runs this graph, in [0, NumReplicas()), for the ledger and stall
  // reports. The legacy form and deterministic training require it.
  std::optional<int> replica_id;
  // Moving averages, which are updated after each update, and their variables (empty: all trainable
  // variables).
  VariableAverages variable_averages;
  std::vector<Variable> variables_to_average;
  // Equal seeds give equal bits, in whichever order gradients arrive and with any number of
  // threads. Excludes backups, because the order of arrival would decide which gradients count.
  bool deterministic = false;
  WhenOneEnds when_one_ends = WhenOneEnds::kOthersGoOn;
  // DT_BFLOAT16 or DT_HALF: the replica rounds float and double gradients to this type before it
  // sends them, and they are summed in their own type. With DT_HALF, elements above 65504 become
  // infinite. Only for accumulators. DT_INVALID: no rounding.
  DataType wire_dtype = DT_INVALID;
  // The chief's reaction when `watch` reports a lost replica (lost_replicas.h). Without `watch` no
  // replica counts as lost. kShrink requires accumulators and excludes deterministic training. With
  // kShrink, the tokens of an update replace unused tokens of earlier updates.
  OnLostReplica on_lost_replica = OnLostReplica::kWait;
  ReplicaWatch watch;
  // Whether updates hold a lock that Savers hold, too, while they read. A checkpoint then has the
  // variables and averages of one global step, even if replicas continue during the save. This adds
  // two ops that TensorFlow's graph does not have.
  bool whole_checkpoints = false;
  bool use_locking = false;
  std::string name = "sync_replicas";

  int NumReplicas() const { return total_num_replicas.value_or(replicas_to_aggregate); }
  // Number of tokens that follow an update (token_queues.h).
  int TokensPerStep() const { return std::max(NumReplicas(), replicas_to_aggregate); }
  // The number of gradients per update if `replicas` replicas are left. With backups, an update
  // then uses at most one gradient of each replica. Without backups, it uses as many of each as
  // before.
  int GradientsPerUpdate(int replicas) const {
    const int all = replicas_to_aggregate, total = NumReplicas();
    return std::max(all <= total ? std::min(all, replicas) : all * replicas / total, 1);
  }
  // -1: unknown.
  int ReplicaId() const { return replica_id.value_or(-1); }
  bool Shrinks() const { return on_lost_replica == OnLostReplica::kShrink; }
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_SYNC_SYNC_REPLICAS_OPTIONS_H_
