#include "distributed/rendezvous/step_rendezvous.h"

#include <utility>

#include "executor/partition/partition.h"
#include "executor/wait/error_group.h"
#include "graph/status.h"

namespace sluice {

void StepRendezvous::RecvAsync(const std::string& key, CancellationManager* cancellation,
                               Done done) {
  const std::string_view from = TaskOf(std::string_view(key).substr(0, key.find(';')));
  std::shared_ptr<const TaskView> view;
  absl::Status aborted;
  {
    ScopedLock lock(&mutex_);
    view = view_;
    aborted = aborted_;
  }
  if (from == view->task) return local_.RecvAsync(key, cancellation, std::move(done));
  if (!aborted.ok()) return done(aborted, Tensor(), false);
  // The fetch is cancelled with the receiver and with the step.
  const auto token = cancellation == nullptr ? 0 : cancellation->NewToken();
  auto call = std::make_shared<CancellationManager>(&receiving_);
  if (cancellation != nullptr && !cancellation->Register(token, [call] { call->StartCancel(); })) {
    return done(absl::CancelledError("RecvFromRemoteAsync is cancelled."), Tensor(), false);
  }
  view->receive(std::string(from), step_id_, key, call.get(),
                [self = shared_from_this(), call, cancellation, token, done = std::move(done)](
                    absl::Status status, Tensor value, bool is_dead) {
                  if (cancellation != nullptr) cancellation->TryDeregister(token);
                  // The sender's part reports the error as its own.
                  if (!status.ok()) status = DerivedError(self->AbortedOr(std::move(status)));
                  done(std::move(status), std::move(value), is_dead);
                });
}

void StepRendezvous::set_view(std::shared_ptr<const TaskView> view) {
  ScopedLock lock(&mutex_);
  view_ = std::move(view);
}

absl::Status StepRendezvous::AbortedOr(absl::Status status) {
  ScopedLock lock(&mutex_);
  return aborted_.ok() ? std::move(status) : aborted_;
}

void StepRendezvous::StartAbort(const absl::Status& status) {
  {
    ScopedLock lock(&mutex_);
    if (!aborted_.ok()) return;
    aborted_ = status;
  }
  local_.StartAbort(status);
  receiving_.StartCancel();
}

absl::StatusOr<std::shared_ptr<StepRendezvous>> StepRendezvousTable::Find(
    int64_t step_id, const std::shared_ptr<const TaskView>& view) {
  ScopedLock lock(&mutex_);
  SLUICE_RETURN_IF_ERROR(closed_);
  std::shared_ptr<StepRendezvous>& step = steps_[step_id];
  if (step != nullptr) {
    if (view != nullptr) step->set_view(view);
    return step;
  }
  if (ended_.Contains(step_id)) {
    steps_.erase(step_id);
    return absl::AbortedError(StrCat("Cleanup ", step_id));
  }
  step = std::make_shared<StepRendezvous>(step_id, view != nullptr ? view : view_);
  return step;
}

void StepRendezvousTable::End(int64_t step_id) {
  std::shared_ptr<StepRendezvous> step;
  {
    ScopedLock lock(&mutex_);
    ended_.IsNew(step_id);
    auto it = steps_.find(step_id);
    if (it == steps_.end()) return;
    step = std::move(it->second);
    steps_.erase(it);
  }
  step->StartAbort(absl::CancelledError(StrCat("Cleanup ", step_id)));
}

void StepRendezvousTable::AbortAll(const absl::Status& status) {
  std::map<int64_t, std::shared_ptr<StepRendezvous>> steps;
  {
    ScopedLock lock(&mutex_);
    closed_ = status;
    steps.swap(steps_);
  }
  for (auto& [id, step] : steps) step->StartAbort(status);
}

}  // namespace sluice
