// Does sparse updates of Adam, and defers the steps of rows without a gradient.
//
// TensorFlow's optimizer decays all rows of a variable and of its slots m and v (the moments), as
// if rows without a gradient had a gradient of zero. Here such a row does these steps later, when
// it is read, with the same bits as if they had been done immediately. A DeferredAdam holds the
// three tensors while updates are deferred. A row catches up in one of three cases:
//   1. It is gathered or updated.
//   2. Its turn comes: each step catches up a part of all rows, so that no row lags more than
//      AdamHistory::kLongest steps.
//   3. Some kernel needs one of the three tensors as a whole (Settle).
//
// Thread safety: the caller of Find and Step holds the claims (locks, executor/wait/claim.h) of all
// three variables. The caller of Rows and Settle holds one of them.
#ifndef SLUICE_OPS_UPDATE_DEFERRED_ADAM_H_
#define SLUICE_OPS_UPDATE_DEFERRED_ADAM_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernel/context.h"
#include "executor/kernel/deferred_updates.h"
#include "graph/mutex.h"
#include "graph/tensor/tensor.h"
#include "ops/loops/row_index.h"
#include "ops/update/row_decay.h"

namespace sluice {

// The places in which the three variables (the trained one, m and v) keep their tensors. These
// tensors are empty while updates are deferred, because a DeferredAdam then holds the tensors.
using AdamHomes = std::array<Tensor*, 3>;

template <typename T>
class DeferredAdam final : public DeferredUpdates,
                           public std::enable_shared_from_this<DeferredAdam<T>> {
 public:
  // Returns the object that holds the tensors of the three variables, or makes one if there is
  // none. The tensors must have equal shapes, with at least one dimension and at least one element.
  // RESOURCE_EXHAUSTED if a tensor has to be copied, because its buffer is shared, and there is no
  // memory.
  static absl::StatusOr<std::shared_ptr<DeferredAdam>> Find(const AdamHomes& homes,
                                                            const StepContext& step);

  // Does one step of the optimizer. Adds to_m[i] and to_v[i] to rows indices[i] of m and v, after
  // these have decayed.
  void Step(const AdamNumbers<T>& numbers, const RowIndex& indices, const T* to_m, const T* to_v,
            KernelContext& c);
  const Tensor& Rows(const Tensor* home, const Tensor& indices, const StepContext& step) override;
  void Settle(Tensor* home, const StepContext& step) override;

 private:
  struct Missed {
    int64_t row;
    uint64_t from;
  };
  DeferredAdam() = default;
  AdamRow<T> RowAt(int64_t row) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Marks the rows as done up to `step`. Returns those that lagged, each of them once, with the
  // number of steps that they had done.
  std::vector<Missed> Claim(const RowIndex& indices, uint64_t step)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  double CostOf(const std::vector<Missed>& missed, uint64_t now) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Does the deferred steps of `count` rows from row `first` on. After the last row comes row 0.
  void CatchUp(int64_t first, int64_t count, const StepContext& step)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  AdamHomes homes_ = {};  // constant after Find
  Mutex mutex_;
  std::array<bool, 3> is_away_ ABSL_GUARDED_BY(mutex_) = {};
  std::array<Tensor, 3> tensors_ ABSL_GUARDED_BY(mutex_);
  int64_t rows_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t row_size_ ABSL_GUARDED_BY(mutex_) = 0;
  AdamHistory<T> history_ ABSL_GUARDED_BY(mutex_);
  std::vector<uint64_t> done_ ABSL_GUARDED_BY(mutex_);  // by row: the number of steps done
  int64_t sweep_ ABSL_GUARDED_BY(mutex_) = 0;           // the next row whose turn it is
  bool is_settled_ ABSL_GUARDED_BY(mutex_) = true;      // no row lags
};

}  // namespace sluice

#endif  // SLUICE_OPS_UPDATE_DEFERRED_ADAM_H_
