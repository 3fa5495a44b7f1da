#include "executor/session/cluster_step.h"

#include <utility>

#include "executor/partition/partition.h"
#include "executor/passes/prune.h"
#include "executor/step/continuations.h"
#include "executor/step/outbox.h"
#include "executor/trace/metrics.h"
#include "executor/wait/error_group.h"
#include "executor/wait/rendezvous.h"
#include "graph/mutex.h"
#include "graph/status.h"

namespace sluice {
namespace {

// The rendezvous of a partial run over several tasks. Feeds and fetches pass through the rendezvous
// `client`, tensors between tasks through `tasks`.
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

// If a part ends with CANCELLED or ABORTED after the step was cancelled, its error is a
// consequence: another part has failed before.
absl::Status AsPartOfStep(const absl::Status& status, const CancellationManager& cancellation) {
  const bool is_consequence =
      cancellation.IsCancelled() && (absl::IsCancelled(status) || absl::IsAborted(status));
  return is_consequence ? DerivedError(status) : status;
}

}  // namespace

// One call of ClusterStep::Run.
class ClusterStep::RunningParts {
 public:
  RunningParts(ClusterStep& step, const StepCall& call)
      : step_(step), call_(call), step_id_(step.tasks_.NewStepId()) {}

  absl::Status Run();

 private:
  void StartRemote(const RemotePart& part);
  void RemoteEnded(const RemotePart& part, RemoteTasks::PartResult result);
  absl::Status RunLocal(Rendezvous* rendezvous);
  // The error of the step: those of the remote parts and `local`, that of the local part.
  absl::Status Error(const absl::Status& local);
  void WaitForRemote();
  void Fail(const absl::Status& status);
  void MergeStats();

  ClusterStep& step_;
  const StepCall& call_;
  const int64_t step_id_;
  CancellationManager cancellation_;  // of all parts

  Mutex mutex_;
  CondVar ended_;
  size_t running_ ABSL_GUARDED_BY(mutex_) = 0;       // remote parts
  bool is_blocked_ ABSL_GUARDED_BY(mutex_) = false;  // the scheduler was notified
  ErrorGroup errors_ ABSL_GUARDED_BY(mutex_);        // of remote parts
  std::vector<StepStats> stats_ ABSL_GUARDED_BY(mutex_);
};

absl::Status ClusterStep::Run(const StepCall& call) {
  static MetricCounter steps("sluice_steps_total");
  steps.Add();
  if (call.metadata != nullptr && call.options.output_partition_graphs) {
    if (parts_.local != nullptr) call.metadata->partition_graphs = {parts_.local->plan()->graph};
    for (const RemotePart& part : parts_.remote) {
      call.metadata->partition_graphs.push_back(part.graph);
    }
  }
  return RunningParts(*this, call).Run();
}

absl::Status ClusterStep::RunningParts::Run() {
  const Parts& parts = step_.parts_;
  std::shared_ptr<Rendezvous> rendezvous = step_.tasks_.RendezvousOf(step_id_);
  if (rendezvous == nullptr) return absl::CancelledError("the server stops");
  absl::Status local;
  {
    const LinkedCancellation closing(&step_.closing_, cancellation_);
    const LinkedCancellation caller(call_.options.cancellation, cancellation_);
    Outbox outbox;
    {
      ScopedLock lock(&mutex_);
      running_ = parts.remote.size();
    }
    for (const RemotePart& part : parts.remote) StartRemote(part);
    if (parts.local != nullptr) {
      WithClient both(call_.client != nullptr ? *call_.client : *rendezvous, *rendezvous);
      local = AsPartOfStep(RunLocal(&both), cancellation_);
      if (!local.ok()) cancellation_.StartCancel();
    }
    Outbox::Flush();
    ContinuationScope::BeforeWork();
    WaitForRemote();
  }
  std::vector<std::string> tasks;
  for (const RemotePart& part : parts.remote) tasks.push_back(part.task);
  step_.tasks_.EndStep(step_id_, tasks);
  if (call_.metadata != nullptr) {
    call_.metadata->step_id = step_id_;
    if (call_.options.trace) MergeStats();
  }
  absl::Status error = Error(local);
  if (step_.closing_.IsCancelled() && absl::IsCancelled(error)) return ClosedError();
  return error;
}

absl::Status ClusterStep::RunningParts::Error(const absl::Status& local) {
  ScopedLock lock(&mutex_);
  if (errors_.num_roots() == 0 || IsDerived(local)) {
    errors_.Add(local);
  } else {  // the other errors name their tasks
    const std::string_view task = TaskOf(step_.executor_.devices().device(0).name);
    errors_.Add(Annotate(local, StrCat("From ", task, ":\n")));
  }
  return errors_.Concatenation();
}

void ClusterStep::RunningParts::StartRemote(const RemotePart& part) {
  RemoteTasks::PartStep step;
  step.task = part.task;
  step.handle = part.handle;
  step.step_id = step_id_;
  for (int i : part.feeds) step.feeds.push_back(*call_.feeds[i]);
  step.num_fetches = part.fetches.size();
  step.timeout_ms = step_.executor_.TimeoutMs(call_.options);
  step.trace = call_.options.trace;
  step.check_numerics = call_.options.check_numerics;
  step_.tasks_.Run(std::move(step), &cancellation_, [this, &part](RemoteTasks::PartResult result) {
    RemoteEnded(part, std::move(result));
  });
}

absl::Status ClusterStep::RunningParts::RunLocal(Rendezvous* rendezvous) {
  const Parts& parts = step_.parts_;
  std::vector<const Tensor*> fed;
  for (int i : parts.local_feeds) fed.push_back(call_.feeds[i]);
  Tensors fetched(parts.local_fetches.size());
  RunOptions options = call_.options;
  options.cancellation = &cancellation_;
  SLUICE_RETURN_IF_ERROR(
      parts.local->RunPart(step_id_, rendezvous, {fed, fetched.data(), options, call_.metadata}));
  for (size_t i = 0; i < fetched.size(); ++i) {
    call_.fetches[parts.local_fetches[i]] = std::move(fetched[i]);
  }
  return absl::OkStatus();
}

void ClusterStep::RunningParts::WaitForRemote() {
  StepScheduler* const scheduler = step_.executor_.options().scheduler;
  bool was_blocked;
  {
    ScopedLock lock(&mutex_);
    was_blocked = is_blocked_ = running_ > 0 && scheduler != nullptr;
    if (was_blocked) scheduler->Blocked(step_id_);
    while (running_ > 0) ended_.Wait(&mutex_);
  }
  if (was_blocked) scheduler->Resume(step_id_);
}

void ClusterStep::RunningParts::RemoteEnded(const RemotePart& part,
                                            RemoteTasks::PartResult result) {
  if (result.status.ok()) {
    for (size_t i = 0; i < part.fetches.size(); ++i) {
      call_.fetches[part.fetches[i]] = std::move(result.fetches[i]);
    }
  } else {
    Fail(result.status);
  }
  ScopedLock lock(&mutex_);
  if (!result.stats.dev_stats.empty()) stats_.push_back(std::move(result.stats));
  // Notified under the lock: after its release this object may be destroyed.
  if (--running_ > 0) return;
  ended_.NotifyAll();
  if (is_blocked_) step_.executor_.options().scheduler->Ready(step_id_);
}

void ClusterStep::RunningParts::Fail(const absl::Status& status) {
  {
    ScopedLock lock(&mutex_);
    errors_.Add(AsPartOfStep(status, cancellation_));
  }
  cancellation_.StartCancel();
}

void ClusterStep::RunningParts::MergeStats() {
  StepStats all;
  if (call_.metadata->step_stats != nullptr) all = *call_.metadata->step_stats;
  ScopedLock lock(&mutex_);
  for (StepStats& stats : stats_) {
    for (DeviceStepStats& device : stats.dev_stats) all.dev_stats.push_back(std::move(device));
  }
  call_.metadata->step_stats = std::make_shared<const StepStats>(std::move(all));
}

}  // namespace sluice
