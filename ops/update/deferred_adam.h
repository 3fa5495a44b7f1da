// Adam on some rows of a variable whose other rows decay too, as if their gradients were zero (what
// TensorFlow's optimizer makes of a sparse gradient). The other rows' steps are put off until
// somebody reads them; the bits are those of steps that are done at once.
//
// An object holds the tensors of the variable and of its two slots while there is something to do
// on them. Rows are caught up when they are gathered or updated, a part of the others with each
// step so that no more than AdamHistory::kLongest steps need be remembered, and all when one of the
// three is wanted at home.
//
// Thread safety: Find and Step are called with the claims of all three variables had, Rows and
// Settle with one.
#ifndef SLUICE_OPS_UPDATE_DEFERRED_ADAM_H_
#define SLUICE_OPS_UPDATE_DEFERRED_ADAM_H_

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernel/context.h"
#include "executor/kernel/deferred_updates.h"
#include "graph/tensor/tensor.h"
#include "ops/loops/row_index.h"
#include "ops/update/row_decay.h"

namespace sluice {

// The variable, m and v.
using AdamHomes = std::array<Tensor*, 3>;

template <typename T>
class DeferredAdam final : public DeferredUpdates,
                           public std::enable_shared_from_this<DeferredAdam<T>> {
 public:
  // The object that holds these three, which have one shape of at least one dimension and as many
  // elements as that says; one that takes them, if they were not together. RESOURCE_EXHAUSTED.
  static absl::StatusOr<std::shared_ptr<DeferredAdam>> Find(const AdamHomes& homes,
                                                            const StepContext& step);

  // One step. Row indices[i] of m gets to_m[i], of v to_v[i], after they have decayed.
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
  AdamRow<T> RowAt(int64_t row);
  // Marks the rows as done up to `step`, and returns what they miss, each once.
  std::vector<Missed> Claim(const RowIndex& indices, uint64_t step);
  double CostOf(const std::vector<Missed>& missed, uint64_t now) const;
  void CatchUpSome(KernelContext& c);
  void CatchUpAll(const StepContext& step);

  AdamHomes homes_ = {};  // as they were found
  std::mutex mutex_;      // guards all below
  std::array<bool, 3> is_away_ = {};
  std::array<Tensor, 3> tensors_;
  int64_t rows_ = 0;
  int64_t row_size_ = 0;
  AdamHistory<T> history_;
  std::vector<uint64_t> done_;  // by row: the steps before this one
  int64_t sweep_ = 0;           // the next row that is caught up unasked
  bool is_settled_ = true;      // nobody misses anything
};

}  // namespace sluice

#endif  // SLUICE_OPS_UPDATE_DEFERRED_ADAM_H_
