// The ledger of synchronous training: for each update and replica, how many gradients were applied,
// dropped as stale (computed from an old value of the variables), and dropped as surplus (in time,
// but the update had enough).
//
//   L1. A gradient is counted once, when it is applied or dropped.
//   L2. An applied or surplus gradient is counted at the step at which it was computed, which is
//       the step of its update. A stale gradient is counted at the step that was current when it
//       arrived.
//   L3. If an update was never made because the chief (the replica that makes the updates) was
//       lost, or was undone because an older model was restored, the update's applied gradients are
//       counted as stale instead.
//
// Updates and Totals have one row per replica, and a last row for gradients of unknown replicas.
// Thread safety: all methods may be called from any thread.
// Limits: the counts of the last kUpdatesKept updates are kept. The totals include all updates.
#ifndef SLUICE_OPS_DATAFLOW_GRADIENT_LEDGER_H_
#define SLUICE_OPS_DATAFLOW_GRADIENT_LEDGER_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "executor/device/resource_manager.h"
#include "graph/mutex.h"
#include "graph/tensor/tensor.h"

namespace sluice {

class GradientLedger : public Resource {
 public:
  static constexpr const char* kTypeName = "N6sluice14GradientLedgerE";
  static constexpr int64_t kUpdatesKept = 4096;
  enum Outcome { kApplied = 0, kStale = 1, kSurplus = 2 };
  static constexpr int kOutcomes = 3;
  using Counts = std::array<int64_t, kOutcomes>;
  static constexpr int64_t kReplicasMax = 1 << 16;

  // At most kReplicasMax replicas.
  GradientLedger(std::string name, int num_replicas);

  int num_replicas() const { return num_replicas_; }
  // Counts gradients of a replica at `step` (L2). A replica outside [0, num_replicas) is unknown:
  // its gradients count in the last row.
  void Enter(int64_t step, int replica, Outcome outcome, int64_t gradients = 1);
  // Undoes the updates at `step` and later (L3).
  void Undo(int64_t step);
  // Returns the counts of the updates at the steps first, first + 1, …: int64 [num_updates,
  // num_replicas + 1, kOutcomes]. Uninitialized if there is no memory.
  Tensor Updates(int64_t first, int64_t num_updates) const;
  // int64 [num_replicas + 1, kOutcomes]: all updates since the ledger was made. Uninitialized if
  // there is no memory.
  Tensor Totals() const;
  // "gradient ledger 'sync': 120 applied, 3 stale, 1 surplus; replica 0: 40 applied, 0 stale, …"
  std::string DebugString() const override;

 private:
  using Rows = std::vector<Counts>;  // by replica

  const std::string name_;
  const int num_replicas_;
  mutable Mutex mutex_;
  std::map<int64_t, Rows> updates_ ABSL_GUARDED_BY(mutex_);  // by step
  Rows totals_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_OPS_DATAFLOW_GRADIENT_LEDGER_H_
