#include "ops/dataflow/gradient_ledger.h"

#include <algorithm>
#include <utility>

#include "graph/strings.h"
#include "graph/tensor/limited_heap.h"
#include "graph/tensor/sizes.h"

namespace sluice {
namespace {

std::string Text(const GradientLedger::Counts& c) {
  return StrCat(c[GradientLedger::kApplied], " applied, ", c[GradientLedger::kStale], " stale, ",
                c[GradientLedger::kSurplus], " surplus");
}

// Uninitialized if there is no memory: a graph chooses the size.
Tensor NewTable(const TensorShape& shape) {
  return Tensor::Allocate(LimitedHeap(), DT_INT64, shape).value_or(Tensor());
}

}  // namespace

GradientLedger::GradientLedger(std::string name, int num_replicas)
    : name_(std::move(name)), num_replicas_(num_replicas), totals_(num_replicas + 1) {}

void GradientLedger::Enter(int64_t step, int replica, Outcome outcome, int64_t gradients) {
  const int row = replica >= 0 && replica < num_replicas_ ? replica : num_replicas_;
  ScopedLock lock(&mutex_);
  Rows& rows = updates_[step];
  if (rows.empty()) {
    rows.resize(num_replicas_ + 1);
    if (static_cast<int64_t>(updates_.size()) > kUpdatesKept) updates_.erase(updates_.begin());
  }
  // The step may be the oldest one and thus have been removed at once.
  if (auto kept = updates_.find(step); kept != updates_.end()) {
    kept->second[row][outcome] = SaturatedSum(kept->second[row][outcome], gradients);
  }
  totals_[row][outcome] = SaturatedSum(totals_[row][outcome], gradients);
}

void GradientLedger::Undo(int64_t step) {
  ScopedLock lock(&mutex_);
  for (auto it = updates_.lower_bound(step); it != updates_.end(); ++it) {
    for (size_t row = 0; row < it->second.size(); ++row) {
      Counts& counts = it->second[row];
      Counts& total = totals_[row];
      total[kStale] = SaturatedSum(total[kStale], counts[kApplied]);
      total[kApplied] -= counts[kApplied];
      counts[kStale] = SaturatedSum(counts[kStale], std::exchange(counts[kApplied], 0));
    }
  }
}

Tensor GradientLedger::Updates(int64_t first, int64_t num_updates) const {
  Tensor table = NewTable({num_updates, num_replicas_ + 1, kOutcomes});
  if (!table.IsInitialized()) return table;
  std::fill_n(table.data<int64_t>(), table.num_elements(), 0);
  const int64_t size = (num_replicas_ + 1) * kOutcomes;
  ScopedLock lock(&mutex_);
  for (auto it = updates_.lower_bound(first); it != updates_.end(); ++it) {
    // Uses unsigned numbers, because the difference of two int64 steps may overflow.
    const uint64_t at = static_cast<uint64_t>(it->first) - static_cast<uint64_t>(first);
    if (at >= static_cast<uint64_t>(num_updates)) break;
    int64_t* to = table.data<int64_t>() + static_cast<int64_t>(at) * size;
    for (const Counts& counts : it->second) to = std::copy(counts.begin(), counts.end(), to);
  }
  return table;
}

Tensor GradientLedger::Totals() const {
  Tensor table = NewTable({num_replicas_ + 1, kOutcomes});
  if (!table.IsInitialized()) return table;
  int64_t* to = table.data<int64_t>();
  ScopedLock lock(&mutex_);
  for (const Counts& counts : totals_) to = std::copy(counts.begin(), counts.end(), to);
  return table;
}

std::string GradientLedger::DebugString() const {
  ScopedLock lock(&mutex_);
  Counts all = {};
  for (const Counts& c : totals_) {
    for (int i = 0; i < kOutcomes; ++i) all[i] = SaturatedSum(all[i], c[i]);
  }
  std::string text = StrCat("gradient ledger '", name_, "': ", Text(all));
  for (int r = 0; r < num_replicas_; ++r) {
    StrAppend(&text, "; replica ", r, ": ", Text(totals_[r]));
  }
  return text;
}

}  // namespace sluice
