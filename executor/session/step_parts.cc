#include "executor/session/step_parts.h"

#include <utility>

#include "executor/passes/prune.h"
#include "executor/step/continuations.h"
#include "executor/step/outbox.h"
#include "executor/trace/metrics.h"
#include "executor/wait/linked_cancellation.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Of a partial run: what the client feeds and fetches meets it, the rest the other tasks.
class WithClient final : public Rendezvous {
 public:
  WithClient(Rendezvous& client, Rendezvous& tasks) : client_(client), tasks_(tasks) {}
  absl::Status Send(const std::string& key, Tensor value, bool is_dead) override {
    return For(key).Send(key, std::move(value), is_dead);
  }
  void RecvAsync(const std::string& key, CancellationManager* cancellation, Done done) override {
    For(key).RecvAsync(key, cancellation, std::move(done));
  }
  void StartAbort(const absl::Status& status) override {
    client_.StartAbort(status);
    tasks_.StartAbort(status);
  }

 private:
  Rendezvous& For(const std::string& key) const { return IsClientKey(key) ? client_ : tasks_; }
  Rendezvous& client_;
  Rendezvous& tasks_;
};

}  // namespace

absl::Status ClosedError() {
  return absl::CancelledError("Step was cancelled by an explicit call to `Session::Close()`.");
}

absl::Status StepParts::Run(absl::Span<const Tensor* const> feeds, Tensor* fetches,
                            const RunOptions& options, RunMetadata* metadata,
                            Rendezvous* partial_run) {
  const SessionPlan::Distribution& parts = *plan_.distribution();
  static MetricCounter steps("sluice_steps_total");
  steps.Add();
  fetches_ = fetches;
  step_id_ = remote_.NewStepId();
  std::shared_ptr<Rendezvous> rendezvous = remote_.RendezvousOf(step_id_);
  if (rendezvous == nullptr) return absl::CancelledError("the server stops");
  running_ = parts.remote.size();
  {
    const LinkedCancellation closing(&closing_, cancellation_);
    const LinkedCancellation caller(options.cancellation, cancellation_);
    Outbox outbox;
    for (size_t i = 0; i < parts.remote.size(); ++i) StartRemote(i, feeds, options);
    if (parts.has_local) {
      WithClient both(partial_run != nullptr ? *partial_run : *rendezvous, *rendezvous);
      const absl::Status status = RunLocal(feeds, options, &both, metadata);
      if (!status.ok()) Fail(status);
    }
    Outbox::Flush();
    ContinuationScope::BeforeWork();
    StepScheduler* const scheduler = executor_.options().scheduler;
    std::unique_lock<std::mutex> lock(mutex_);
    is_blocked_ = running_ > 0 && scheduler != nullptr;
    const bool was_blocked = is_blocked_;
    if (was_blocked) scheduler->Blocked(step_id_);
    ended_.wait(lock, [this] { return running_ == 0; });
    lock.unlock();
    if (was_blocked) scheduler->Resume(step_id_);
  }
  std::vector<std::string> tasks;
  for (const auto& part : parts.remote) tasks.push_back(part.task);
  remote_.EndStep(step_id_, tasks);
  if (metadata != nullptr) {
    metadata->step_id = step_id_;
    if (options.trace) MergeStats(metadata);
  }
  if (closing_.IsCancelled() && absl::IsCancelled(status_)) {
    return ClosedError();
  }
  return status_;
}

void StepParts::StartRemote(size_t part, absl::Span<const Tensor* const> feeds,
                            const RunOptions& options) {
  const SessionPlan::RemotePart& remote = plan_.distribution()->remote[part];
  RemoteTasks::PartStep step;
  step.task = remote.task;
  step.handle = remote.handle;
  step.step_id = step_id_;
  for (int i : remote.feeds) step.feeds.push_back(*feeds[i]);
  step.num_fetches = remote.fetches.size();
  step.timeout_ms =
      options.timeout_ms != 0 ? options.timeout_ms : executor_.options().operation_timeout_ms;
  step.trace = options.trace;
  remote_.Run(std::move(step), &cancellation_, [this, part](RemoteTasks::PartResult result) {
    RemoteEnded(part, std::move(result));
  });
}

absl::Status StepParts::RunLocal(absl::Span<const Tensor* const> feeds, const RunOptions& options,
                                 Rendezvous* rendezvous, RunMetadata* metadata) {
  const SessionPlan::Distribution& parts = *plan_.distribution();
  std::vector<const Tensor*> fed;
  for (int i : parts.local_feeds) fed.push_back(feeds[i]);
  Tensors fetched(parts.local_fetches.size());
  RunOptions local = options;
  local.cancellation = &cancellation_;
  SLUICE_RETURN_IF_ERROR(
      executor_.Run(plan_, fed, fetched.data(), {step_id_, rendezvous}, local, metadata));
  for (size_t i = 0; i < fetched.size(); ++i) {
    fetches_[parts.local_fetches[i]] = std::move(fetched[i]);
  }
  return absl::OkStatus();
}

void StepParts::RemoteEnded(size_t part, RemoteTasks::PartResult result) {
  if (result.status.ok()) {
    const std::vector<int>& numbers = plan_.distribution()->remote[part].fetches;
    for (size_t i = 0; i < numbers.size(); ++i) fetches_[numbers[i]] = std::move(result.fetches[i]);
  } else {
    Fail(result.status);
  }
  std::lock_guard<std::mutex> lock(mutex_);
  if (!result.stats.dev_stats.empty()) stats_.push_back(std::move(result.stats));
  // Notified under the lock: once it is released, this object may be gone.
  if (--running_ > 0) return;
  ended_.notify_all();
  if (is_blocked_) executor_.options().scheduler->Ready(step_id_);
}

// What was cancelled because of another's error does not hide it.
void StepParts::Fail(const absl::Status& status) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (status_.ok() || (absl::IsCancelled(status_) && !absl::IsCancelled(status))) {
      status_ = status;
    }
  }
  cancellation_.StartCancel();
}

void StepParts::MergeStats(RunMetadata* metadata) {
  StepStats all;
  if (metadata->step_stats != nullptr) all = *metadata->step_stats;
  std::lock_guard<std::mutex> lock(mutex_);
  for (StepStats& stats : stats_) {
    for (DeviceStepStats& device : stats.dev_stats) all.dev_stats.push_back(std::move(device));
  }
  metadata->step_stats = std::make_shared<const StepStats>(std::move(all));
}

}  // namespace sluice
