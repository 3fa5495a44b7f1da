// Where every gradient of synchronous training went: for each update and replica, how many were
// applied, dropped as stale, dropped as surplus.
//
//   L1. A gradient is entered once: when it is applied or dropped.
//   L2. "applied" and "surplus" are entered under the step that the gradient was computed at (the
//       update that it was for), "stale" under the step that was current when it came too late.
//   L3. An update that a lost chief began and never made, and one that is undone because an older
//       model was restored, has applied nothing: its gradients become stale ones.
//
// A replica that did not say its number is entered in the last row. Thread safety: all methods from
// any thread. Limits: the last kUpdatesKept updates are kept one by one, totals for ever.
#ifndef SLUICE_OPS_DATAFLOW_GRADIENT_LEDGER_H_
#define SLUICE_OPS_DATAFLOW_GRADIENT_LEDGER_H_

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "executor/device/resource_manager.h"
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

  // At most kReplicasMax.
  GradientLedger(std::string name, int num_replicas);

  int num_replicas() const { return num_replicas_; }
  // A replica outside [0, num_replicas) counts as one that did not say.
  void Enter(int64_t step, int replica, Outcome outcome, int64_t gradients = 1);
  // The updates at `step` and later are not made.
  void Undo(int64_t step);
  // int64 [num_updates, num_replicas + 1, kOutcomes]: of the updates at steps first, first + 1, …
  // Not initialized where there is no memory.
  Tensor Updates(int64_t first, int64_t num_updates) const;
  // int64 [num_replicas + 1, kOutcomes]: since the ledger was made.
  Tensor Totals() const;
  // "120 applied, 3 stale, 1 surplus; replica 0: 40, 0, 0; …"
  std::string DebugString() const override;

 private:
  using Rows = std::vector<Counts>;  // by replica

  const std::string name_;
  const int num_replicas_;
  mutable std::mutex mutex_;
  std::map<int64_t, Rows> updates_;  // by step; guarded by mutex_
  Rows totals_;                      // guarded by mutex_
};

}  // namespace sluice

#endif  // SLUICE_OPS_DATAFLOW_GRADIENT_LEDGER_H_
