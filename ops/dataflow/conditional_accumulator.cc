#include "ops/dataflow/conditional_accumulator.h"

#include <algorithm>

#include "graph/status.h"
#include "ops/loops/wrapping.h"

namespace sluice {
namespace {

absl::Status TakeCancelled() { return absl::CancelledError("TakeGrad operation was cancelled"); }

void RunHere(int64_t total, double, absl::FunctionRef<void(int64_t, int64_t)> f) { f(0, total); }

}  // namespace

ConditionalAccumulator::ConditionalAccumulator(std::string name, Kind kind, DataType dtype,
                                               PartialShape shape, Reduction reduction,
                                               ReplicaGradients replicas)
    : name_(std::move(name)),
      kind_(kind),
      dtype_(dtype),
      reduction_(reduction),
      replicas_(std::move(replicas)),
      sum_(kind == Kind::kDense ? MakeDenseSum(dtype, std::move(shape))
                                : MakeSparseSum(dtype, std::move(shape))) {}

absl::Status ConditionalAccumulator::Apply(const Caller& caller, int64_t local_step,
                                           GivenGradient gradient, bool has_known_shape,
                                           const Parallel& parallel) {
  Line complete;
  {
    ScopedLock lock(&mutex_);
    if (IsStale(local_step)) {
      ++counts_.dropped_as_stale;
      replicas_.Enter(counts_.global_step, caller.replica, GradientLedger::kStale);
      return absl::OkStatus();
    }
    if (Most() > 0 && counts_.accumulated >= Most()) {
      ++counts_.dropped_as_surplus;
      replicas_.Enter(local_step, caller.replica, GradientLedger::kSurplus);
      return absl::OkStatus();
    }
    SLUICE_RETURN_IF_ERROR(sum_->Check(gradient, has_known_shape));
    SLUICE_RETURN_IF_ERROR(Add(caller, local_step, gradient, parallel));
    ++counts_.applied;
    ++counts_.accumulated;
    if (takers_.empty()) return absl::OkStatus();
    TryTakers(caller, parallel, &complete);
  }
  Finish(std::move(complete), parallel);
  return absl::OkStatus();
}

absl::Status ConditionalAccumulator::Add(const Caller& caller, int64_t local_step,
                                         GivenGradient gradient, const Parallel& parallel) {
  if (replicas_.in_replica_order) {
    GradientTensors& kept = kept_.emplace(caller.replica, GradientTensors())->second;
    for (const GivenTensor& tensor : gradient) kept.push_back(tensor.Take());
  } else {
    SLUICE_RETURN_IF_ERROR(sum_->Add(gradient, *caller.allocator, parallel));
  }
  present_.push_back({.replica = caller.replica, .local_step = local_step});
  return absl::OkStatus();
}

absl::Status ConditionalAccumulator::AddInOrder(const Caller& caller, const Parallel& parallel) {
  for (auto& [replica, gradient] : kept_) {
    // Checks the shape again, because the sum was still empty when the gradient arrived.
    const auto given = Give(gradient);
    SLUICE_RETURN_IF_ERROR(sum_->Check(given, false));
    SLUICE_RETURN_IF_ERROR(sum_->Add(given, *caller.allocator, parallel));
  }
  return absl::OkStatus();
}

std::optional<absl::StatusOr<GradientTensors>> ConditionalAccumulator::TakeAtOnce(
    const Caller& caller, int64_t num_required, const Parallel& parallel) {
  if (num_required < 1 || caller.IsCancelled()) return std::nullopt;
  GradientSum::Taken sum;
  {
    ScopedLock lock(&mutex_);
    if (!takers_.empty() || !HasEnough(num_required)) return std::nullopt;
    const absl::Status status = TakeSum(caller, parallel, &sum);
    if (!status.ok()) return status;
  }
  return sum_->Finish(std::move(sum), reduction_, *caller.allocator, parallel);
}

void ConditionalAccumulator::Take(const Caller& caller, int64_t num_required,
                                  const Parallel& parallel, Taken taken) {
  if (num_required < 1) {
    return taken(InvalidArgument("Argument num_required must be positive, but was ", num_required));
  }
  if (caller.IsCancelled()) return taken(TakeCancelled());
  Line complete;
  {
    ScopedLock lock(&mutex_);
    const int64_t id = next_id_++;
    takers_.push_back({.id = id,
                       .num_required = num_required,
                       .caller = caller,
                       .taken = std::move(taken),
                       .wait = {},
                       .sum = {},
                       .status = {}});
    TryTakers(caller, parallel, &complete);
    if (!takers_.empty() && takers_.back().id == id) {
      Taker& blocked = takers_.back();
      const auto self = shared_from_this();
      const auto describe = [self, num_required] {
        ScopedLock lock(&self->mutex_);
        return self->State(num_required);
      };
      if (!blocked.wait.Start(
              caller, StrCat("accumulator '", name_, "'"), [self, id] { self->Cancel(id); },
              describe)) {
        blocked.status = TakeCancelled();
        complete.splice(complete.end(), takers_, std::prev(takers_.end()));
      }
    }
  }
  Finish(std::move(complete), parallel);
}

void ConditionalAccumulator::TryTakers(const Caller& caller, const Parallel& parallel,
                                       Line* complete) {
  while (!takers_.empty() && HasEnough(takers_.front().num_required)) {
    Taker& head = takers_.front();
    head.status = TakeSum(caller, parallel, &head.sum);
    complete->splice(complete->end(), takers_, takers_.begin());
  }
}

absl::Status ConditionalAccumulator::TakeSum(const Caller& caller, const Parallel& parallel,
                                             GradientSum::Taken* sum) {
  if (replicas_.in_replica_order) {
    // Gradients that cannot be added up are dropped, because the sum may have moved from some.
    if (absl::Status status = AddInOrder(caller, parallel); !status.ok()) {
      for (const Present& p : present_) {
        replicas_.Enter(p.local_step, p.replica, GradientLedger::kSurplus);
      }
      counts_.dropped_as_surplus += counts_.accumulated;
      Drop();
      return status;
    }
  }
  sum_->Take(counts_.accumulated, sum);
  for (const Present& p : present_) {
    replicas_.Enter(p.local_step, p.replica, GradientLedger::kApplied);
  }
  present_.clear();
  kept_.clear();
  counts_.accumulated = 0;
  ++counts_.updates;
  counts_.global_step = WrappingAdd<int64_t>(counts_.global_step, 1);
  update_size_ = next_update_size_;
  return absl::OkStatus();
}

void ConditionalAccumulator::Drop() {
  GradientSum::Taken dropped;
  sum_->Take(counts_.accumulated, &dropped);
  counts_.applied -= counts_.accumulated;
  counts_.accumulated = 0;
  present_.clear();
  kept_.clear();
}

void ConditionalAccumulator::Finish(Line complete, const Parallel& parallel) {
  for (Taker& taker : complete) {
    taker.wait.End();
    if (!taker.status.ok()) {
      taker.taken(std::move(taker.status));
    } else {
      taker.taken(
          sum_->Finish(std::move(taker.sum), reduction_, *taker.caller.allocator, parallel));
    }
  }
}

void ConditionalAccumulator::Cancel(int64_t id) {
  Line complete;
  {
    ScopedLock lock(&mutex_);
    const auto found = std::find_if(takers_.begin(), takers_.end(),
                                    [id](const Taker& taker) { return taker.id == id; });
    if (found == takers_.end()) return;
    found->status = TakeCancelled();
    complete.splice(complete.end(), takers_, found);
    // The next taker may require fewer gradients.
    if (!takers_.empty()) TryTakers(takers_.front().caller, RunHere, &complete);
  }
  Finish(std::move(complete), RunHere);
}

void ConditionalAccumulator::SetGlobalStep(int64_t step) {
  Line complete;
  {
    ScopedLock lock(&mutex_);
    if (replicas_.replicas > 0) {
      for (Taker& taker : takers_) {
        taker.status = AnotherChiefStarted(StrCat("accumulator '", name_, "'"));
      }
      complete.splice(complete.end(), takers_);
      GoTo(step);
    }
    counts_.global_step = step;
  }
  Finish(std::move(complete), RunHere);
}

void ConditionalAccumulator::GoTo(int64_t step) {
  if (step < counts_.global_step) {
    undone_until_ = std::max(undone_until_, counts_.global_step);
    replicas_.Undo(step);
  }
  // If the sum contains a gradient of another step, drops the whole sum, because it cannot be
  // split.
  if (std::all_of(present_.begin(), present_.end(),
                  [step](const Present& p) { return p.local_step == step; })) {
    return;
  }
  for (const Present& p : present_) replicas_.Enter(step, p.replica, GradientLedger::kStale);
  counts_.dropped_as_stale += counts_.accumulated;
  Drop();
}

int64_t ConditionalAccumulator::Most() const {
  if (replicas_.at_most == 0 || update_size_ == 0) return replicas_.at_most;
  return std::min(replicas_.at_most, update_size_);
}

int64_t ConditionalAccumulator::Needed(int64_t num_required) const {
  return update_size_ > 0 ? std::min(num_required, update_size_) : num_required;
}

void ConditionalAccumulator::SetUpdateSize(int64_t gradients) {
  Line complete;
  {
    ScopedLock lock(&mutex_);
    next_update_size_ = gradients;
    if (update_size_ == 0 || gradients < update_size_) update_size_ = gradients;
    if (!takers_.empty()) TryTakers(takers_.front().caller, RunHere, &complete);
  }
  Finish(std::move(complete), RunHere);
}

ConditionalAccumulator::Counts ConditionalAccumulator::counts() const {
  ScopedLock lock(&mutex_);
  return counts_;
}

std::string ConditionalAccumulator::State(int64_t num_required) const {
  std::string text = StrCat(counts_.accumulated);
  if (num_required > 0) StrAppend(&text, " of ", Needed(num_required));
  StrAppend(&text, " gradients for step ", counts_.global_step);
  if (counts_.dropped_as_stale > 0) {
    StrAppend(&text, ", ", counts_.dropped_as_stale, " dropped as stale so far");
  }
  if (counts_.dropped_as_surplus > 0) {
    StrAppend(&text, ", ", counts_.dropped_as_surplus, " as surplus");
  }
  std::vector<int> present;
  for (const Present& p : present_) present.push_back(p.replica);
  text += replicas_.MissingText(present);
  return text;
}

std::string ConditionalAccumulator::DebugString() const {
  ScopedLock lock(&mutex_);
  return StrCat("accumulator '", name_, "': ", State(0), ", ", takers_.size(), " waiting to take");
}

}  // namespace sluice
