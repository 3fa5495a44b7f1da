#include "training/session/monitored_session.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "graph/status.h"
#include "training/loop/log.h"
#include "training/loop/queue_runner.h"

namespace sluice {
namespace {

constexpr Clock::Duration kFirstPause = std::chrono::milliseconds(100);
constexpr Clock::Duration kLongestPause = std::chrono::seconds(30);

// Codes of errors which mean that a machine was lost, so that a new session may succeed.
constexpr absl::StatusCode kPreemptions[] = {absl::StatusCode::kAborted,
                                             absl::StatusCode::kUnavailable};

bool IsPreemption(const absl::Status& status) {
  return std::find(std::begin(kPreemptions), std::end(kPreemptions), status.code()) !=
         std::end(kPreemptions);
}

bool Feeds(const std::vector<Feed>& feeds, Output tensor) {
  return std::any_of(feeds.begin(), feeds.end(),
                     [&](const Feed& feed) { return feed.tensor == tensor; });
}

// Adds feeds. They must not be in `feeds` already.
absl::Status AddFeeds(const std::vector<Feed>& more, const char* clash, std::vector<Feed>& feeds) {
  for (const Feed& feed : more) {
    SLUICE_INVALID_IF(Feeds(feeds, feed.tensor), clash, " Conflict(s): [", feed.tensor.name(), "]");
  }
  feeds.insert(feeds.end(), more.begin(), more.end());
  return absl::OkStatus();
}

void MergeRunOptions(const RunOptions& more, RunOptions& options) {
  options.timeout_ms = std::max(options.timeout_ms, more.timeout_ms);
  options.trace = options.trace || more.trace;
  options.check_numerics = options.check_numerics || more.check_numerics;
  options.output_partition_graphs = options.output_partition_graphs || more.output_partition_graphs;
  if (options.cancellation == nullptr) options.cancellation = more.cancellation;
}

// Returns the index of a fetch in the list. Adds the fetch only if it is missing, because several
// hooks fetch the global step.
size_t PlaceOf(Output fetch, std::vector<Output>& fetches) {
  const auto it = std::find(fetches.begin(), fetches.end(), fetch);
  if (it != fetches.end()) return it - fetches.begin();
  fetches.push_back(fetch);
  return fetches.size() - 1;
}

// During its lifetime, cancels `to` when `from` is cancelled.
class CancelledWith {
 public:
  CancelledWith(CancellationManager* from, CancellationManager& to) : from_(from) {
    if (from_ == nullptr) return;
    token_ = from_->NewToken();
    if (!from_->Register(token_, [&to] { to.StartCancel(); })) to.StartCancel();
  }
  ~CancelledWith() {
    if (from_ != nullptr) from_->Deregister(token_);
  }
  CancelledWith(const CancelledWith&) = delete;
  CancelledWith& operator=(const CancelledWith&) = delete;

 private:
  CancellationManager* const from_;
  CancellationManager::Token token_ = 0;
};

}  // namespace

absl::Status HookedStep::RequestStop() {
  return absl::OutOfRangeError("step_fn has requested the iterations to stop.");
}

MonitoredSession::MonitoredSession(Graph& graph, std::shared_ptr<SessionCreator> creator,
                                   SessionRunHooks hooks, MonitoredSessionOptions options)
    : graph_(graph), creator_(std::move(creator)), hooks_(std::move(hooks)), options_(options) {
  if (!creator_) creator_ = std::make_shared<ChiefSessionCreator>();
  status_ = Begin();
}

MonitoredSession::~MonitoredSession() {
  if (!closed_) CloseSession().IgnoreError();
}

absl::Status MonitoredSession::Begin() {
  SLUICE_RETURN_IF_ERROR(graph_.status());
  for (const auto& hook : hooks_) SLUICE_RETURN_IF_ERROR(hook->Begin(graph_));
  if (options_.trains && creator_->is_chief()) SLUICE_RETURN_IF_ERROR(CheckQueueRunners(graph_));
  return CreateSession();
}

absl::Status MonitoredSession::CreateOnce() {
  SLUICE_ASSIGN_OR_RETURN(session_, creator_->CreateSession(graph_, &cancellation_));
  steps_ = std::make_unique<CancellationManager>(&cancellation_);
  // No error code counts as a clean stop, so every error of a thread is reported.
  coordinator_ = std::make_unique<Coordinator>(std::vector<absl::StatusCode>());
  if (options_.recover) {
    coordinator_->set_goes_on_after({std::begin(kPreemptions), std::end(kPreemptions)});
    // Queues stay open for the next session, so a step that waits in one can only be ended by a
    // cancellation.
    coordinator_->OnStop([coordinator = coordinator_.get(), steps = steps_.get()] {
      if (coordinator->GoesOn()) steps->StartCancel();
    });
  }
  SLUICE_RETURN_IF_ERROR(StartQueueRunners(*session_, *coordinator_));
  for (const auto& hook : hooks_) {
    SLUICE_RETURN_IF_ERROR(hook->AfterCreateSession(*session_, *coordinator_));
  }
  return absl::OkStatus();
}

absl::Status MonitoredSession::CreateSession() {
  const Clock::Duration start = options_.clock->Now();
  Clock::Duration pause(0);
  auto wake = std::make_shared<Wake>();
  const CancellationManager::Token token = cancellation_.NewToken();
  if (!cancellation_.Register(token, [wake] { wake->Set(); })) wake->Set();
  absl::Status status;
  while (true) {
    if (wake->is_set()) {
      status = absl::CancelledError("the session's loop was cancelled");
      break;
    }
    status = CreateOnce();
    if (status.ok()) break;
    if (coordinator_) coordinator_->RequestStop(status);
    CloseSession().IgnoreError();
    const bool late = options_.clock->Now() - start + pause > options_.max_recovery;
    if (!options_.recover || !IsPreemption(status) || late) break;
    LogInfo("A machine was lost while a session was being created; trying again in ", pause.count(),
            " s. Error: ", status.ToString());
    if (pause.count() > 0) options_.clock->Wait(wake, pause);
    pause = pause.count() == 0 ? kFirstPause : std::min(2 * pause, kLongestPause);
  }
  cancellation_.Deregister(token);
  return status;
}

absl::Status MonitoredSession::CloseSession() {
  absl::Status status;
  if (coordinator_) {
    coordinator_->RequestStop();
    status = coordinator_->Join({.grace = options_.stop_grace_period, .ignore_live_threads = true});
    // These threads still use the session. Close cancels their steps, which ends most of them. The
    // destructor of the coordinator joins the others.
    if (const auto alive = coordinator_->LiveThreads(); !alive.empty()) {
      std::string names;
      for (const std::string& name : alive) StrAppend(&names, " ", name);
      LogWarning("Coordinator stopped with threads still running:", names);
    }
  }
  if (session_) session_->Close().IgnoreError();
  coordinator_.reset();
  session_.reset();
  return status;
}

bool MonitoredSession::ShouldStop() {
  if (closed_ || stop_) return true;
  if (!status_.ok()) return failure_told_;
  if (!coordinator_->ShouldStop()) return false;
  // If a thread failed because a machine was lost, the loop goes on.
  if (!options_.recover || !IsPreemption(coordinator_->RequestedError())) return true;
  LogInfo("A machine was lost while the loop was between two steps. Error: ",
          coordinator_->RequestedError().ToString());
  CloseSession().IgnoreError();
  status_ = CreateSession();
  return false;
}

absl::Status MonitoredSession::MergeHooks(SessionRunContext& context, SessionRunArgs& merged,
                                          std::vector<std::vector<size_t>>& results_of_hooks) {
  std::vector<Feed> hook_feeds;
  for (const auto& hook : hooks_) {
    SLUICE_ASSIGN_OR_RETURN(const SessionRunArgs request, hook->BeforeRun(context));
    std::vector<size_t>& places = results_of_hooks.emplace_back();
    for (const Output& fetch : request.fetches) places.push_back(PlaceOf(fetch, merged.fetches));
    for (const Operation& target : request.targets) {
      if (std::find(merged.targets.begin(), merged.targets.end(), target) == merged.targets.end()) {
        merged.targets.push_back(target);
      }
    }
    SLUICE_RETURN_IF_ERROR(AddFeeds(request.feeds, "Same tensor is fed by two hooks.", hook_feeds));
    MergeRunOptions(request.options, merged.options);
  }
  return AddFeeds(hook_feeds, "Same tensor is fed by a SessionRunHook and user.", merged.feeds);
}

absl::StatusOr<Tensors> MonitoredSession::RunHooked(const SessionRunArgs& request,
                                                    RunMetadata* metadata) {
  if (stop_) {
    return absl::FailedPreconditionError("Run called even after should_stop requested.");
  }
  SessionRunContext context(request, *session_);
  SessionRunArgs merged = {
      .targets = request.targets, .feeds = request.feeds, .options = request.options};
  std::vector<size_t> places;
  for (const Output& fetch : request.fetches) places.push_back(PlaceOf(fetch, merged.fetches));
  std::vector<std::vector<size_t>> results_of_hooks;
  SLUICE_RETURN_IF_ERROR(MergeHooks(context, merged, results_of_hooks));

  RunMetadata own_metadata;
  if (metadata == nullptr) metadata = &own_metadata;
  CancellationManager step_cancellation(steps_.get());
  const CancelledWith callers(merged.options.cancellation, step_cancellation);
  merged.options.cancellation = &step_cancellation;
  SLUICE_ASSIGN_OR_RETURN(
      const Tensors out,
      session_->Run(merged.feeds, merged.fetches, merged.targets, merged.options, metadata));
  const auto pick = [&out](const std::vector<size_t>& from) {
    Tensors picked;
    for (const size_t place : from) picked.push_back(out[place]);
    return picked;
  };
  for (size_t i = 0; i < hooks_.size(); ++i) {
    const Tensors results = pick(results_of_hooks[i]);
    SLUICE_RETURN_IF_ERROR(hooks_[i]->AfterRun(context, {results, merged.options, *metadata}));
  }
  stop_ = stop_ || context.stop_requested();
  return pick(places);
}

// Updates the state of the loop after a step that ended with `status`.
absl::Status MonitoredSession::Ended(absl::Status status) {
  if (status.code() == absl::StatusCode::kOutOfRange) {
    stop_ = true;  // the end of the input
  } else if (!status.ok()) {
    if (status_.ok()) status_ = status;
    failure_told_ = true;
  }
  return status;
}

absl::Status MonitoredSession::RunRecoverably(const std::function<absl::Status()>& step) {
  if (closed_) return absl::FailedPreconditionError("Session is already closed.");
  if (!status_.ok()) {
    failure_told_ = true;
    return status_;
  }
  while (true) {
    absl::Status status = step();
    // If the step failed because of a thread's error, reports the thread's error.
    const absl::Status cause = coordinator_ ? coordinator_->RequestedError() : absl::OkStatus();
    if (!status.ok() && !cause.ok() && cause != status && !IsPreemption(status)) {
      status = AnnotateAfter(cause, StrCat("; then the step ended: ", status.message()));
    }
    if (!options_.recover || !IsPreemption(status)) return Ended(status);
    LogInfo("A machine was lost: the session is closed, and a new one is created. Error: ",
            status.ToString());
    if (coordinator_) coordinator_->RequestStop(status);  // so that the threads see the cause
    CloseSession().IgnoreError();
    if (absl::Status created = CreateSession(); !created.ok()) {
      // There is no session, so OUT_OF_RANGE is not the end of the input here.
      status_ = created;
      failure_told_ = true;
      return created;
    }
  }
}

absl::StatusOr<Tensors> MonitoredSession::Run(absl::Span<const Feed> feeds,
                                              absl::Span<const Output> fetches,
                                              absl::Span<const Operation> targets,
                                              const RunOptions& options, RunMetadata* metadata) {
  const SessionRunArgs request = {.fetches = {fetches.begin(), fetches.end()},
                                  .targets = {targets.begin(), targets.end()},
                                  .feeds = {feeds.begin(), feeds.end()},
                                  .options = options};
  Tensors results;
  SLUICE_RETURN_IF_ERROR(RunRecoverably([&]() -> absl::Status {
    SLUICE_ASSIGN_OR_RETURN(results, RunHooked(request, metadata));
    return absl::OkStatus();
  }));
  return results;
}

absl::Status MonitoredSession::Run(absl::Span<const Operation> targets) {
  const absl::Status status = Run({}, {}, targets).status();
  return status.code() == absl::StatusCode::kOutOfRange ? absl::OkStatus() : status;
}

absl::Status MonitoredSession::RunStep(
    const std::function<absl::Status(HookedStep& context)>& step) {
  const absl::Status status = RunRecoverably([&] {
    HookedStep context(
        *session_, [this](const SessionRunArgs& request) { return RunHooked(request, nullptr); });
    return step(context);
  });
  return status.code() == absl::StatusCode::kOutOfRange ? absl::OkStatus() : status;
}

absl::Status MonitoredSession::Close() {
  if (closed_) return absl::FailedPreconditionError("Session is already closed.");
  closed_ = true;
  failure_told_ = true;
  for (size_t i = 0; i < hooks_.size() && status_.ok(); ++i) {
    status_ = hooks_[i]->End(*session_);
  }
  const absl::Status closing = CloseSession();
  // If a machine is lost after the end of the loop, this does not matter.
  if (status_.ok() && !IsPreemption(closing)) {
    status_ = closing;
  } else if (!closing.ok()) {
    LogError("The session's threads ended with: ", closing.ToString());
  }
  return status_;
}

SingularMonitoredSession::SingularMonitoredSession(Graph& graph, SessionRunHooks hooks,
                                                   ChiefSessionCreatorOptions creator,
                                                   MonitoredSessionOptions options)
    : MonitoredSession(graph, std::make_shared<ChiefSessionCreator>(std::move(creator)),
                       std::move(hooks), [&options] {
                         options.recover = false;
                         return options;
                       }()) {}

}  // namespace sluice
