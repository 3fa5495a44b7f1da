// Settings of synchronous training that TensorFlow's accumulators and queues lack. They are
// attributes whose names begin with '_', which TensorFlow ignores.
//
// Attributes of the node that makes the accumulator or queue of gradients:
// - _replicas: the number of replicas.
// - _gradients: the largest number of gradients in an update. Further ones are dropped as surplus.
// - _in_replica_order: whether the bits of a sum do not depend on the order of arrival.
// - _ledger: the shared name of the ledger (gradient_ledger.h).
// Attribute of the node that adds a gradient:
// - _replica: the number of the replica.
#ifndef SLUICE_OPS_DATAFLOW_REPLICA_GRADIENTS_H_
#define SLUICE_OPS_DATAFLOW_REPLICA_GRADIENTS_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/kernel/kernel.h"
#include "ops/dataflow/gradient_ledger.h"

namespace sluice {

inline constexpr char kReplicasAttr[] = "_replicas";
inline constexpr char kGradientsAttr[] = "_gradients";
inline constexpr char kInReplicaOrderAttr[] = "_in_replica_order";
inline constexpr char kLedgerAttr[] = "_ledger";
inline constexpr char kReplicaAttr[] = "_replica";

// The replica that a graph gives as `number`. -1 (unknown) if it is negative or does not fit in an
// int.
inline int ReplicaOf(int64_t number) {
  return number < 0 || number > std::numeric_limits<int>::max() ? -1 : static_cast<int>(number);
}

struct ReplicaGradients {
  int replicas = 0;     // 0 if unknown
  int64_t at_most = 0;  // gradients in an update. 0 for no limit
  bool in_replica_order = false;
  std::shared_ptr<GradientLedger> ledger;  // null if there is none

  void Enter(int64_t step, int replica, GradientLedger::Outcome outcome) const {
    if (ledger != nullptr) ledger->Enter(step, replica, outcome);
  }
  void Undo(int64_t step) const {
    if (ledger != nullptr) ledger->Undo(step);
  }
  // The end of a message about gradients that are missing: "; none yet of replicas 1, 3" lists the
  // replicas that are not in `present`. Empty if all are, or if `present` contains an unknown
  // replica (-1), because its gradient could be from any replica.
  std::string MissingText(const std::vector<int>& present) const;
};

// Returns FAILED_PRECONDITION, for a chief (the replica that makes the updates) that waits for
// `waited_for` while another chief starts.
absl::Status AnotherChiefStarted(const std::string& waited_for);

// Returns the settings in the attributes of the node that makes the accumulator or queue. Makes the
// ledger that the attribute _ledger names if it does not exist yet.
absl::StatusOr<ReplicaGradients> ReplicaGradientsOf(KernelInit& init);
// Returns the ledger `name` on the kernel's device. Makes the ledger if it does not exist yet.
// INVALID_ARGUMENT if it exists with another number of replicas.
absl::StatusOr<std::shared_ptr<GradientLedger>> LedgerNamed(KernelInit& init,
                                                            const std::string& name, int replicas);

}  // namespace sluice

#endif  // SLUICE_OPS_DATAFLOW_REPLICA_GRADIENTS_H_
