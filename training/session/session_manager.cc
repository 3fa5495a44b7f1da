#include "training/session/session_manager.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_join.h"
#include "executor/wait/cancellation.h"
#include "graph/mutex.h"
#include "graph/status.h"
#include "training/loop/log.h"

namespace sluice {
namespace {

// The first pause is short, because a chief that starts at the same time will soon be ready.
constexpr Clock::Duration kFirstPause = std::chrono::milliseconds(50);

// Notifies the threads of this process that wait for a model when another thread has initialized
// it. Thread safety: all methods may be called from any thread.
class Readiness {
 public:
  static Readiness& Global() {
    static auto* readiness = new Readiness;
    return *readiness;
  }
  // Registers `wake`. Announce sets it, until Leave is called.
  void Join(const std::shared_ptr<Wake>& wake) {
    ScopedLock lock(&mutex_);
    waiting_.insert(wake);
  }
  void Leave(const std::shared_ptr<Wake>& wake) {
    ScopedLock lock(&mutex_);
    waiting_.erase(wake);
  }
  void Announce() {
    ScopedLock lock(&mutex_);
    for (const std::shared_ptr<Wake>& wake : waiting_) wake->Set();
  }

 private:
  Mutex mutex_;
  std::set<std::shared_ptr<Wake>> waiting_ ABSL_GUARDED_BY(mutex_);
};

// A wait for the model or a checkpoint. It ends early if another thread of this process announces
// readiness, if its waker is called, or if the caller cancels.
class Waiter {
 public:
  Waiter(Clock& clock, std::optional<Clock::Duration> max_wait, CancellationManager* cancellation)
      : clock_(clock), cancellation_(cancellation), wake_(std::make_shared<Wake>()) {
    if (max_wait) deadline_ = clock_.Now() + *max_wait;
    Readiness::Global().Join(wake_);
    if (cancellation_ == nullptr) return;
    token_ = cancellation_->NewToken();
    if (!cancellation_->Register(token_, [wake = wake_] { wake->Set(); })) wake_->Set();
  }
  ~Waiter() {
    if (cancellation_ != nullptr) cancellation_->Deregister(token_);
    Readiness::Global().Leave(wake_);
  }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  // Must be called before the model is checked, so that later announcements are not missed.
  void BeginLook() { wake_->Reset(); }
  std::function<void()> waker() const {
    return [wake = wake_] { wake->Set(); };
  }
  bool cancelled() const { return cancellation_ != nullptr && cancellation_->IsCancelled(); }
  // Waits until the next check. Returns false if the deadline has passed.
  bool WaitForNextLook(Clock::Duration pace) {
    if (cancelled()) return true;
    if (deadline_) {
      const Clock::Duration left = *deadline_ - clock_.Now();
      if (left <= Clock::Duration(0)) return false;
      pace = std::min(pace, left);
    }
    clock_.Wait(wake_, pace);
    return true;
  }

 private:
  Clock& clock_;
  CancellationManager* const cancellation_;
  CancellationManager::Token token_ = 0;
  std::shared_ptr<Wake> wake_;
  std::optional<Clock::Duration> deadline_;
};

void Announce(const SessionTarget& target) {
  Readiness::Global().Announce();
  if (target.announce_ready) target.announce_ready();
}

const char* Given(bool given) { return given ? "given" : "None"; }
std::string NameOf(Operation op) { return op ? op.name() : "None"; }

}  // namespace

SessionManager::SessionManager(SessionManagerOptions options) : options_(std::move(options)) {}

absl::Status SessionManager::CheckOptions() const {
  SLUICE_INVALID_IF(options_.ready_for_local_init_op && !options_.local_init_op,
                    "If you pass a ready_for_local_init_op you must also pass a local_init_op , "
                    "ready_for_local_init_op [",
                    options_.ready_for_local_init_op.name(), "]");
  return absl::OkStatus();
}

absl::StatusOr<std::string> WhyNotReady(Session& session, Operation op, const char* what,
                                        CancellationManager* cancellation) {
  if (!op) return std::string();
  const RunOptions run_options = {.cancellation = cancellation};
  absl::StatusOr<Tensors> out = op.node->num_outputs() == 0
                                    ? session.Run({}, {}, {op}, run_options)
                                    : session.Run({}, {op.output(0)}, {}, run_options);
  if (!out.ok()) {
    if (out.status().code() != absl::StatusCode::kFailedPrecondition) return out.status();
    if (out.status().message().find("uninitialized") == absl::string_view::npos) {
      LogWarning(what, " : error [", out.status().message(), "]");
      return out.status();
    }
    return std::string(out.status().message());
  }
  if (out->empty() || (*out)[0].dtype() != DT_STRING || (*out)[0].num_elements() == 0) {
    return std::string();
  }
  return StrCat("Variables not initialized: ", absl::StrJoin((*out)[0].flat<std::string>(), ", "));
}

absl::StatusOr<std::string> SessionManager::TryLocalInit(Session& session,
                                                         CancellationManager* cancellation) const {
  if (!options_.local_init_op) return std::string();
  SLUICE_ASSIGN_OR_RETURN(const std::string why,
                          WhyNotReady(session, options_.ready_for_local_init_op,
                                      "Model not ready for local init", cancellation));
  if (!why.empty()) return why;
  LogInfo("Running local_init_op.");
  RunOptions run_options = options_.local_init_run_options;
  if (run_options.cancellation == nullptr) run_options.cancellation = cancellation;
  SLUICE_RETURN_IF_ERROR(
      session.Run(options_.local_init_feeds, {}, {options_.local_init_op}, run_options).status());
  LogInfo("Done running local_init_op.");
  return std::string();
}

absl::StatusOr<bool> SessionManager::Restore(Session& session, const RestoreFrom& from,
                                             CancellationManager* cancellation) const {
  SLUICE_INVALID_IF(!from.checkpoint_dir.empty() && !from.checkpoint_filename_with_path.empty(),
                    "Can not provide both checkpoint_dir and checkpoint_filename_with_path.");
  if (from.saver == nullptr) return false;
  if (!from.checkpoint_filename_with_path.empty()) {
    SLUICE_RETURN_IF_ERROR(from.saver->Restore(session, from.checkpoint_filename_with_path));
    return true;
  }
  if (from.checkpoint_dir.empty()) return false;
  Waiter waiter(*options_.clock, from.max_wait, cancellation);
  while (true) {
    waiter.BeginLook();
    if (waiter.cancelled()) return absl::CancelledError("the wait for a checkpoint was cancelled");
    SLUICE_ASSIGN_OR_RETURN(const LatestCheckpoints found,
                            from.saver->FindCheckpoints(from.checkpoint_dir));
    if (!found.latest.empty()) {
      SLUICE_RETURN_IF_ERROR(from.saver->Restore(session, found.latest));
      from.saver->RecoverLastCheckpoints(found.all);
      return true;
    }
    if (!from.wait_for_checkpoint) return false;
    LogInfo("Waiting for checkpoint to be available.");
    if (!waiter.WaitForNextLook(options_.recovery_wait)) return false;
  }
}

absl::StatusOr<std::unique_ptr<Session>> SessionManager::PrepareSession(
    Graph& graph, const SessionTarget& target, const PrepareSessionOptions& options) const {
  SLUICE_RETURN_IF_ERROR(CheckOptions());
  SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, target.MakeSession(graph));
  SLUICE_ASSIGN_OR_RETURN(const bool restored,
                          Restore(*session, options.restore, options.cancellation));
  if (!restored) {
    if (!options.init_op && !options.init_fn && !options_.local_init_op) {
      return absl::FailedPreconditionError(
          "Model is not initialized and no init_op or init_fn or local_init_op was given");
    }
    if (options.init_op) {
      SLUICE_RETURN_IF_ERROR(session
                                 ->Run(options.init_feeds, {}, {options.init_op},
                                       {.cancellation = options.cancellation})
                                 .status());
    }
    if (options.init_fn) SLUICE_RETURN_IF_ERROR(options.init_fn(*session));
  }
  const bool has_init_fn = static_cast<bool>(options.init_fn);
  SLUICE_ASSIGN_OR_RETURN(std::string why, TryLocalInit(*session, options.cancellation));
  if (!why.empty()) {
    return absl::FailedPreconditionError(
        StrCat("Init operations did not make model ready for local_init.  Init op: ",
               NameOf(options.init_op), ", init fn: ", Given(has_init_fn), ", error: ", why));
  }
  SLUICE_ASSIGN_OR_RETURN(
      why, WhyNotReady(*session, options_.ready_op, "Model not ready", options.cancellation));
  if (!why.empty()) {
    return absl::FailedPreconditionError(
        StrCat("Init operations did not make model ready.  Init op: ", NameOf(options.init_op),
               ", init fn: ", Given(has_init_fn),
               ", local_init_op: ", NameOf(options_.local_init_op), ", error: ", why));
  }
  Announce(target);
  return session;
}

absl::StatusOr<SessionManager::Recovered> SessionManager::RecoverSession(
    Graph& graph, const SessionTarget& target, const RestoreFrom& restore,
    CancellationManager* cancellation) const {
  SLUICE_RETURN_IF_ERROR(CheckOptions());
  Recovered recovered;
  SLUICE_ASSIGN_OR_RETURN(recovered.session, target.MakeSession(graph));
  SLUICE_ASSIGN_OR_RETURN(const bool restored, Restore(*recovered.session, restore, cancellation));
  SLUICE_ASSIGN_OR_RETURN(std::string why, TryLocalInit(*recovered.session, cancellation));
  if (!restored) return recovered;
  const std::string& file = restore.checkpoint_dir.empty() ? restore.checkpoint_filename_with_path
                                                           : restore.checkpoint_dir;
  if (!why.empty()) {
    LogInfo("Restoring model from ", file, " did not make model ready for local init: ", why);
    return recovered;
  }
  SLUICE_ASSIGN_OR_RETURN(
      why, WhyNotReady(*recovered.session, options_.ready_op, "Model not ready", cancellation));
  if (!why.empty()) {
    LogInfo("Restoring model from ", file, " did not make model ready: ", why);
    return recovered;
  }
  LogInfo("Restored model from ", file);
  recovered.initialized = true;
  Announce(target);
  return recovered;
}

absl::StatusOr<std::unique_ptr<Session>> SessionManager::WaitForSession(
    Graph& graph, const SessionTarget& target, std::optional<Clock::Duration> max_wait,
    CancellationManager* cancellation) const {
  SLUICE_RETURN_IF_ERROR(CheckOptions());
  Waiter waiter(*options_.clock, max_wait, cancellation);
  // A notified waiter need not poll. It still polls rarely, in case a notification was lost.
  const std::shared_ptr<void> watch =
      target.watch_ready ? target.watch_ready(waiter.waker()) : nullptr;
  Clock::Duration pause = watch != nullptr ? options_.recovery_wait : kFirstPause;
  while (true) {
    waiter.BeginLook();
    if (waiter.cancelled()) return absl::CancelledError("the wait for the session was cancelled");
    SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, target.MakeSession(graph));
    SLUICE_ASSIGN_OR_RETURN(const std::string not_local, TryLocalInit(*session, cancellation));
    std::string not_ready;
    if (not_local.empty()) {
      SLUICE_ASSIGN_OR_RETURN(
          not_ready, WhyNotReady(*session, options_.ready_op, "Model not ready", cancellation));
      if (not_ready.empty()) return session;
    }
    session->Close().IgnoreError();
    session.reset();
    LogInfo("Waiting for model to be ready.  Ready_for_local_init_op:  ",
            not_local.empty() ? "None" : not_local,
            ", ready: ", not_ready.empty() ? "None" : not_ready);
    const bool looks_again = waiter.WaitForNextLook(std::min(pause, options_.recovery_wait));
    pause *= 2;
    if (!looks_again) {
      return absl::DeadlineExceededError(StrCat("Session was not ready after waiting ",
                                                static_cast<int64_t>(max_wait->count()), " secs."));
    }
  }
}

}  // namespace sluice
