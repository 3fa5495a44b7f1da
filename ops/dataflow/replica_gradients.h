// What synchronous training tells an accumulator or a queue of gradients, beyond what TensorFlow's
// ops say. It travels in attributes that begin with '_', which others ignore.
//
//   on the node that makes it:  _replicas (how many there are), _gradients (that make an update: a
//                               further one of the same step is surplus), _in_replica_order (bits
//                               do not depend on the order of arrival), _ledger (its shared name)
//   on the node that adds:      _replica (whose gradient it is)
#ifndef SLUICE_OPS_DATAFLOW_REPLICA_GRADIENTS_H_
#define SLUICE_OPS_DATAFLOW_REPLICA_GRADIENTS_H_

#include <cstdint>
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

struct ReplicaGradients {
  int replicas = 0;     // 0: not told
  int64_t at_most = 0;  // 0: no bound
  bool in_replica_order = false;
  std::shared_ptr<GradientLedger> ledger;  // null: not kept

  void Enter(int64_t step, int replica, GradientLedger::Outcome outcome) const {
    if (ledger != nullptr) ledger->Enter(step, replica, outcome);
  }
  void Undo(int64_t step) const {
    if (ledger != nullptr) ledger->Undo(step);
  }
  // "; none yet of replicas 1, 3": those that are not among `present`. "" where nothing is known.
  std::string MissingText(const std::vector<int>& present) const;
};

// What a chief hears that waits for gradients when another one starts: FAILED_PRECONDITION.
absl::Status AnotherChiefStarted(const std::string& waited_for);

// As the node's attributes say. The ledger is made where it is not there yet.
absl::StatusOr<ReplicaGradients> ReplicaGradientsOf(KernelInit& init);
// The ledger `name` on the kernel's device.
absl::StatusOr<std::shared_ptr<GradientLedger>> LedgerNamed(KernelInit& init,
                                                            const std::string& name, int replicas);

}  // namespace sluice

#endif  // SLUICE_OPS_DATAFLOW_REPLICA_GRADIENTS_H_
