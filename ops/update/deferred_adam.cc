#include "ops/update/deferred_adam.h"

#include <algorithm>
#include <utility>

#include "ops/state/variable_resource.h"

namespace sluice {
namespace {

// The nanoseconds per element to test whether a row still changes, and to apply a step to it.
constexpr double kLookCost = 4;
constexpr double kStepCost = 0.5;
constexpr uint64_t kStepsToRest = 200;  // after so many steps, most rows no longer change

}  // namespace

template <typename T>
absl::StatusOr<std::shared_ptr<DeferredAdam<T>>> DeferredAdam<T>::Find(const AdamHomes& homes,
                                                                       const StepContext& step) {
  std::shared_ptr<DeferredUpdates> holder = WhoHas(homes[0]);
  if (auto* adam = dynamic_cast<DeferredAdam*>(holder.get());
      adam != nullptr && adam->homes_ == homes && WhoHas(homes[1]) == holder &&
      WhoHas(homes[2]) == holder) {
    return std::static_pointer_cast<DeferredAdam>(holder);
  }
  for (Tensor* home : homes) {
    SettleDeferred(home, step);
    SLUICE_RETURN_IF_ERROR(MakeWritable(home, *step.allocator));
  }
  std::shared_ptr<DeferredAdam> made(new DeferredAdam);
  ScopedLock lock(&made->mutex_);
  made->homes_ = homes;
  made->rows_ = homes[0]->dim(0);
  made->row_size_ = homes[0]->num_elements() / made->rows_;
  made->done_.assign(static_cast<size_t>(made->rows_), 0);
  for (size_t k = 0; k < homes.size(); ++k) {
    made->tensors_[k] = TakeAway(homes[k], made);
    made->is_away_[k] = true;
  }
  return made;
}

template <typename T>
AdamRow<T> DeferredAdam<T>::RowAt(int64_t row) {
  const int64_t at = row * row_size_;
  return {tensors_[0].template data<T>() + at, tensors_[1].template data<T>() + at,
          tensors_[2].template data<T>() + at, row_size_};
}

template <typename T>
auto DeferredAdam<T>::Claim(const RowIndex& indices, uint64_t step) -> std::vector<Missed> {
  std::vector<Missed> missed;
  missed.reserve(static_cast<size_t>(indices.size()));
  for (int64_t i = 0; i < indices.size(); ++i) {
    uint64_t& done = done_[static_cast<size_t>(indices[i])];
    if (done >= step) continue;
    missed.push_back({indices[i], done});
    done = step;
  }
  return missed;
}

template <typename T>
double DeferredAdam<T>::CostOf(const std::vector<Missed>& missed, uint64_t now) const {
  uint64_t steps = 0;
  for (const Missed& m : missed) steps += std::min(now - m.from, kStepsToRest);
  const double each = static_cast<double>(steps) / static_cast<double>(missed.size() + 1);
  return (kLookCost + kStepCost * each) * static_cast<double>(row_size_);
}

template <typename T>
void DeferredAdam<T>::Step(const AdamNumbers<T>& numbers, const RowIndex& indices, const T* to_m,
                           const T* to_v, KernelContext& c) {
  ScopedLock lock(&mutex_);
  const uint64_t now = history_.steps();
  history_.Add(numbers);
  is_settled_ = false;
  const std::vector<Missed> touched = Claim(indices, now + 1);
  const bool are_all_different = static_cast<int64_t>(touched.size()) == indices.size();
  const auto count = static_cast<int64_t>(touched.size());
  c.ParallelFor(count, CostOf(touched, now), [&](int64_t begin, int64_t end) {
    mutex_.AssertHeld();  // the caller holds it
    for (int64_t i = begin; i < end; ++i) {
      const AdamRow<T> row = RowAt(touched[i].row);
      ReplayDecay(history_, touched[i].from, now, row);
      DecayMoments(numbers, row);
      if (!are_all_different) continue;
      AddToMoments(to_m + i * row_size_, to_v + i * row_size_, row);
      MoveVariable(numbers, row);
    }
  });
  if (!are_all_different) {
    for (int64_t i = 0; i < indices.size(); ++i) {
      AddToMoments(to_m + i * row_size_, to_v + i * row_size_, RowAt(indices[i]));
    }
    for (const Missed& missed : touched) MoveVariable(numbers, RowAt(missed.row));
  }
  // Catches up a part of the rows in each step. So every row is caught up within kLongest steps,
  // for which the history has numbers.
  const auto longest = static_cast<int64_t>(AdamHistory<T>::kLongest);
  const int64_t share = (rows_ + longest - 1) / longest;
  CatchUp(sweep_, share, c.step());
  sweep_ = (sweep_ + share) % rows_;
}

template <typename T>
void DeferredAdam<T>::CatchUp(int64_t first, int64_t count, const StepContext& step) {
  const uint64_t now = history_.steps();
  step.ParallelFor(count, kLookCost * static_cast<double>(row_size_),
                   [&](int64_t begin, int64_t end) {
                     mutex_.AssertHeld();  // the caller holds it
                     for (int64_t i = begin; i < end; ++i) {
                       const int64_t row = (first + i) % rows_;
                       ReplayDecay(history_, std::min(done_[row], now), now, RowAt(row));
                       done_[row] = now;
                     }
                   });
}

template <typename T>
const Tensor& DeferredAdam<T>::Rows(const Tensor* home, const Tensor& indices,
                                    const StepContext& step) {
  ScopedLock lock(&mutex_);
  const uint64_t now = history_.steps();
  const std::vector<Missed> missed = Claim(RowIndex(indices), now);
  step.ParallelFor(static_cast<int64_t>(missed.size()), CostOf(missed, now),
                   [&](int64_t begin, int64_t end) {
                     mutex_.AssertHeld();  // the caller holds it
                     for (int64_t i = begin; i < end; ++i) {
                       ReplayDecay(history_, missed[i].from, now, RowAt(missed[i].row));
                     }
                   });
  return tensors_[std::find(homes_.begin(), homes_.end(), home) - homes_.begin()];
}

template <typename T>
void DeferredAdam<T>::Settle(Tensor* home, const StepContext& step) {
  ScopedLock lock(&mutex_);
  for (size_t k = 0; k < homes_.size(); ++k) {
    if (homes_[k] != home || !is_away_[k]) continue;
    if (!is_settled_) CatchUp(0, rows_, step);
    is_settled_ = true;
    is_away_[k] = false;
    // BringBack may release the last other reference to this object, but the caller holds one.
    BringBack(home, std::move(tensors_[k]));
  }
}

template class DeferredAdam<float>;
template class DeferredAdam<double>;

}  // namespace sluice
