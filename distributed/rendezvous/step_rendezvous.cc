#include "distributed/rendezvous/step_rendezvous.h"

#include <utility>
#include <vector>

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
    int64_t step_id, const std::shared_ptr<const TaskView>& view, const std::string& session) {
  ScopedLock lock(&mutex_);
  SLUICE_ASSIGN_OR_RETURN(Step * step, FindLocked(step_id, view));
  step->runs_here = true;
  step->session = session;
  return step->rendezvous;
}

absl::StatusOr<StepRendezvousTable::Step*> StepRendezvousTable::FindLocked(
    int64_t step_id, const std::shared_ptr<const TaskView>& view) {
  SLUICE_RETURN_IF_ERROR(closed_);
  if (const auto it = steps_.find(step_id); it != steps_.end()) {
    if (view != nullptr) it->second.rendezvous->set_view(view);
    return &it->second;
  }
  if (ended_.Contains(step_id)) return absl::AbortedError(StrCat("Cleanup ", step_id));
  Step& step = steps_[step_id];
  step.rendezvous = std::make_shared<StepRendezvous>(step_id, view != nullptr ? view : view_);
  return &step;
}

void StepRendezvousTable::RecvLocalAsync(int64_t step_id, const std::string& key,
                                         CancellationManager* cancellation, Rendezvous::Done done) {
  std::shared_ptr<StepRendezvous> rendezvous;
  absl::Status status;
  {
    ScopedLock lock(&mutex_);
    const absl::StatusOr<Step*> step = FindLocked(step_id, nullptr);
    status = step.status();
    if (step.ok()) {
      ++(*step)->receivers;
      rendezvous = (*step)->rendezvous;
    }
  }
  if (!status.ok()) return done(status, Tensor(), false);
  rendezvous->RecvLocalAsync(key, cancellation,
                             [this, step_id, rendezvous, done = std::move(done)](
                                 absl::Status received, Tensor value, bool is_dead) {
                               ReceiverEnds(step_id, *rendezvous);
                               done(std::move(received), std::move(value), is_dead);
                             });
}

void StepRendezvousTable::ReceiverEnds(int64_t step_id, const StepRendezvous& rendezvous) {
  ScopedLock lock(&mutex_);
  const auto it = steps_.find(step_id);
  if (it == steps_.end() || it->second.rendezvous.get() != &rendezvous) return;  // has ended
  if (--it->second.receivers == 0 && !it->second.runs_here) steps_.erase(it);
}

void StepRendezvousTable::End(int64_t step_id) {
  std::shared_ptr<StepRendezvous> rendezvous;
  {
    ScopedLock lock(&mutex_);
    ended_.IsNew(step_id);
    auto it = steps_.find(step_id);
    if (it == steps_.end()) return;
    rendezvous = std::move(it->second.rendezvous);
    steps_.erase(it);
  }
  rendezvous->StartAbort(absl::CancelledError(StrCat("Cleanup ", step_id)));
}

void StepRendezvousTable::EndStepsOf(const std::string& session) {
  std::vector<int64_t> ended;
  {
    ScopedLock lock(&mutex_);
    for (const auto& [step_id, step] : steps_) {
      if (step.runs_here && step.session == session) ended.push_back(step_id);
    }
  }
  for (const int64_t step_id : ended) End(step_id);
}

void StepRendezvousTable::AbortAll(const absl::Status& status) {
  std::map<int64_t, Step> steps;
  {
    ScopedLock lock(&mutex_);
    closed_ = status;
    steps.swap(steps_);
  }
  for (auto& [id, step] : steps) step.rendezvous->StartAbort(status);
}

int StepRendezvousTable::num_steps() {
  ScopedLock lock(&mutex_);
  return static_cast<int>(steps_.size());
}

}  // namespace sluice
